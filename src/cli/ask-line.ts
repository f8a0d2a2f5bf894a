/** A line of whoever sits at the terminal; a secret one is not shown and is in no history. */
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import type { Terminal } from "./terminal.ts";

/** Undefined: nobody sits there, or they left without an answer. */
export async function askLine(
  terminal: Terminal,
  question: string,
  { secret = false }: { readonly secret?: boolean } = {},
): Promise<string | undefined> {
  const { input } = terminal;
  if (input?.isTTY !== true || !terminal.isTTY) return undefined;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = secret ? nowhere : process.stderr;
  const lines = createInterface({ input, output, terminal: true, historySize: 0 });
  // Only now nothing is echoed any more: who types as soon as they are asked must not be seen.
  if (secret) process.stderr.write(question);
  try {
    const ended = new Promise<undefined>((resolve) => {
      lines.once("close", () => resolve(undefined));
      lines.once("SIGINT", () => resolve(undefined));
    });
    return await Promise.race([lines.question(secret ? "" : question), ended]);
  } finally {
    lines.close();
    if (secret) process.stderr.write("\n");
  }
}
