import { describe, expect, test } from "vitest";
import type { Card } from "../../src/domain/channels/card.ts";
import { NAME_MS } from "../../src/channels/slack/slack-channel.ts";
import type { Incoming, Reaction } from "../../src/hub/channel-port.ts";
import { eventually } from "../support/eventually.ts";
import { channelContract } from "./channel.contract.ts";
import { BOT_USER } from "./slack-server.ts";
import { ANN, CHANNEL, openHastySlack, openSlack, PARENT, THREAD, type SlackStage } from "./slack-stage.ts";

channelContract(openSlack, openHastySlack);

const NOTICE: Card = { kind: "notice", text: "hello", buttons: [] };
const ASKING: Card = {
  ...NOTICE,
  kind: "prompt",
  buttons: [[{ label: "Yes", action: "1a.0" }]],
  link: { label: "Open", url: "http://127.0.0.1/x" },
};
const DIRECT = "D0ANN";

describe("showing", () => {
  test("[CHN-75, CHN-76] a card stands in its thread, and addresses in it are not looked up", async () => {
    const { channel, slack } = await live();
    await channel.send(THREAD, NOTICE);
    await channel.send(DIRECT, NOTICE);

    expect(slack.shown(CHANNEL).map((it) => it.threadTs)).toEqual([PARENT]);
    expect(slack.shown(DIRECT).map((it) => it.threadTs)).toEqual([undefined]);
    const posted = slack.calls.filter((it) => it.method === "chat.postMessage").map(({ form }) => form);
    for (const form of posted) expect(form).toMatchObject({ unfurl_links: "false", unfurl_media: "false" });
  });

  test("[CHN-77] a message of a person stays where it is: that is no failure, and answered", async () => {
    const { channel, slack, received } = await live();
    const { ts } = slack.says(ANN.id, DIRECT, "hunter2");
    await eventually(() => expect(received).toHaveLength(1));

    expect(await channel.remove(DIRECT, ts)).toBe(false);
    expect(slack.shown(DIRECT).map((it) => it.ts)).toEqual([ts]);
    slack.fails(["chat.delete"], { status: 503 });
    await expect(channel.remove(DIRECT, ts)).rejects.toMatchObject({ again: "later" });
  });
});

describe("hearing", () => {
  test("[CHN-79] a delivery is acknowledged at once while dealing with it takes forever", async () => {
    const { slack, received, channel } = await live(() => new Promise(() => undefined));
    const ts = await channel.send(DIRECT, ASKING);
    slack.says(ANN.id, DIRECT, "y");
    slack.presses(ANN.id, ts, "Yes");
    slack.tells({ type: "channel_rename" });

    await eventually(() => expect(slack.acks).toHaveLength(3));
    await eventually(() => expect(received).toHaveLength(2));
  });

  test("[CHN-74, CHN-78] opening a link is acknowledged and tells nothing", async () => {
    const { slack, received, channel } = await live();
    const ts = await channel.send(DIRECT, ASKING);
    slack.presses(ANN.id, ts, "Open");
    slack.presses(ANN.id, ts, "Yes");

    await eventually(() => expect(slack.acks).toHaveLength(2));
    await eventually(() => expect(received.map((it) => it.kind === "press" && it.action)).toEqual(["1a.0"]));
  });

  test("[CHN-80] in a channel who mentions us is heard, once; who doesn't is not", async () => {
    const { slack, received } = await live();
    slack.says(ANN.id, CHANNEL, "just talking");
    slack.says(ANN.id, CHANNEL, "@sidestick !status");
    slack.says(ANN.id, CHANNEL, "y", { under: PARENT });

    await eventually(() => expect(slack.acks).toHaveLength(4));
    await eventually(() => expect(received).toHaveLength(2));
    expect(received).toMatchObject([
      { threadId: CHANNEL, text: "!status" },
      { threadId: THREAD, text: "y" },
    ]);
  });

  test("[CHN-81] what is typed arrives as it was typed", async () => {
    const { slack, received } = await live();
    slack.says(ANN.id, DIRECT, "curl http://example.com/a && echo <done> > x");
    await eventually(() => expect(received).toMatchObject([{ text: "curl http://example.com/a && echo <done> > x" }]));
  });

  test("[CHN-82] told again on another connection, in another envelope, it has the same id", async () => {
    const { slack, received } = await live();
    const { eventId } = slack.says(ANN.id, DIRECT, "y");
    await eventually(() => expect(received).toHaveLength(1));
    slack.drops();
    await eventually(() => expect(slack.connected).toBe(2));
    slack.redelivers(eventId);

    await eventually(() => expect(received).toHaveLength(2));
    expect(received.map((it) => it.id)).toEqual([eventId, eventId]);
    await eventually(() => expect(new Set(slack.acks.map((it) => it.envelopeId)).size).toBe(2));
  });

  test("[CHN-82] what Slack tells in another order is told in that order", async () => {
    const { slack, received } = await live();
    const held = slack.holds();
    for (const text of ["one", "two", "three"]) slack.says(ANN.id, DIRECT, text);
    held.release([2, 0, 1]);
    await eventually(() =>
      expect(received.map((it) => it.kind === "text" && it.text)).toEqual(["three", "one", "two"]),
    );
  });

  test("[CHN-83] in a channel only the one who wrote sees the notice; in a direct message it is a message", async () => {
    const { slack } = await live(async () => ({ notice: "Sent: <y> + Enter" }));
    slack.says(ANN.id, CHANNEL, "y", { under: PARENT });
    slack.says(ANN.id, DIRECT, "y");

    const notice = { text: "Sent: <y> + Enter", buttons: [] };
    await eventually(() =>
      expect(ours(slack, CHANNEL)).toMatchObject([{ ...notice, onlyFor: ANN.id, threadTs: PARENT }]),
    );
    await eventually(() => expect(ours(slack, DIRECT)).toMatchObject([{ ...notice, onlyFor: undefined }]));
  });

  test("[CHN-84] a person's name is asked for once; where it may not be known the id stands for it", async () => {
    const { slack, received } = await live();
    for (const user of [ANN.id, ANN.id, "UBOB", "UBOB"]) slack.says(user, DIRECT, "y");

    await eventually(() => expect(received).toHaveLength(4));
    expect(received.map((it) => it.user).toSorted((a, b) => a.id.localeCompare(b.id))).toEqual([
      ANN,
      ANN,
      { id: "UBOB", name: "UBOB" },
      { id: "UBOB", name: "UBOB" },
    ]);
    expect(slack.calls.filter((it) => it.method === "users.info")).toHaveLength(2);
  });

  test("[CHN-84] a name that isn't told in time is no reason to wait", async () => {
    const { slack, received } = await live(undefined, () => openSlack({ nameMs: 50 }));
    slack.fails(["users.info"], { hangs: true });
    slack.says(ANN.id, DIRECT, "y");
    await eventually(() => expect(received).toMatchObject([{ user: { id: ANN.id, name: ANN.id } }]));
    expect(NAME_MS).toBe(2_000);
  });
});

describe("failures", () => {
  test.each([
    { what: "a limit", fault: { status: 429, retryAfter: 7 }, again: "later", retryAfterMs: 7_000 },
    { what: "a limit without a time", fault: { status: 429 }, again: "later" },
    { what: "a limit as a word", fault: { error: "ratelimited" }, again: "later" },
    { what: "trouble of Slack", fault: { status: 500 }, again: "later" },
    { what: "trouble as a word", fault: { error: "internal_error" }, again: "later" },
    { what: "silence", fault: { hangs: true }, again: "later" },
    { what: "somebody else's page", fault: { body: "<html>Sign in to the network</html>" }, again: "later" },
    { what: "no such method", fault: { status: 404 }, again: "never" },
    { what: "no such channel", fault: { error: "channel_not_found" }, again: "never" },
    { what: "not in the channel", fault: { error: "not_in_channel" }, again: "never" },
    { what: "too long", fault: { error: "msg_too_long" }, again: "never" },
    { what: "an unknown refusal", fault: { error: "something_new" }, again: "never" },
  ] as const)("[CHN-85, CHN-87] $what: $again, after one call", async ({ fault, again, ...more }) => {
    const { channel, slack } = await live(undefined, openHastySlack);
    slack.fails(["chat.postMessage"], fault);

    const retryAfterMs = "retryAfterMs" in more ? more.retryAfterMs : undefined;
    await expect(channel.send(DIRECT, NOTICE)).rejects.toMatchObject({ name: "ChannelFailed", again, retryAfterMs });
    expect(slack.calls.filter((it) => it.method === "chat.postMessage")).toHaveLength(1);
    expect(channel.health).toEqual({ state: "up" });
  });

  test.each(["invalid_auth", "account_inactive", "token_revoked"])(
    "[CHN-86] %s: never, and the channel has failed until it works again",
    async (error) => {
      const { channel, slack } = await live();
      slack.fails(["chat.update"], { error, times: 1 });
      const ts = await channel.send(DIRECT, NOTICE);

      await expect(channel.edit(DIRECT, ts, NOTICE)).rejects.toMatchObject({ again: "never" });
      expect(channel.health).toEqual({ state: "failed", detail: `Slack refused chat.update: ${error}` });
      await channel.edit(DIRECT, ts, NOTICE);
      expect(channel.health).toEqual({ state: "up" });
    },
  );

  test.each([
    { tokens: { botToken: "xoxb-wrong" }, detail: "Slack refused auth.test: invalid_auth" },
    { tokens: { appToken: "xapp-wrong" }, detail: "Slack refused apps.connections.open: invalid_auth" },
  ])("[CHN-86] a wrong token is refused at the start: $detail", async ({ tokens, detail }) => {
    const { channel } = await openSlack(tokens);
    await expect(channel.start(async () => ({}))).rejects.toMatchObject({ again: "never", message: detail });
    expect(channel.health).toEqual({ state: "failed", detail });
  });

  test("[CHN-87] a missing right is named", async () => {
    const { channel, slack } = await live();
    const body = JSON.stringify({ ok: false, error: "missing_scope", needed: "chat:write", provided: "" });
    slack.fails(["chat.postMessage"], { body });
    await expect(channel.send(DIRECT, NOTICE)).rejects.toThrow(
      "Slack refused chat.postMessage: missing_scope (chat:write)",
    );
  });
});

function ours(slack: SlackStage["slack"], conversation: string) {
  return slack.shown(conversation).filter((it) => it.by === BOT_USER);
}

async function live(react: (incoming: Incoming) => Promise<Reaction> = async () => ({}), open = openSlack) {
  const stage = await open();
  const received: Incoming[] = [];
  await stage.channel.start((incoming) => {
    received.push(incoming);
    return react(incoming);
  });
  return { ...stage, received };
}
