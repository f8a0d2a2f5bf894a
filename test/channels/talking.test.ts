/** What people write in chats, at a real hub with real terminals. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { type Asking, asking, fallsSilent, pendingIn, prints, started, waits } from "../prompts/asking-hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { ann, bob, bound, button, type ChatHub, chatHubOfFile, eve, startChatHub, startPairedHub } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

/** Reads lines and says which; quiet otherwise. */
const READER = 'while read -e x; do echo "GOT $x."; done';
/** Prints until `enough` is a file. */
const ticking = (enough: string) => `until [ -e ${enough} ]; do echo tick; sleep 0.2; done`;

const state = async (hub: ChatHub, thread_id: string) =>
  (await hub.person.conversation.resolve({ channel: "telegram", thread_id })).state;

const inputsOf = async (hub: ChatHub, sessionId: string) => {
  const inputs = await hub.person.event.list({ sessionId, types: ["input"], limit: 5000 });
  return inputs.map((it) => it.source.id);
};

async function reader(hub: ChatHub, threadId: string) {
  const it = await started(hub.agent, READER);
  await bound(hub, threadId, it.sessionId);
  await settled(hub, threadId, it);
  return it;
}

/** What waits has printed nothing for as long as that counts as having settled. */
async function settled(hub: ChatHub, threadId: string, it: Omit<Asking, "prompt">, match?: "PROMPT"): Promise<void> {
  await fallsSilent(hub, it, match);
  await eventually(async () => expect(await state(hub, threadId)).toBe("RUNNING"));
}

test("[CHN-100, CHN-101] No unauthorized injection: who isn't on the list gets nothing, learns nothing and does nothing", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, "read -p 'Go? [Y/n] ' x; echo GOT $x.");
  await bound(hub, "t", it.sessionId);
  const { prompt_id: promptId } = it.prompt;
  const yes = await button(hub, "t", "Yes");

  const reactions = [
    await hub.chat.says(eve, "t", "y"),
    await hub.chat.says(eve, "t", "/stop"),
    await hub.chat.says(eve, "t", "/help"),
    await hub.chat.says(eve, "t", "/start"),
    await hub.chat.says(eve, "t", "/start ABCD-EFGH"),
    await hub.chat.presses(eve, "t", yes),
  ];
  const [listed] = await hub.person.channel.list();

  expect(reactions).toEqual([{}, {}, {}, {}, {}, {}]);
  expect(await inputsOf(hub, it.sessionId)).toEqual([]);
  expect(await hub.person.prompt.get({ prompt_id: promptId })).toMatchObject({ status: "pending" });
  expect(listed).toMatchObject({ refused: 6, people: [{ id: "1", name: "Ann", role: "operator" }] });
  expect(hub.chat.shown.map(({ card }) => card.kind)).toEqual(["notice", "prompt", "prompt"]);
});

test("[CNV-25, CNV-7, CHN-108] State-driven routing: chat runs on, waits while it streams, answers what is asked, and goes nowhere when it is over", async () => {
  const hub = await paired(ann);
  const unbound = await hub.chat.says(ann, "t", "hello?");
  const enough = join(await temporaryDirectory(), "enough");
  const it = await started(
    hub.agent,
    `${ticking(enough)}; read -e x; echo GOT $x.; read -p 'Go? [y/N] ' y; echo ANSWER $y.`,
  );
  await bound(hub, "t", it.sessionId);
  await eventually(async () => expect(await state(hub, "t")).toBe("STREAMING"));

  const streaming = await hub.chat.says(ann, "t", "first");
  expect(await inputsOf(hub, it.sessionId)).toEqual([]);
  await writeFile(enough, "");
  await fallsSilent(hub, it);
  await prints(hub.person, it, "GOT first.");
  await pendingIn(hub.person, it.sessionId);
  const asked = await hub.chat.says(ann, "t", "yes");
  await prints(hub.person, it, "ANSWER y.");
  await settled(hub, "t", it, "PROMPT");
  const shell = await hub.chat.says(ann, "t", "echo RUN-BY-NOBODY");
  await hub.person.session.close({ sessionId: it.sessionId });
  await eventually(() => expect(state(hub, "t")).rejects.toMatchObject({ code: "not_found" }));
  const over = await hub.chat.says(ann, "t", "anybody?");

  expect(unbound.notice).toBe(
    "This thread is not bound to a session. Nothing was sent. Choose one: /sessions, then /use 1",
  );
  expect(streaming.notice).toBe("Queued for next turn.");
  expect(asked).toEqual({});
  expect(hub.chat.shown.filter(({ card }) => card.text === "Sent: y + Enter")).toMatchObject([{ threadId: "t" }]);
  expect(shell.notice).toBe("The shell is at its prompt: nothing runs that could read this. Nothing was sent.");
  expect(over.notice).toBe(
    "This thread is not bound to a session. Nothing was sent. Choose one: /sessions, then /use 1",
  );
});

test("[CNV-25] chat is the person's own input and takes control; an answer leaves it where it is", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, `read -p 'Go? [Y/n] ' x; echo GOT $x.; ${READER}`);
  await bound(hub, "t", it.sessionId);
  const before = await hub.person.control.get({ sessionId: it.sessionId });

  const answered = await hub.chat.says(ann, "t", "n");
  await prints(hub.agent, it, "GOT n.");
  await waits(hub.agent, it);
  const between = await hub.person.control.get({ sessionId: it.sessionId });
  await settled(hub, "t", it);
  const chatted = await hub.chat.says(ann, "t", "check the logs");
  await prints(hub.person, it, "GOT check the logs.");
  const after = await hub.person.control.get({ sessionId: it.sessionId });

  expect([answered.notice, chatted.notice]).toEqual([undefined, 'Sent: "check the logs"']);
  expect(before.holder).toMatchObject({ kind: "agent" });
  expect([between.holder, between.epoch]).toEqual([before.holder, before.epoch]);
  expect(after).toMatchObject({ control_mode: "USER", holder: { kind: "person", id: "telegram:1" } });
  expect(new Set(await inputsOf(hub, it.sessionId))).toEqual(new Set(["telegram:1"]));
});

test("[CNV-25, CTL-14] what is said to a shell at its prompt goes nowhere, and control stays where it is", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, "true");
  await bound(hub, "t", it.sessionId);
  await settled(hub, "t", it, "PROMPT");
  const before = await hub.person.control.get({ sessionId: it.sessionId });

  const { notice } = await hub.chat.says(ann, "t", "ls");

  expect(notice).toBe("The shell is at its prompt: nothing runs that could read this. Nothing was sent.");
  expect(before.holder).toMatchObject({ kind: "agent" });
  expect(await hub.person.control.get({ sessionId: it.sessionId })).toEqual(before);
});

test("[CHN-111, CNV-2] Thread isolation: a thread reaches its own session alone, by text, button and command", async () => {
  const hub = await paired(ann);
  const one = await reader(hub, "one");
  const two = await reader(hub, "two");
  const { requestId } = await hub.agent.approval.request({
    sessionId: two.sessionId,
    kind: "tool",
    payload: { command: "ls" },
  });
  const other = await button(hub, "two", "Approve");

  await hub.chat.says(ann, "one", "for one");
  const stray = await hub.chat.presses(ann, "one", other);
  await hub.chat.says(ann, "one", "/stop");
  await eventually(async () => {
    const { agent_status } = await hub.person.control.get({ sessionId: one.sessionId });
    expect(agent_status).toBe("STOPPED");
  });

  expect(stray.notice).toBe("No longer asked.");
  expect(await inputsOf(hub, two.sessionId)).toEqual([]);
  expect(await hub.person.control.get({ sessionId: two.sessionId })).toMatchObject({ control_mode: "AGENT" });
  expect(await hub.person.approval.get({ requestId })).toMatchObject({ status: "pending" });
  expect(hub.chat.shown.filter(({ threadId, card }) => threadId !== "two" && card.kind === "approval")).toEqual([]);
  expect(new Set(await inputsOf(hub, one.sessionId))).toEqual(new Set(["telegram:1"]));
});

test("[CHN-115, CHN-116] No cross-session injection, who answers first: a button works in its thread, once, and the others are told", async () => {
  const hub = await paired(ann, bob);
  const it = await asking(hub, "read -p 'Go? [Y/n] ' x; echo GOT $x.");
  const other = await asking(hub, "read -p 'Drop all? [y/N] ' x; echo OTHER $x.");
  await bound(hub, "t", it.sessionId);
  await bound(hub, "elsewhere", other.sessionId);
  const yes = await button(hub, "t", "Yes");
  const crossed = await button(hub, "elsewhere", "Yes");

  const elsewhere = await hub.chat.presses(ann, "another", yes);
  const stale = await hub.chat.presses(ann, "t", crossed);
  const both = await Promise.all([hub.chat.presses(ann, "t", yes), hub.chat.presses(bob, "t", yes)]);
  const later = await hub.chat.presses(bob, "t", yes);
  const invented = await hub.chat.presses(ann, "t", "zz.0");
  await prints(hub.agent, it, "GOT Y.");

  expect([elsewhere.notice, stale.notice, invented.notice]).toEqual(Array(3).fill("No longer asked."));
  const won = both.findIndex((reaction) => reaction.notice === "Sent: Y + Enter");
  expect(both.map((reaction) => reaction.notice)).toContain("Sent: Y + Enter");
  expect(both[1 - won]?.notice).toBe(`${won === 0 ? "Ann" : "Bob"} answered first.`);
  expect(later.notice).toMatch(/^(?:Ann|Bob) answered first\.$/);
  expect(await inputsOf(hub, it.sessionId)).toHaveLength(1);
  expect(await inputsOf(hub, other.sessionId)).toEqual([]);
});

test("[CHN-107] one delivery has one effect and one reaction: at the same time, again, and after a restart", async () => {
  const hub = await startPairedHub(ann);
  const it = await reader(hub, "t");

  const same = await Promise.all([hub.chat.says(ann, "t", "once", "d-1"), hub.chat.says(ann, "t", "once", "d-1")]);
  const again = await hub.chat.says(ann, "t", "once", "d-1");
  await hub.stop();
  const next = await startChatHub(hub, { pace: { settledMs: 100 } });
  const restarted = await next.chat.says(ann, "t", "once", "d-1");
  await next.kept.saw({ channel: "telegram", id: "d-2" }, { notice: "The hub was restarted in between." });
  const unknown = await next.chat.says(ann, "t", "never", "d-2");
  await next.chat.says(ann, "t", "last", "d-3");
  await prints(next.person, it, "GOT last.");

  expect(same.map((reaction) => reaction.notice)).toEqual(Array(2).fill('Sent: "once"'));
  expect([again, restarted].map((reaction) => reaction.notice)).toEqual(Array(2).fill("Sent."));
  expect(unknown.notice).toBe("The hub was restarted in between.");
  const { data } = await next.person.pty.read_output({
    conversation_id: it.conversation_id,
    from_cursor: 0,
    view: "text",
  });
  expect(data.match(/GOT \w+\./g)).toEqual(["GOT once.", "GOT last."]);
});

test("[CNV-26] what is typed as chat is stored nowhere: not with its delivery, not with its Idempotency-Key", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, 'while read -s -e x; do echo "GOT ${#x}."; done');
  await waits(hub.agent, it);
  await bound(hub, "t", it.sessionId);
  await hub.person.conversation.bind({ channel: "web", thread_id: "w", session_id: it.sessionId });
  await settled(hub, "t", it);
  const [chatted, said] = ["said in passing", "said on the page"];

  const reaction = await hub.chat.says(ann, "t", chatted);
  await prints(hub.person, it, `GOT ${chatted.length}.`);
  await settled(hub, "t", it);
  const words = { channel: "web", thread_id: "w", text: said } as const;
  const answer = await hub.person.conversation.say(words, { idempotencyKey: "once" });
  await prints(hub.person, it, `GOT ${said.length}.`);

  expect([reaction.notice, answer.notice]).toEqual([`Sent: "${chatted}"`, `Sent: "${said}"`]);
  const found = Object.entries(await storedFiles(hub.dataDir)).filter(([, text]) =>
    [chatted, said].some((it) => text.includes(it)),
  );
  expect(found.map(([path]) => path)).toEqual([]);
});

test("[CHN-112] stop acts at once, though the thread's messages wait, and ends what waited", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, ticking("/nonexistent/enough"));
  await bound(hub, "t", it.sessionId);
  await eventually(async () => expect(await state(hub, "t")).toBe("STREAMING"));
  await hub.chat.says(ann, "t", "later");

  const stopped = await hub.chat.says(ann, "t", "/stop@test_bot");

  expect(stopped.notice).toBe("The agent is stopped, with all that it started. What people started runs on.");
  await eventually(async () => {
    const told = await hub.person.event.list({ sessionId: it.sessionId, types: ["chat"] });
    expect(told.map(({ payload }) => payload)).toContainEqual({
      kind: "notice",
      text: "1 queued message was not sent: the agent was stopped.",
      channel: "telegram",
      threadId: "t",
    });
  });
  expect(await inputsOf(hub, it.sessionId)).toEqual([]);
});
