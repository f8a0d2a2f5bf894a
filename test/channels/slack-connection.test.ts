import { expect, onTestFinished, test } from "vitest";
import type { Card } from "../../src/domain/channels/card.ts";
import type { Incoming } from "../../src/hub/channel-port.ts";
import { eventually } from "../support/eventually.ts";
import { APP_TOKEN, BOT_TOKEN } from "./slack-server.ts";
import { ANN, openSlack, SOON_MS } from "./slack-stage.ts";

const NOTICE: Card = { kind: "notice", text: "hello", buttons: [] };
const DIRECT = "D0ANN";

test.each(["warning", "refresh_requested"] as const)(
  "[CHN-88] asked to connect anew (%s) it does, and what is said meanwhile comes",
  async (reason) => {
    const { slack, channel, received } = await live();
    slack.fails(["apps.connections.open"], { status: 503 });
    slack.disconnects(reason);
    await eventually(() => expect(channel.health.state).toBe("connecting"));
    slack.says(ANN.id, DIRECT, "meanwhile");
    slack.works();

    await eventually(() => expect(received).toMatchObject([{ text: "meanwhile" }]));
    expect(channel.health).toEqual({ state: "up" });
    expect(slack.connected).toBe(2);
  },
);

test("[CHN-88] a Slack that doesn't say goodbye holds up nothing", async () => {
  const { slack, channel } = await live();
  slack.disconnects("warning");
  slack.freezes();

  // The library alone would wait for half a minute.
  await eventually(() => expect(slack.connected).toBe(2));
  await eventually(() => expect(channel.health).toEqual({ state: "up" }));
});

test("[CHN-89] a connection that breaks is made anew, however often", async () => {
  const { slack, channel, received } = await live();
  for (const count of [2, 3, 4]) {
    slack.drops();
    await eventually(() => expect(slack.connected).toBe(count));
  }
  slack.says(ANN.id, DIRECT, "still there?");

  await eventually(() => expect(received).toHaveLength(1));
  expect(channel.health).toEqual({ state: "up" });
});

test.each([
  { what: "can't be reached", methods: ["apps.connections.open"], fault: { status: 502 } },
  { what: "doesn't answer", methods: ["apps.connections.open"], fault: { hangs: true } },
  { what: "takes no socket", methods: ["socket"], fault: {} },
  { what: "asks to wait", methods: ["apps.connections.open"], fault: { status: 429, retryAfter: 0 } },
])("[CHN-89] while Slack $what it is tried again and again, and nothing else breaks", async ({ methods, fault }) => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.on("unhandledRejection", note);
  onTestFinished(() => void process.off("unhandledRejection", note));
  const { slack, channel } = await live("hangs" in fault ? { callMs: SOON_MS } : {});
  slack.fails(methods, fault);
  const before = opened(slack.calls);
  slack.drops();

  await eventually(() => expect(opened(slack.calls)).toBeGreaterThanOrEqual(before + 3));
  expect(channel.health.state).toBe("connecting");
  expect(await channel.send(DIRECT, NOTICE)).toEqual(expect.any(String));
  slack.works();
  await eventually(() => expect(channel.health).toEqual({ state: "up" }));
  expect(unhandled).toEqual([]);
});

test("[CHN-86, CHN-89] an app token that is taken away fails the channel; given back, it is up again", async () => {
  const { slack, channel } = await live();
  slack.fails(["apps.connections.open"], { error: "account_inactive" });
  slack.drops();

  const detail = "Slack refused apps.connections.open: account_inactive";
  await eventually(() => expect(channel.health).toEqual({ state: "failed", detail }));
  slack.works();
  await eventually(() => expect(channel.health).toEqual({ state: "up" }));
});

test.each(["auth.test", "apps.connections.open", "socket"])(
  "[CHN-89] a start that fails at %s fails with `later` and may be tried again",
  async (method) => {
    const { slack, channel, botName } = await openSlack();
    slack.fails([method], { status: 503, times: 1 });
    await expect(channel.start(async () => ({}))).rejects.toMatchObject({ name: "ChannelFailed", again: "later" });

    expect(await channel.start(async () => ({}))).toBe(botName);
    expect(channel.health).toEqual({ state: "up" });
    expect(slack.connections).toBe(1);
  },
);

test("[CHN-89] tries come later and later", async () => {
  const { slack } = await live({ retryMs: 50 });
  slack.fails(["apps.connections.open"], { status: 502 });
  const before = opened(slack.calls);
  slack.drops();
  await eventually(() => expect(opened(slack.calls)).toBeGreaterThanOrEqual(before + 4));

  const tries = slack.calls.filter((it) => it.method === "apps.connections.open").slice(before);
  const [first = 0, , , fourth = 0] = tries.map(({ at }) => at);
  expect(fourth - first).toBeGreaterThanOrEqual(50 * (0.5 + 1 + 2) - 25);
});

test("[CHN-90] closing ends what is under way: a call, a try to connect, a Slack that is silent", async () => {
  const { slack, channel } = await live();
  slack.fails(["chat.postMessage", "apps.connections.open"], { hangs: true });
  const sending = expect(channel.send(DIRECT, NOTICE)).rejects.toMatchObject({ again: "later" });
  await eventually(() => expect(slack.calls.at(-1)?.method).toBe("chat.postMessage"));
  slack.drops();
  await eventually(() => expect(channel.health.state).toBe("connecting"));

  await channel.close();
  await sending;
  expect(slack.connections).toBe(0);
  expect(channel.health.state).toBe("connecting");
});

test("[CHN-90] closing while Slack takes no bytes doesn't wait for it, as the library alone would for half a minute", async () => {
  const { slack, channel } = await live();
  slack.freezes();
  const from = performance.now();
  await channel.close();
  expect(performance.now() - from).toBeLessThan(15_000);
});

test("[CHN-90] closed while it starts, it doesn't start", async () => {
  const { slack, channel } = await openSlack();
  slack.fails(["apps.connections.open"], { hangs: true });
  const starting = expect(channel.start(async () => ({}))).rejects.toMatchObject({
    name: "ChannelFailed",
    again: "later",
  });
  await eventually(() => expect(opened(slack.calls)).toBe(1));

  await channel.close();
  await starting;
  expect(slack.connections).toBe(0);
});

test("[CHN-92] no line of the log holds a token, the socket's ticket or words of people", async () => {
  const { slack, channel, logged } = await live();
  slack.says(ANN.id, DIRECT, "hunter2");
  slack.fails(["chat.postMessage"], {
    body: `echo ${BOT_TOKEN} ${APP_TOKEN} wss://wss-primary.slack.com/link/?ticket=secret-ticket-0`,
  });
  const sent: unknown = await channel.send(DIRECT, { ...NOTICE, text: "swordfish" }).catch((error: unknown) => error);
  slack.fails(["apps.connections.open"], {
    status: 502,
    times: 2,
    body: `${APP_TOKEN} wss://a/?ticket=secret-ticket-0`,
  });
  slack.drops();
  await eventually(() => expect(slack.connected).toBe(2));

  const all = logged() + String(sent) + JSON.stringify([sent, channel.health]);
  expect(all).toContain("slack library");
  for (const word of [BOT_TOKEN, APP_TOKEN, "ticket", "hunter2", "swordfish"]) expect(all).not.toContain(word);
});

function opened(calls: readonly { readonly method: string }[]): number {
  return calls.filter((it) => it.method === "apps.connections.open").length;
}

async function live(timing: { readonly retryMs?: number; readonly callMs?: number } = {}) {
  const stage = await openSlack(timing);
  const received: Incoming[] = [];
  await stage.channel.start(async (incoming) => {
    received.push(incoming);
    return {};
  });
  return { ...stage, received };
}
