import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { Artefacts, type Exported } from "../artefacts.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { exportFile } from "../export-file.ts";
import { conversationOf } from "../terminals.ts";
import type { Terminal } from "../terminal.ts";

const TELL_EVERY_MS = 2000;
const MADE = ["events.jsonl", "blocks.jsonl", "blocks"];

export const exportCommand = defineCommand({
  name: "export",
  summary: "Write a conversation's events, commands and output into files; with --format, a session into one file",
  takes: ["<conversation>"],
  options: {
    to: { type: "string", value: "DIR", help: "where to (default: export/<conversation> in the data directory)" },
    format: { type: "string", value: "FORMAT", help: "one file: asciicast (v3, with markers) or jsonl (events)" },
    output: { type: "string", value: "FILE", help: "with --format: where to (default: stdout)" },
    force: { type: "boolean", help: "write over an export that is there" },
  },
  examples: [
    "sidestick export build",
    "sidestick export build --to ./build-log",
    "sidestick export build --format asciicast --output build.cast",
  ],
  run: async ({ client, streaming, dataDir, values, given: [name = ""], terminal }) => {
    const { format, output, force = false } = values;
    if (format === undefined && output !== undefined) throw new UsageError("--output goes with --format.");
    if (format !== undefined) {
      if (values.to !== undefined) throw new UsageError("With --format, say --output FILE instead of --to.");
      await exportFile(client, name, { format, output, force }, terminal);
      return EXIT.ok;
    }
    const conversation = await conversationOf(client, name);
    const directory = placeFor(conversation, values.to, dataDir);
    if (values.force !== true && MADE.some((it) => existsSync(join(directory, it)))) {
      throw new UsageError(`There is an export in ${directory}.`, {
        remedy: "Say --force to write over it, or --to DIR.",
      });
    }
    const found = await client.session.list({ conversationId: conversation, limit: 5000 });
    const ids = found.filter((it) => it.kind === "terminal").map((it) => it.sessionId);
    const artefacts = new Artefacts(await streaming(), directory, teller(terminal));
    const done = await artefacts.write(ids);
    if (values.json === true) terminal.printJson({ directory, ...done });
    else terminal.print(directory);
    return EXIT.ok;
  },
});

function placeFor(conversation: string, to: string | undefined, dataDir: string | undefined): string {
  if (to !== undefined) return resolve(to);
  if (dataDir === undefined) throw new UsageError("--to is needed: the hub's directory is elsewhere.");
  return join(dataDir, "export", safeName(conversation));
}

/** One folder's name, which differs where the conversations differ. */
export function safeName(conversation: string): string {
  if (/^\w[\w.-]{0,99}$/.test(conversation)) return conversation;
  const readable = conversation
    .replaceAll(/[^\w.-]+/g, "_")
    .replace(/^[^\w]+/, "")
    .slice(0, 60);
  return `${readable}-${createHash("sha256").update(conversation).digest("hex").slice(0, 12)}`;
}

/** Long ones say how far they are. */
function teller(terminal: Terminal): (sofar: Exported) => void {
  let toldAt = performance.now();
  return ({ events, blocks, bytes }) => {
    if (performance.now() - toldAt < TELL_EVERY_MS) return;
    toldAt = performance.now();
    terminal.note(`… ${events} events, ${blocks} commands, ${Math.round(bytes / 1024)} KB of output`);
  };
}
