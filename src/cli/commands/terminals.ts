/** Looking at a conversation's terminal, and ending what runs in it. */
import type { Output, SidestickClient } from "../../client/sidestick.ts";
import { ageOf } from "../age.ts";
import { defineCommand } from "../command.ts";
import { missingWords } from "../containment-words.ts";
import { EXIT } from "../exit.ts";
import { wholeNumber } from "../options.ts";
import { printable, printableText } from "../printable.ts";
import { conversationOf } from "../terminals.ts";
import type { Terminal } from "../terminal.ts";
import { AppError } from "../../protocol/errors.ts";

type Block = Output<"pty.blocks">["blocks"][number];

/** The most that one read answers. */
const PAGE_BYTES = 1024 * 1024;
const BLOCKS_MAX = 1000;

export const status = defineCommand({
  name: "status",
  summary: "Say what a terminal does: idle, running, or waiting for input",
  takes: ["<conversation>"],
  examples: ["sidestick status build"],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const { ok: _ok, ...found } = await client.pty.status({ conversation_id: await conversationOf(client, name) });
    const { waiting, containment_missing: missing } = found;
    const words = {
      ...(waiting && { waiting: Object.values(waiting).join(" ") }),
      ...(missing && { containment_missing: missingWords(missing) }),
    };
    if (values.json === true) terminal.printJson(found);
    else terminal.printFields({ ...found, ...words });
    return EXIT.ok;
  },
});

export const screen = defineCommand({
  name: "screen",
  summary: "Print the screen as a person sees it",
  takes: ["<conversation>"],
  examples: ["sidestick screen build", "sidestick screen build --json"],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const seen = await client.pty.read_screen({ conversation_id: await conversationOf(client, name) });
    if (values.json === true) terminal.printJson(seen);
    else for (const line of seen.lines) terminal.print(printable(line));
    return EXIT.ok;
  },
});

export const blocks = defineCommand({
  name: "blocks",
  summary: "List the commands that ran in a terminal, or search them",
  takes: ["<conversation>"],
  options: {
    query: { type: "string", value: "TEXT", help: "only those that hold this text" },
    limit: { type: "string", value: "N", help: "the newest so many (default: 100)" },
  },
  examples: ["sidestick blocks build", "sidestick blocks build --query make --json"],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const limit = values.limit === undefined ? undefined : wholeNumber(values.limit, "--limit");
    const conversation_id = await conversationOf(client, name);
    const { blocks: found } = await client.pty.blocks({ conversation_id, query: values.query, limit });
    if (values.json === true) terminal.printJson(found);
    else if (found.length === 0) terminal.note("No commands.");
    else terminal.printTable(COLUMNS, found);
    return EXIT.ok;
  },
});

const COLUMNS = [
  { title: "SEQ", value: (it: Block) => String(it.seq) },
  { title: "EXIT", value: exitOf },
  { title: "TOOK", value: (it: Block) => tookOf(it) },
  { title: "AGE", value: (it: Block) => ageOf(new Date(it.ts_begin).toISOString()) },
  { title: "CWD", value: (it: Block) => it.cwd ?? "", shrinks: true },
  { title: "COMMAND", value: (it: Block) => it.command, shrinks: true },
];

function exitOf({ signal, exit_code, end_cursor }: Block): string {
  if (end_cursor === undefined) return "runs";
  return signal ?? (exit_code === undefined ? "?" : String(exit_code));
}

function tookOf({ duration_ms }: Block): string {
  if (duration_ms === undefined) return "";
  return duration_ms < 10_000 ? `${(duration_ms / 1000).toFixed(1)}s` : `${Math.round(duration_ms / 1000)}s`;
}

export const output = defineCommand({
  name: "output",
  summary: "Print what the last command said, or any part of a terminal's output",
  takes: ["<conversation>"],
  options: {
    block: { type: "string", value: "SEQ", help: "the output of this command (see: sidestick blocks)" },
    from: { type: "string", value: "N", help: "from this byte, instead (default: the first)" },
    to: { type: "string", value: "N", help: "up to this byte, instead (default: the end)" },
    raw: { type: "boolean", help: "every byte as it is, escape sequences too" },
    "max-bytes": { type: "string", value: "N", help: "of long text the begin and the end (default: 32768)" },
  },
  examples: [
    "sidestick output build",
    "sidestick output build --block 3",
    "sidestick output build --from 0 --raw > all.log",
  ],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const number = (value: string | undefined, option: string): number | undefined =>
      value === undefined ? undefined : wholeNumber(value, option);
    const conversation_id = await conversationOf(client, name);
    const block = await blockWanted(client, conversation_id, number(values.block, "--block"));
    const [from, to] = [number(values.from, "--from"), number(values.to, "--to")];
    const isRange = from !== undefined || to !== undefined;
    const wanted: Wanted = isRange
      ? { conversation_id, from_cursor: from ?? 0, to_cursor: to }
      : { conversation_id, block_id: block?.block_id, from_cursor: block?.cursor, to_cursor: block?.end_cursor };
    if (values.raw === true && values.json !== true) return printRaw(client, wanted, terminal);
    const view = values.raw === true ? "raw" : "text";
    const max_bytes = number(values["max-bytes"], "--max-bytes");
    const read = await client.pty.read_output({ ...wanted, view, max_bytes });
    if (values.json === true) terminal.printJson(read);
    else await printText(read, terminal);
    return EXIT.ok;
  },
});

type Wanted = {
  readonly conversation_id: string;
  readonly block_id?: string | undefined;
  readonly from_cursor: number | undefined;
  readonly to_cursor: number | undefined;
};

async function printText({ data, omitted_bytes }: Output<"pty.read_output">, terminal: Terminal): Promise<void> {
  const isWhole = data === "" || data.endsWith("\n");
  await terminal.write(Buffer.from(printableText(data) + (isWhole ? "" : "\n")));
  if (omitted_bytes > 0) terminal.note(`${omitted_bytes} bytes were left out; --raw has all of them.`);
}

/** Page after page: there may be a gigabyte. */
async function printRaw(client: SidestickClient, wanted: Wanted, terminal: Terminal): Promise<number> {
  let from = wanted.from_cursor;
  for (;;) {
    const range = { ...wanted, from_cursor: from };
    const page = await client.pty.read_output({ ...range, view: "raw", max_bytes: PAGE_BYTES });
    await terminal.write(Buffer.from(page.data, "base64"));
    if (page.cursor >= (wanted.to_cursor ?? page.end_cursor) || page.cursor === from) return EXIT.ok;
    from = page.cursor;
  }
}

/** The last one, if none is named. */
async function blockWanted(
  client: SidestickClient,
  conversation_id: string,
  seq: number | undefined,
): Promise<Block | undefined> {
  const range = seq === undefined ? { limit: 1 } : { after_seq: Math.max(0, seq - 1), limit: BLOCKS_MAX };
  const { blocks: found } = await client.pty.blocks({ conversation_id, ...range });
  const block = seq === undefined ? found.at(-1) : found.findLast((it) => it.seq === seq);
  if (block !== undefined || seq === undefined) return block;
  throw new AppError("not_found", { detail: `There is no command ${seq} among those that are kept` });
}

export const end = defineCommand({
  name: "end",
  summary: "End what runs in a terminal, politely, then firmly; the terminal stays",
  takes: ["<conversation>"],
  options: { reset: { type: "boolean", help: "kill everything in it and start its shell anew" } },
  examples: ["sidestick end py", "sidestick end build --reset"],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const conversation_id = await conversationOf(client, name);
    const done = await (values.reset === true
      ? client.pty.reset({ conversation_id })
      : client.pty.end_session({ conversation_id }));
    if (values.json === true) terminal.printJson(done);
    else terminal.note(values.reset === true ? "The shell was started anew." : "It is over.");
    return EXIT.ok;
  },
});
