/** Chat platforms of a hub: connected, listed, paired with, disconnected; their tokens are nowhere but where they have to be. */
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ChannelFailed } from "../../src/hub/channel-port.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { clientOf } from "../support/terminal-hub.ts";
import { BOT, TestChannel } from "../support/test-channel.ts";
import { started } from "../prompts/asking-hub.ts";
import { ann, bob, bound, chatHubOfFile, eve, startChatHub, startPairedHub, TOKEN } from "./chat-hub.ts";

const { connected, paired } = chatHubOfFile();

const by = { name: "telegram" };

test("[CHN-128, CHN-129] a channel is checked with its platform, listed, tested and forgotten; agents and viewers have no part in it", async () => {
  const hub = await connected();
  const added = await hub.person.channel.add({ kind: "telegram", token: TOKEN });
  const twice = await codeOf(hub.person.channel.add({ kind: "telegram", token: TOKEN }));
  const alone = await codeOf(hub.person.channel.test(by));
  await hub.chat.says(ann, "7", `pair ${added.pairing_code.toLowerCase()}`);
  const listed = await hub.person.channel.list();
  await hub.person.channel.test(by);
  const viewer = await clientOf(hub.url, hub.dataDir, "viewer");
  const refused = await Promise.all(
    [hub.agent, viewer].flatMap((it) => [
      codeOf(it.channel.add({ kind: "telegram", token: TOKEN })),
      codeOf(it.channel.list()),
      codeOf(it.channel.invite(by)),
      codeOf(it.channel.test(by)),
      codeOf(it.channel.remove(by)),
      codeOf(it.channel.remove_person({ ...by, person_id: "1" })),
      codeOf(it.conversation.say({ channel: "web", thread_id: "1", text: "hi" })),
      codeOf(it.conversation.press({ channel: "web", thread_id: "1", message_id: "1", action: "1.0" })),
    ]),
  );
  await hub.person.channel.remove(by);

  expect(added).toEqual({
    name: "telegram",
    bot: BOT,
    pairing_code: expect.stringMatching(/^[A-Z2-9]{4}-[A-Z2-9]{4}$/) as string,
    pairing_link: `https://t.me/test_bot?start=${added.pairing_code}`,
    expires_at: expect.any(String) as string,
  });
  expect(listed).toEqual([
    {
      name: "telegram",
      kind: "telegram",
      bot: BOT,
      health: { state: "up" },
      people: [{ id: "1", name: "Ann", role: "operator" }],
      home: "7",
      waiting: 0,
      refused: 0,
    },
  ]);
  expect([twice, alone]).toEqual(["invalid_transition", "invalid_transition"]);
  expect(hub.chat.shown).toMatchObject([{ threadId: "7", card: { kind: "notice", buttons: [] } }]);
  expect(new Set(refused)).toEqual(new Set(["forbidden"]));
  expect([await hub.person.channel.list(), hub.chat.health.state]).toEqual([[], "failed"]);
});

test("[CHN-130] a token is in the settings for the owner alone, and in no event, log, answer or database", async () => {
  const hub = await paired(ann);
  const told = JSON.stringify([
    await hub.person.channel.list(),
    await hub.person.hub.doctor(),
    await hub.person.event.list({ limit: 5000, types: ["channel", "conversation", "chat", "token"] }),
    await hub.person.channel.add({ kind: "telegram", token: TOKEN }).catch((error: unknown) => error),
  ]);
  const files = Object.entries(await storedFiles(hub.dataDir));
  const holding = files.filter(([, text]) => text.includes(TOKEN)).map(([path]) => path);

  expect(told).not.toContain(TOKEN);
  expect(holding).toEqual([join(hub.dataDir, "channels.json")]);
  expect(statSync(join(hub.dataDir, "channels.json")).mode & 0o777).toBe(0o600);
});

test("[CHN-130, CHN-131] what a platform says in refusing us is told without the token", async () => {
  const hub = await connected();
  hub.chat.fails = new ChannelFailed(`401 for bot${TOKEN}`, "never");
  const refusal: unknown = await hub.person.channel.add({ kind: "telegram", token: TOKEN }).catch((e: unknown) => e);

  expect(refusal).toMatchObject({ code: "channel_failed", message: "401 for bot[token]" });
  expect(await hub.person.channel.list()).toEqual([]);
});

test("[CHN-128, CHN-131] while a platform refuses us a test says so, and an invitation has no link that leads nowhere", async () => {
  const before = await startPairedHub(ann);
  await before.stop();
  const chat = new TestChannel();
  chat.fails = new ChannelFailed("401: take a new token", "never");
  const hub = await startChatHub(before, { chat });

  const tested: unknown = await hub.person.channel.test(by).catch((error: unknown) => error);
  const invited = await hub.person.channel.invite(by);

  expect(tested).toMatchObject({ code: "channel_failed", message: "401: take a new token" });
  expect(invited.pairing_link).toBeUndefined();
});

test("[CHN-104, CHN-105] a code is good once, for its channel; wrong ones get nothing and end those that are open", async () => {
  const { eventCursor: after } = await (await connected()).person.snapshot.get();
  const hub = await paired(ann);
  const { pairing_code } = await hub.person.channel.invite(by);

  const first = await hub.chat.says(bob, "b", `/start ${pairing_code}`);
  const second = await hub.chat.says(eve, "e", `/start ${pairing_code}`);
  const open = await hub.person.channel.invite(by);
  const guesses = await Promise.all(
    Array.from({ length: 9 }, (_, index) => hub.chat.says(eve, "e", `/start ABCD-EFG${index + 1}`)),
  );
  const right = await hub.chat.says(eve, "e", `/start ${open.pairing_code}`);
  const [listed] = await hub.person.channel.list();

  expect(first.notice).toContain("Welcome, Bob.");
  expect([second, ...guesses, right]).toEqual(Array.from({ length: 11 }, () => ({})));
  expect(listed).toMatchObject({ home: "home-1", people: [{ name: "Ann" }, { name: "Bob" }] });
  const events = await hub.person.event.list({ after, types: ["channel"] });
  expect(events.map(({ payload }) => payload["change"])).toEqual(["added", "paired", "paired"]);
});

test.each(["http://evil.example", "http://10.0.0.7:8081", "http://127.0.0.1.evil.example", "ftp://127.0.0.1"])(
  "[CHN-128] no token is sent in clear to %s",
  async (api_root) => {
    const hub = await connected();

    expect(await codeOf(hub.person.channel.add({ kind: "telegram", token: TOKEN, api_root }))).toBe("invalid_request");
  },
);

test("[CHN-103, CHN-132] who is taken off the list gets nothing from then on; a removed channel's threads are unbound", async () => {
  const hub = await paired(ann, bob);
  const it = await started(hub.agent, "cat");
  await bound(hub, "t", it.sessionId);
  await hub.person.channel.remove_person({ ...by, person_id: "2" });
  const [gone, stays] = [await hub.chat.says(bob, "t", "/status"), await hub.chat.says(ann, "t", "/status")];
  const unknown = await codeOf(hub.person.channel.remove_person({ ...by, person_id: "2" }));

  await hub.person.channel.remove(by);
  const thread = { channel: "telegram", thread_id: "t" };

  expect([gone, unknown]).toEqual([{}, "not_found"]);
  expect(stays.notice).toContain(it.sessionId.slice(0, 8));
  expect(await codeOf(hub.person.conversation.resolve(thread))).toBe("not_found");
  expect(await hub.chat.says(ann, "t", "/status")).toEqual({});
});

test("[CHN-133] channels and people are there again after a restart", async () => {
  const hub = await startPairedHub(ann);
  await hub.stop();

  const next = await startChatHub(hub);
  await eventually(async () => expect(await next.person.channel.list()).toMatchObject([{ health: { state: "up" } }]));

  expect((await next.chat.says(ann, "t", "/help")).notice).toContain("/sessions");
  expect(await next.chat.says(eve, "t", "/help")).toEqual({});
});

test("[CHN-134, CHN-135] with settings that can't be read the hub runs without channels, leaves them alone, and doctor says so", async () => {
  const hub = await startPairedHub(ann);
  await hub.stop();
  const file = join(hub.dataDir, "channels.json");
  const broken = `{"channels":[{"token":"${TOKEN}"`;
  writeFileSync(file, broken);

  const next = await startChatHub(hub);
  const refused = await next.person.channel.add({ kind: "telegram", token: TOKEN }).catch((error: unknown) => error);
  const { ok, checks } = await next.person.hub.doctor();

  expect([ok, await next.person.channel.list(), readFileSync(file, "utf8")]).toEqual([true, [], broken]);
  expect(refused).toMatchObject({ code: "invalid_transition" });
  expect(checks.find((it) => it.name === "channels")).toMatchObject({ state: "degraded" });
  expect(JSON.stringify([refused, checks])).not.toContain(TOKEN);
});

test("[CHN-135] doctor tells how each channel stands, and what to do", async () => {
  const hub = await connected();
  const check = async () => (await hub.person.hub.doctor()).checks.find((it) => it.name === "telegram channel");
  const { pairing_code } = await hub.person.channel.add({ kind: "telegram", token: TOKEN });
  const lonely = await check();
  await hub.chat.says(ann, "t", `/start ${pairing_code}`);
  const ready = await check();
  hub.chat.health = { state: "failed", detail: `no answer to bot${TOKEN}` };

  expect(lonely).toMatchObject({ state: "degraded", remedy: expect.stringContaining("invite telegram") as string });
  expect(ready).toEqual({
    name: "telegram channel",
    needed: false,
    state: "ready",
    detail: `${BOT}, 1 person, 0 waiting`,
  });
  expect(await check()).toMatchObject({
    state: "degraded",
    detail: `${BOT}, 1 person, 0 waiting: no answer to bot[token]`,
  });
});

test("[CHN-136] the web page and the command line are channels too: an operator says and presses there as in any chat", async () => {
  const hub = await connected();
  const it = await started(hub.agent, "read -e x; echo GOT $x.; sleep 600");
  const thread = { channel: "web", thread_id: "w1" } as const;
  await hub.person.conversation.bind({ ...thread, session_id: it.sessionId });

  const help = await hub.person.conversation.say({ ...thread, text: "/status" });
  const press = await hub.person.conversation.press({ ...thread, message_id: "1", action: "1.0" });
  const taken = await hub.person.conversation.say({ ...thread, text: "/take" });
  const elsewhere = await codeOf(
    hub.person.conversation.say({ channel: "telegram" as "web", thread_id: "w1", text: "hi" }),
  );

  expect(help.notice).toContain(it.sessionId.slice(0, 8));
  expect(press).toEqual({ notice: "No longer asked." });
  expect(taken.notice).toContain("You have control.");
  expect(await hub.person.control.get({ sessionId: it.sessionId })).toMatchObject({
    holder: { kind: "person", id: "operator" },
  });
  expect(elsewhere).toBe("invalid_request");
});
