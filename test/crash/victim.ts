/** Runs a program of this folder until it is killed, and collects the lines that it printed before. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

export type Program = "event-writer.ts" | "byte-writer.ts" | "audit-victim.ts";

export function start(program: Program, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, program), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** Kills with SIGKILL `delayMs` after the start, or after it has printed what is waited for. */
export async function killAfter(
  child: ChildProcess,
  { delayMs, printed }: { delayMs: number; printed: RegExp | undefined },
): Promise<string[]> {
  const collected = collect(child);
  if (printed !== undefined) await Promise.race([prints(child, printed), once(child, "exit")]);
  const timer = setTimeout(() => child.kill("SIGKILL"), delayMs);
  const { lines, ending } = await collected;
  clearTimeout(timer);
  if (ending !== "SIGKILL") throw new Error(`ended by itself (${ending}): ${lines.at(-1)}`);
  return lines;
}

function prints(child: ChildProcess, shape: RegExp): Promise<void> {
  let text = "";
  return new Promise((resolve) => {
    child.stdout!.on("data", (part: string) => {
      text += part;
      if (shape.test(text)) resolve();
    });
  });
}

/** The lines of a program that ends by itself. */
export async function linesOf(child: ChildProcess): Promise<string[]> {
  const { lines, ending } = await collect(child);
  if (ending !== "0") throw new Error(`ended with ${ending}: ${lines.at(-1)}`);
  return lines;
}

async function collect(child: ChildProcess): Promise<{ lines: string[]; ending: string }> {
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (part: string) => (text += part));
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  // A line that the kill cut off was not acknowledged to anybody.
  return { lines: text.split("\n").slice(0, -1), ending: signal ?? String(code) };
}
