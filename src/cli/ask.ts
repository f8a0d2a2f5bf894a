/** A question to whoever sits at the terminal. */
import { createInterface } from "node:readline/promises";
import type { Terminal } from "./terminal.ts";

/** Undefined: nobody sits there. Anything but yes is no. */
export async function askYesNo(terminal: Terminal, question: string): Promise<boolean | undefined> {
  const { input } = terminal;
  if (input?.isTTY !== true || !terminal.isTTY) return undefined;
  const lines = createInterface({ input, output: process.stderr });
  try {
    const ended = new Promise<string>((resolve) => lines.once("close", () => resolve("")));
    const answer = await Promise.race([lines.question(`${question} [y/N] `), ended]);
    return /^y(es)?$/i.test(answer.trim());
  } finally {
    lines.close();
  }
}
