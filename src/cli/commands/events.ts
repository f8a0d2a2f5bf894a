import type { Input, SidestickClient, WorkspaceEvent } from "../../client/sidestick.ts";
import { EVENT_TYPES, HUB_STREAM, WORKSPACE_STREAM } from "../../domain/event.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import { oneOf, wholeNumber } from "../options.ts";
import { outageTeller } from "../outage.ts";
import { printable, printableJson } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { fit } from "../width.ts";
import { sessionOf } from "../terminals.ts";

/** The most that one read of the log answers. */
const PAGE = 5000;
/** Shown where no number is asked for. */
const FIRST = 500;

export const events = defineCommand({
  name: "events",
  summary: "Read the log; with --follow, go on as it grows",
  options: {
    follow: { type: "boolean", help: "go on from the present end, or from --after, until Ctrl+C" },
    after: { type: "string", value: "N", help: "only events with a greater sequence (default: the oldest kept)" },
    session: { type: "string", value: "ID", help: "only events of this session, or conversation" },
    types: { type: "string", value: "A,B", help: "only events of these types" },
    limit: { type: "string", value: "N", help: `end after so many (default: ${FIRST}, with --follow none)` },
  },
  examples: ["sidestick events --limit 20", "sidestick events --follow --types approval_request --json"],
  run: async ({ client, values, terminal }) => {
    const types = values.types?.split(",").map((type) => oneOf(type, EVENT_TYPES, "--types"));
    const after = values.after === undefined ? undefined : wholeNumber(values.after, "--after");
    const limit = values.limit === undefined ? undefined : wholeNumber(values.limit, "--limit");
    const sessionId = values.session === undefined ? undefined : await sessionOf(client, values.session);
    const reader = { client, terminal, isJson: values.json === true, wanted: { after, sessionId, types } };
    return values.follow === true ? follow(reader, limit ?? Infinity) : list(reader, limit);
  },
});

type Reader = {
  readonly client: SidestickClient;
  readonly terminal: Terminal;
  readonly isJson: boolean;
  readonly wanted: Input<"event.stream">;
};

/** `limit`: as it was asked for. */
async function list(reader: Reader, limit: number | undefined): Promise<number> {
  let { after } = reader.wanted;
  let left = limit ?? FIRST;
  while (left > 0) {
    const asked = Math.min(left, PAGE);
    const page = await reader.client.event.list({ ...reader.wanted, after, limit: asked });
    for (const event of page) await show(reader, event);
    if (page.length < asked) return EXIT.ok;
    left -= page.length;
    after = page.at(-1)?.sequence;
  }
  if (limit === undefined) await tellMore(reader, after);
  return EXIT.ok;
}

/** Whoever asked for no number should know that these are not all. */
async function tellMore({ client, terminal, isJson, wanted }: Reader, after: number | undefined): Promise<void> {
  const more = await client.event.list({ ...wanted, after, limit: 1 });
  if (more.length === 0) return;
  const only = wanted.types === undefined ? "" : ` --types ${wanted.types.join(",")}`;
  const session = wanted.sessionId === undefined ? "" : ` --session ${wanted.sessionId}`;
  terminal.note(
    isJson
      ? printableJson({ type: "more", after })
      : `There are more. Go on: sidestick events --after ${after}${session}${only}; or as many as you like: --limit N`,
  );
}

async function follow(reader: Reader, limit: number): Promise<number> {
  const { client, terminal, wanted } = reader;
  // Asked even with --after: a hub that isn't there now is an error, one that goes away later is waited for.
  const { eventCursor } = await client.snapshot.get();
  const { signal, code } = untilInterrupted();
  let left = limit;
  if (left === 0) return EXIT.ok;
  const after = wanted.after ?? eventCursor;
  for await (const item of client.events({ ...wanted, after, signal, ...outageTeller(terminal) })) {
    if (item.type === "resync") {
      const told = reader.isJson
        ? printableJson(item)
        : `Events up to ${item.after} are no longer kept; going on from there.`;
      terminal.note(told);
      continue;
    }
    await show(reader, item.event);
    left -= 1;
    if (left === 0) return EXIT.ok;
  }
  return code();
}

async function show({ terminal, isJson }: Reader, event: WorkspaceEvent): Promise<void> {
  terminal.print(isJson ? printableJson(event) : fit(lineOf(event), terminal.width ?? Infinity));
  await terminal.drained();
}

function lineOf({ sequence, timestamp, sessionId, type, payload, source }: WorkspaceEvent): string {
  const session = [HUB_STREAM, WORKSPACE_STREAM].includes(sessionId) ? "hub" : sessionId.slice(0, 8);
  const by = `${source.kind}:${source.id}`;
  return printable(`${sequence}  ${timestamp}  ${session.padEnd(8)}  ${type}  ${by}  ${JSON.stringify(payload)}`);
}

function untilInterrupted(): { signal: AbortSignal; code: () => number } {
  const abort = new AbortController();
  let code: number = EXIT.interrupted;
  const end = (exitCode: number): void => {
    code = exitCode;
    abort.abort();
  };
  process.once("SIGINT", () => end(EXIT.interrupted));
  process.once("SIGTERM", () => end(143));
  return { signal: abort.signal, code: () => code };
}
