/** Messages that wait for a program, over restarts and plans. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { SYSTEM } from "../../src/domain/actor.ts";
import { HUB_STREAM } from "../../src/domain/event.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { fallsSilent, prints, started, waits } from "../prompts/asking-hub.ts";
import { ann, bound, button, type ChatHub, chatHubOfFile, startChatHub, startPairedHub } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

const READER = 'while read -e x; do echo "GOT $x."; done';

/** What is kept of what was said to a session. */
const keptOf = async (hub: ChatHub, sessionId: string) => {
  const kept = await hub.person.event.list({ types: ["conversation"], limit: 5000 });
  return kept.map(({ payload }) => payload).filter((it) => it["sessionId"] === sessionId && "text" in it);
};

const streaming = (hub: ChatHub, thread_id: string) =>
  eventually(async () =>
    expect(await hub.person.conversation.resolve({ channel: "telegram", thread_id })).toMatchObject({
      state: "STREAMING",
    }),
  );

test("[CNV-22, CNV-26] what waits is delivered in order, one for each time the program settled, also by the next hub", async () => {
  const hub = await startPairedHub(ann);
  const enough = join(hub.dataDir, "enough");
  const it = await started(hub.agent, `until [ -e ${enough} ]; do echo tick; sleep 0.1; done; ${READER}`);
  await bound(hub, "t", it.sessionId);
  await streaming(hub, "t");
  await hub.chat.says(ann, "t", "one");
  await hub.chat.says(ann, "t", "two");
  const kept = await hub.person.event.list({ types: ["conversation"], limit: 5000 });
  const hidden = await hub.agent.event.list({ types: ["conversation"] }).catch((error: unknown) => error);
  await hub.stop();
  await writeFile(enough, "");

  const next = await startChatHub(hub);
  await fallsSilent(next, it);
  await prints(next.person, it, "GOT one.");
  const between = await next.person.pty.read_output({ conversation_id: it.conversation_id, from_cursor: 0 });
  await fallsSilent(next, it);
  await prints(next.person, it, "GOT two.");

  expect(between.data).not.toContain("GOT two.");
  expect(kept.filter(({ payload }) => payload["type"] === "conversation.queued")).toMatchObject([
    { payload: { text: "one", by: "telegram:1" } },
    { payload: { text: "two", by: "telegram:1" } },
  ]);
  expect(hidden).toMatchObject({ code: "forbidden" });
  const inputs = await next.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(new Set(inputs.map(({ source }) => source.id))).toEqual(new Set(["telegram:1"]));
});

test("[CNV-12] in a workspace that rejects while a program prints, what is said then is not queued", async () => {
  const hub = await paired(ann);
  await hub.person.workspace.put({ workspaceId: "default", settings: { while_streaming: "reject" } });
  const it = await started(hub.agent, "while sleep 0.1; do echo tick; done");
  await bound(hub, "t", it.sessionId);
  await streaming(hub, "t");

  const rejected = await hub.chat.says(ann, "t", "one");
  await hub.person.workspace.put({ workspaceId: "default", settings: { while_streaming: "queue" } });
  const queued = await hub.chat.says(ann, "t", "two");

  expect(rejected.notice).toBe("The program is still printing. Nothing was sent.");
  expect(queued.notice).toBe("Queued for next turn.");
  expect(await keptOf(hub, it.sessionId)).toMatchObject([{ type: "conversation.queued", text: "two" }]);
});

test("[CNV-22] a message that was being typed when the hub ended is not typed again, and that is told", async () => {
  const hub = await startPairedHub(ann);
  const it = await started(hub.agent, READER);
  await bound(hub, "t", it.sessionId);
  await hub.stop();
  const store = await openSqliteStore(hub.dataDir, { now: () => Date.now() });
  const message = { channel: "telegram", threadId: "t", sessionId: it.sessionId, by: "telegram:1" };
  const payloads = [
    { type: "conversation.queued", ...message, text: "cut off" },
    { type: "conversation.chatted", ...message, fromQueue: true },
  ];
  const events = payloads.map((payload) => ({ type: "conversation" as const, payload, source: SYSTEM }));
  await store.events.append(HUB_STREAM, "any", events, "process");
  await store.close();

  const next = await startChatHub(hub, { pace: { settledMs: 100 } });
  const told = await next.person.event.list({ sessionId: it.sessionId, types: ["chat"] });
  await next.chat.says(ann, "t", "and then");
  await prints(next.person, it, "GOT and then.");

  expect(told.map(({ payload }) => payload)).toEqual([
    {
      kind: "notice",
      text: "The hub was restarted while a queued message was being sent. Look whether it arrived: it is not sent again.",
      channel: "telegram",
      threadId: "t",
    },
  ]);
  const { data } = await next.person.pty.read_output({ conversation_id: it.conversation_id, from_cursor: 0 });
  expect(data).not.toContain("cut off");
});

test("[CNV-23] what can't be delivered any more is told to its thread", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, "while sleep 0.1; do echo tick; done");
  await bound(hub, "t", it.sessionId);
  await streaming(hub, "t");
  for (const text of ["one", "two"]) await hub.chat.says(ann, "t", text);
  const left = await hub.chat.says(ann, "t", "/leave");

  await eventually(async () => {
    const told = await hub.person.event.list({ sessionId: it.sessionId, types: ["chat"], limit: 5000 });
    expect(told.map(({ payload }) => payload)).toEqual([
      {
        kind: "notice",
        text: "2 queued messages were not sent: this thread left the session.",
        channel: "telegram",
        threadId: "t",
      },
    ]);
  });
  expect(left.notice).toBe("This thread talks to no session now.");
});

test("[CNV-23, CHN-110] a queued message that finds the shell at its prompt runs nothing, and that is told", async () => {
  const hub = await paired(ann);
  const enough = join(await temporaryDirectory(), "enough");
  const it = await started(hub.agent, `until [ -e ${enough} ]; do echo tick; sleep 0.1; done`);
  await bound(hub, "t", it.sessionId);
  await streaming(hub, "t");
  await hub.chat.says(ann, "t", "touch ran-by-nobody");
  await writeFile(enough, "");
  await fallsSilent(hub, it, "PROMPT");

  await eventually(async () => {
    const told = await hub.person.event.list({ sessionId: it.sessionId, types: ["chat"], limit: 5000 });
    expect(told.map(({ payload }) => payload["text"])).toEqual([
      "A queued message was not sent. The shell is at its prompt: nothing runs that could read this. Nothing was sent.",
    ]);
  });
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toEqual([]);
});

test("[CNV-24] after Modify the next message of that thread is typed as chat", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, "true");
  await bound(hub, "t", it.sessionId);
  await waits(hub.agent, it, "PROMPT");
  const plan = String.raw`printf 'Here is my plan:\n\n1. Add a test\n2. Fix the parser\n3. Run the tests\n'`;
  await hub.agent.pty.exec_interactive({ conversation_id: it.conversation_id, command: `${plan}; ${READER}` });
  const [modify, execute] = [await button(hub, "t", "Modify"), await button(hub, "t", "Execute")];

  const pressed = await hub.chat.presses(ann, "t", modify);
  const second = await hub.chat.presses(ann, "t", execute);
  await hub.chat.says(ann, "t", "without the test");
  await fallsSilent(hub, it);
  await prints(hub.person, it, "GOT without the test.");

  expect(pressed.notice).toBe("Send your modifications as a message.");
  expect(second.notice).toBe("No longer asked.");
  const kept = await hub.person.event.list({ types: ["conversation"], limit: 5000 });
  expect(kept.map(({ payload }) => payload["type"])).toContain("conversation.expecting");
});
