/**
 * How the scripts that run tests read their arguments: what they can't use is refused, with the usage, before anything
 * runs. So is a place for temporary files that they can't use.
 */
import { unmatched } from "./source-files.ts";
import { detour, placeOfRuns } from "./suite/run-place.ts";

/** Undefined if there is nothing to do: the usage was asked for, or an option can't be used. */
export function readOptions<T>(args: readonly string[], usage: string, read: () => T): T | undefined {
  if (args.includes("--help")) {
    console.log(usage);
    return undefined;
  }
  try {
    const options = read();
    return hasPlace() ? options : undefined;
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${usage}`);
    process.exitCode = 1;
    return undefined;
  }
}

function hasPlace(): boolean {
  try {
    placeOfRuns();
    const told = detour();
    if (told !== undefined) console.log(told);
    return true;
  } catch (error) {
    console.error((error as Error).message);
    process.exitCode = 1;
    return false;
  }
}

/** A number that an option needs, from `least` on. */
export function wholeNumber(option: string, text: string, least: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least)
    throw new Error(`${option} ${text}: give a whole number, ${least} or more`);
  return number;
}

export function refuseUnmatched(filters: readonly string[]): void {
  const mistakes = unmatched(filters);
  if (mistakes.length > 0) throw new Error(`No test file matches ${mistakes.join(", ")}`);
}

/** Node adds advice for authors of command lines to what is wrong. */
function messageOf(error: unknown): string {
  return error instanceof Error ? (error.message.split(". ")[0] ?? "") : String(error);
}
