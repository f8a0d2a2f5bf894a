import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import type { SidestickClient } from "../src/client/sidestick.ts";
import { type EventType, retentionOf } from "../src/domain/event.ts";
import { makerOf } from "../test/channels/chat-hub.ts";
import { type AppError, ERRORS } from "../src/protocol/errors.ts";
import { operationNames } from "../src/protocol/operations.ts";
import { OUTCOME_WAIT_MAX_MS } from "../src/protocol/prompts.ts";
import { WAIT_BUDGET_MS } from "../src/protocol/pty-shapes.ts";
import { ClientFrame, ServerFrame } from "../src/protocol/stream.ts";
import { eventually } from "../test/support/eventually.ts";
import { temporaryDirectory } from "../test/support/temporary.ts";
import { enrolLight, LightHost } from "../test/support/light-host.ts";
import { openTerminalHub } from "../test/support/terminal-hub.ts";
import { TestChannel } from "../test/support/test-channel.ts";
import { fieldsOf } from "./json-schema-text.ts";
import { PAYLOADS } from "./reference-events.ts";
import { referenceFiles, referenceOffences } from "./reference.ts";
import { ROOT } from "./source-files.ts";
import { temporaryTree } from "./temporary-tree.ts";

const files = referenceFiles();
const inPlace = Object.fromEntries(Object.entries(files).map(([name, content]) => [`docs/reference/${name}`, content]));

test("[HSE-13] the reference on disk is what the code says", () => {
  expect(referenceOffences(ROOT)).toEqual([]);
});

test("[HSE-13] a file that differs or is missing is found", () => {
  const { "docs/reference/events.md": _missing, ...others } = inPlace;
  using tree = temporaryTree({ ...others, "docs/reference/errors.md": `${files["errors.md"]} ` });

  expect(referenceOffences(tree.root)).toEqual([
    "docs/reference/errors.md is not up to date: npm run reference",
    "docs/reference/events.md is not up to date: npm run reference",
  ]);
});

test("[HSE-13] every operation and every error has its place", () => {
  const headings = [...(files["operations.md"] ?? "").matchAll(/^## (.+)$/gm)].map((match) => match[1]);
  const codes = [...(files["errors.md"] ?? "").matchAll(/^\| `(\w+)` \|/gm)].map((match) => match[1]);

  expect(headings).toEqual([...operationNames]);
  expect(codes).toEqual(Object.keys(ERRORS));
});

test("[HSE-13] every frame of the WebSocket has its place, and how lists travel in a URL is told", () => {
  const headings = [...(files["stream.md"] ?? "").matchAll(/^### (.+)$/gm)].map((match) => match[1]);

  expect(headings).toEqual([...ClientFrame.options, ...ServerFrame.options].map((it) => it.shape.type.value));
  expect(files["operations.md"]).toContain("the values of a list are separated by commas");
});

/** Makes a hub record every type that it can. */
async function recordEverything(client: SidestickClient, agent: SidestickClient): Promise<void> {
  const { sessionId } = await client.session.create({ kind: "terminal", title: "build", conversationId: "c" });
  const attached = Promise.withResolvers<unknown>();
  const stream = client.stream();
  const size = { cols: 100, rows: 30 };
  stream.attach(sessionId, { from: 0, input: true, ...size, onOutput: () => undefined, onAttached: attached.resolve });
  await attached.promise;
  stream.close();
  const conversation_id = "c";
  const run = { conversation_id, wait_ms: WAIT_BUDGET_MS };
  await client.pty.exec_block({ ...run, command: "seq 1 300000; echo ghp_''0123456789abcdefghij0123456789abcdefgh" });
  await client.pty.exec_interactive({ ...run, command: "cat" });
  await client.pty.send({ conversation_id, data: "hello\r" });
  await client.pty.end_session({ conversation_id });
  await client.pty.exec_block({ ...run, command: "sleep 0.1" });
  await answerQuestion(client, conversation_id);
  await client.conversation.bind({ channel: "test", thread_id: "1", session_id: sessionId });
  await client.channel.add({ kind: "telegram", token: "1:not-a-token" });
  await client.pty.exec_block({ ...run, command: "printf 'Here is my plan:\\n1. Add a test\\n2. Fix the parser\\n'" });
  await eventually(async () => expect(await client.event.list({ types: ["plan"] })).not.toEqual([]));
  await eventually(async () => expect(await client.event.list({ types: ["keyframe"] })).not.toEqual([]));
  const { requestId } = await client.approval.request({ sessionId, kind: "tool", payload: { command: "ls" } });
  await client.approval.resolve({ requestId, status: "approved", reason: "go ahead" });
  await agent.control.safe_point({ sessionId, step: "click", sequence: 1 });
  await client.control.user_intent({ sessionId, intent: "STOP_NOW" });
  await eventually(async () => expect(await client.event.list({ types: ["receipt"] })).not.toEqual([]));
  await client.session.close({ sessionId });
  await client.workspace.put({ workspaceId: "w1" });
}

async function answerQuestion(client: SidestickClient, conversation_id: string): Promise<void> {
  await client.pty.exec_block({ conversation_id, command: "read -p 'Go on? [Y/n] ' x" });
  const [asked] = await eventually(async () => {
    const pending = await client.prompt.list({ status: "pending" });
    expect(pending).toHaveLength(1);
    return pending;
  });
  const { prompt_id = "", nonce = "" } = asked ?? {};
  await client.prompt.reply({ prompt_id, nonce, choice: "yes", wait_ms: OUTCOME_WAIT_MAX_MS });
}

async function recordHost(client: SidestickClient, url: string): Promise<void> {
  const host = new LightHost(await enrolLight(url, client, "elsewhere"));
  await host.connect();
  await eventually(async () => expect(await client.event.list({ types: ["host_link"] })).not.toEqual([]));
  await client.host.remove({ hostId: "elsewhere" });
}

const ASKING =
  "extends: none\ndefault: auto\nunclear: auto\nrules: [{id: scripts, decision: ask, reason: a script, command: sh}]\n";

/** A command that is approved as edited, and a script that changes itself while it runs. */
async function recordApprovals(client: SidestickClient, agent: SidestickClient): Promise<void> {
  const directory = await temporaryDirectory();
  const script = join(directory, "script.sh");
  await writeFile(script, "echo >> $0\n");
  const asked = agent.pty.exec_block({ conversation_id: "asked", command: "sh -c true" });
  const refusal = (await asked.catch((error: unknown) => error)) as AppError;
  const { requestId } = refusal.details as { readonly requestId: string };
  const edit = { command: `sh ${script}` };
  await client.approval.resolve({ requestId, status: "approved", edit });
  await eventually(async () => expect(await client.event.list({ types: ["approval_violated"] })).toHaveLength(1));
}

test("[HSE-13] payloads are what the reference says they are, and no other types are recorded (needs perl)", async () => {
  const maker = makerOf(() => new TestChannel());
  const { person: client, agent, url, stop } = await openTerminalHub({ maker }, { yaml: ASKING });
  onTestFinished(stop);
  const told = Object.keys(PAYLOADS) as EventType[];

  await recordApprovals(client, agent);
  await recordEverything(client, agent);
  await client.command.execute({ project_id: "default", command: "echo x >&2" });
  await recordHost(client, url);

  const limit = 5000;
  const events = await client.event.list({ types: told, limit });
  const last = events.at(-1)?.sequence ?? 0;
  // A terminal that lives on tells its silence.
  const plain = (await client.event.list({ limit })).filter(({ sequence }) => sequence <= last);
  const problems = events.flatMap(({ type, payload }) => PAYLOADS[type]?.strict().safeParse(payload).error ?? []);
  expect(problems).toEqual([]);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(told));
  expect(plain).toEqual(events.filter(({ type }) => retentionOf(type) !== "housekeeping"));
});

test("[HSE-13] a field is told with its type, its bounds and what it is for", () => {
  const fields = fieldsOf({
    required: ["a"],
    properties: {
      a: { type: "integer", minimum: 1, maximum: 9, description: "How many" },
      b: { type: "array", items: { type: "string", format: "uuid" }, default: [] },
      c: { type: "object", properties: { d: { anyOf: [{ const: "x" }, { type: "null" }] } } },
      e: { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    },
  });

  expect(fields).toEqual([
    { name: "a", type: "integer, 1 to 9", required: true, note: "How many." },
    { name: "b", type: "list of UUID", required: false, note: "Default: `[]`." },
    { name: "c", type: "object", required: false, note: "" },
    { name: "c.d", type: "`x` or null", required: false, note: "" },
    { name: "e", type: "integer", required: false, note: "" },
  ]);
});
