import { expect, test, vi } from "vitest";
import type { SidestickClient } from "../src/client/sidestick.ts";
import type { EventType } from "../src/domain/event.ts";
import { ERRORS } from "../src/protocol/errors.ts";
import { operationNames } from "../src/protocol/operations.ts";
import { ClientFrame, ServerFrame } from "../src/protocol/stream.ts";
import { startTerminalHub } from "../test/support/terminal-hub.ts";
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
  const run = { conversation_id, wait_ms: 20_000 };
  await client.pty.exec_block({ ...run, command: "seq 1 300000; echo ghp_''0123456789abcdefghij0123456789abcdefgh" });
  await client.pty.exec_interactive({ ...run, command: "cat" });
  await client.pty.send({ conversation_id, data: "hello\r" });
  await client.pty.end_session({ conversation_id });
  await client.pty.exec_block({ ...run, command: "sleep 0.1" });
  await vi.waitFor(async () => expect(await client.event.list({ types: ["keyframe"] })).not.toEqual([]), 15_000);
  const { requestId } = await client.approval.request({ sessionId, kind: "tool", payload: { command: "ls" } });
  await client.approval.resolve({ requestId, status: "approved", reason: "go ahead" });
  await agent.control.safe_point({ sessionId, step: "click", sequence: 1 });
  await client.control.user_intent({ sessionId, intent: "STOP_NOW" });
  await vi.waitFor(async () => expect(await client.event.list({ types: ["receipt"] })).not.toEqual([]), 15_000);
  await client.session.close({ sessionId });
  await client.workspace.put({ workspaceId: "w1" });
}

test("[HSE-13] payloads are what the reference says they are, and no other types are recorded", async () => {
  const { person: client, agent } = await startTerminalHub();
  const told = Object.keys(PAYLOADS) as EventType[];

  await recordEverything(client, agent);

  const limit = 5000;
  const plain = await client.event.list({ limit });
  const events = await client.event.list({ types: told, limit });
  const problems = events.flatMap(({ type, payload }) => PAYLOADS[type]?.strict().safeParse(payload).error ?? []);
  expect(problems).toEqual([]);
  expect(new Set(events.map(({ type }) => type))).toEqual(new Set(told));
  expect(plain).toEqual(events.filter(({ type }) => type !== "token" && type !== "workspace"));
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
