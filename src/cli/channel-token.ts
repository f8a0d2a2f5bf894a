/** A platform's token: from a file, the environment or the terminal, never from the command line, where others can read it. */
import { readFile } from "node:fs/promises";
import { askLine } from "./ask-line.ts";
import { UsageError } from "./exit.ts";
import type { Terminal } from "./terminal.ts";

export type TokenSource = {
  readonly file: string | undefined;
  readonly variable: string;
  readonly question: string;
  readonly option: string;
};

export async function channelToken({ file, variable, question, option }: TokenSource, terminal: Terminal) {
  const given = file === undefined ? process.env[variable] : await tokenIn(file);
  const token = (given ?? (await askLine(terminal, question, { secret: true })))?.trim();
  if (token !== undefined && token !== "") return token;
  throw new UsageError("A token is needed.", { remedy: `Give it in a file (${option} FILE) or in $${variable}.` });
}

async function tokenIn(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    throw new UsageError(`${file} can't be read (${(error as NodeJS.ErrnoException).code}).`, { cause: error });
  }
}
