/** Passwords that people send as messages: typed once, out of the chat, and nowhere else. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { ChannelFailed } from "../../src/hub/channel-port.ts";
import { StorageFailed } from "../../src/hub/ports.ts";
import { PromptReplies } from "../../src/hub/prompt-replies.ts";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { asking, pendingIn, prints, started } from "../prompts/asking-hub.ts";
import { ann, bob, bound, type ChatHub, chatHubOfFile, startChatHub, startPairedHub } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

const canary = (): string => `canary-${randomBytes(9).toString("hex")}`;
const CUT_OFF = "The hub was restarted in between. Look whether this was done: it is not done again.";
const asks = (then: string) => `python3 -c "import getpass; print('LENGTH', len(getpass.getpass()))"; ${then}`;

/** Everything that the hub and its host have written, and all that an operator or the chat can read. */
async function sinks(hub: ChatHub): Promise<Record<string, string>> {
  const types = ["conversation", "channel", "chat", "input", "stdout", "prompt_request", "prompt_decision"] as const;
  return {
    ...(await storedFiles(hub.dataDir)),
    events: JSON.stringify(await hub.person.event.list({ limit: 5000, types: [...types] })),
    prompts: JSON.stringify(await hub.person.prompt.list()),
    chat: JSON.stringify([hub.chat.shown, [...hub.chat.messages]]),
  };
}

test("[CHN-113, CNV-28] Password safety: a password from a chat is typed once, its message removed, and it is in no sink", async () => {
  const hub = await paired(ann, bob);
  const [first, late, slashed] = [canary(), canary(), `/${canary()}`];
  const go = join(await temporaryDirectory(), "go");
  const next = `until [ -e ${go} ]; do sleep 0.05; done; read -s -p 'Token: ' x; echo LEN \${#x}; sleep 600`;
  const it = await asking(hub, asks(next));
  await bound(hub, "t", it.sessionId);

  const typed = await hub.chat.says(ann, "t", first, "d1");
  const again = await hub.chat.says(ann, "t", first, "d1");
  const tooLate = await hub.chat.says(bob, "t", late);
  await prints(hub.agent, it, `LENGTH ${first.length}`);
  await writeFile(go, "");
  await pendingIn(hub.person, it.sessionId, it.prompt);
  const second = await hub.chat.says(bob, "t", slashed);
  await prints(hub.agent, it, `LEN ${slashed.length}`);

  const found = Object.entries(await sinks(hub)).filter(([, text]) =>
    [first, late, slashed.slice(1)].some((secret) => text.includes(secret)),
  );
  expect(found.map(([name]) => name)).toEqual([]);
  expect([typed, again, second]).toEqual([{}, {}, {}]);
  expect(tooLate.notice).toContain("Ann answered first.");
  const inputs = await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(inputs.map((event) => event.source.id)).toEqual(["telegram:1", "telegram:2"]);
});

test("[CNV-28] a password that is sent before the program is seen to wait for it goes nowhere, and is typed when it is sent again", async () => {
  const hub = await paired(ann);
  const secret = canary();
  const go = join(await temporaryDirectory(), "go");
  const ask = `stty -echo; printf "Pass%s: " phrase; until [ -e ${go} ]; do sleep 0.05; done; read x`;
  const it = await started(hub.agent, `bash -c '${ask}; echo LEN \${#x}; stty echo; sleep 600'`);
  await bound(hub, "t", it.sessionId);
  await prints(hub.agent, it, "Passphrase: ");

  const early = await hub.chat.says(ann, "t", secret);
  const found = Object.entries(await sinks(hub)).filter(([, text]) => text.includes(secret));
  await writeFile(go, "");
  await pendingIn(hub.person, it.sessionId);
  const again = await hub.chat.says(ann, "t", secret);

  expect(early.notice).toBe(
    "A secret is being asked for. Your message was not sent: wait until the question is shown.",
  );
  expect(found.map(([name]) => name)).toEqual([]);
  expect(again).toEqual({});
  await prints(hub.agent, it, `LEN ${secret.length}`);
});

test("[CNV-28] a password that is sent where the question is shown but no session is bound goes nowhere, and not even the chat keeps it", async () => {
  const hub = await paired(ann);
  const secret = canary();
  const it = await asking(hub, asks("sleep 600"));

  const unbound = await hub.chat.says(ann, "home-1", secret);
  await hub.chat.says(ann, "home-1", `/use ${it.conversation_id}`);
  const typed = await hub.chat.says(ann, "home-1", secret);

  expect([unbound.notice, typed.notice]).toEqual([
    "This thread is not bound to a session. Nothing was sent. If it is the secret that is asked for: /use its session, then send it again.",
    undefined,
  ]);
  const found = Object.entries(await sinks(hub)).filter(([, text]) => text.includes(secret));
  expect(found.map(([name]) => name)).toEqual([]);
});

test("[CNV-28] where no card of the question stands, what people write is left alone while a secret is asked for", async () => {
  const hub = await paired(ann, bob);
  await asking(hub, asks("sleep 600"));

  const { notice } = await hub.chat.says(bob, "home-2", "good morning");

  expect(notice).toContain("This thread is not bound to a session. Nothing was sent. Choose one");
  expect([...hub.chat.messages.values()]).toContain("good morning");
});

test("[CHN-113] a message that can't be removed is told, and removed as soon as the platform lets us", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, asks("sleep 600"));
  await bound(hub, "t", it.sessionId);
  hub.chat.keeps = new ChannelFailed("busy", "later", 10);

  const typed = await hub.chat.says(ann, "t", "hunter2");

  expect(typed.notice).toBe("Please delete your message yourself: this chat doesn't let me.");
  await eventually(() => expect([...hub.chat.messages.values()]).not.toContain("hunter2"));
});

test("[CHN-113] a password that a fault of ours keeps from being typed doesn't stay in the chat", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, asks("sleep 600"));
  await bound(hub, "t", it.sessionId);
  const reply = vi.spyOn(PromptReplies.prototype, "reply").mockRejectedValueOnce(new TypeError("a bug"));
  onTestFinished(() => reply.mockRestore());

  const { notice } = await hub.chat.says(ann, "t", "hunter2");

  expect(notice).toBe("Something went wrong here. The hub's log says more.");
  expect([...hub.chat.messages.values()]).not.toContain("hunter2");
});

test("[CHN-113] a password whose delivery can't be remembered, or was cut off by the hub's end, doesn't stay in the chat", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, asks("sleep 600"));
  await bound(hub, "t", it.sessionId);
  const { saw } = hub.kept;
  hub.kept.saw = async () => Promise.reject(new StorageFailed("the disk is full"));
  const unstored = await hub.chat.says(ann, "t", "hunter2");
  await saw({ channel: "telegram", id: "d-1" }, { notice: CUT_OFF });
  await saw({ channel: "telegram", id: "d-2" }, { notice: CUT_OFF });

  const asked = await hub.chat.says(ann, "t", "hunter2", "d-1");
  hub.chat.writtenAt = Date.now();
  await hub.person.prompt.reply({ prompt_id: it.prompt.prompt_id, nonce: it.prompt.nonce, value: "hunter2" });
  const over = await hub.chat.says(ann, "t", "hunter2", "d-2");

  expect([unstored, asked, over].map((it) => it.notice)).toEqual([
    "It could not be stored, so it was not done.",
    CUT_OFF,
    CUT_OFF,
  ]);
  expect([...hub.chat.messages.values()]).not.toContain("hunter2");
});

test("[CHN-113] what isn't a secret stays in the chat, whatever becomes of its delivery", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, "read -p 'Go? [Y/n] ' x");
  await bound(hub, "t", it.sessionId);
  await hub.kept.saw({ channel: "telegram", id: "d-3" }, { notice: CUT_OFF });

  await hub.chat.says(ann, "t", "yes", "d-3");

  expect([...hub.chat.messages.values()]).toContain("yes");
});

test("[CHN-113] where the platform never removes people's messages, the author is told", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, asks("sleep 600"));
  await bound(hub, "t", it.sessionId);
  hub.chat.keeps = "stays";

  const typed = await hub.chat.says(ann, "t", "hunter2");

  expect(typed.notice).toBe("Please delete your message yourself: this chat doesn't let me.");
  expect([...hub.chat.messages.values()]).toContain("hunter2");
});

test("[CNV-30] a password that was written for a question before is not typed into the next one, unless it is sent again", async () => {
  const hub = await paired(ann, bob);
  const before = Date.now();
  const it = await asking(hub, asks("read -s -p 'Token: ' x; echo LEN ${#x}; sleep 600"));
  await bound(hub, "t", it.sessionId);
  await hub.chat.says(ann, "t", "hunter2");
  await pendingIn(hub.person, it.sessionId, it.prompt);
  hub.chat.writtenAt = before;

  const kept = [await hub.chat.says(bob, "t", "bobs one"), await hub.chat.says(bob, "t", "bobs other")];
  hub.chat.writtenAt = undefined;
  const again = await hub.chat.says(bob, "t", "bobs token");

  for (const { notice } of kept) expect(notice).toContain("written before this secret was asked for");
  expect(again.notice).toBeUndefined();
  await prints(hub.agent, it, "LEN 10");
  expect([...hub.chat.messages.values()].filter((text) => text.startsWith("bobs"))).toEqual([]);
});

test("[CNV-30] a password that the platform kept over a restart goes nowhere when its question was answered meanwhile", async () => {
  const hub = await startPairedHub(ann);
  const it = await asking(hub, asks("sleep 600"));
  await bound(hub, "t", it.sessionId);
  const writtenAt = Date.now();
  const { prompt_id, nonce } = it.prompt;
  await hub.person.prompt.reply({ prompt_id, nonce, value: "hunter2" });
  await hub.stop();
  const next = await startChatHub(hub);
  await eventually(async () => expect(await next.person.channel.list()).toMatchObject([{ health: { state: "up" } }]));
  const secret = canary();
  next.chat.writtenAt = writtenAt;

  const { notice } = await next.chat.says(ann, "t", secret);

  expect(notice).toContain("your message was not sent");
  expect(Object.entries(await sinks(next)).filter(([, text]) => text.includes(secret))).toEqual([]);
});

test("[CNV-29] who sends a second password right after the first is asked to wait: nothing is queued or typed", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, asks("for i in $(seq 500); do echo tick; sleep 0.1; done"));
  await bound(hub, "t", it.sessionId);
  const [wrong, right] = [canary(), canary()];

  await hub.chat.says(ann, "t", wrong);
  const soon = await hub.chat.says(ann, "t", right);

  expect(soon.notice).toContain("your message was not sent");
  expect([...hub.chat.messages.values()].filter((text) => text.includes("canary"))).toEqual([]);
  const found = Object.entries(await sinks(hub)).filter(([, text]) => text.includes(right));
  expect(found).toEqual([]);
});
