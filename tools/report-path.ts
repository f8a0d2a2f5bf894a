/**
 * Where a report may be written: to a new file, or over an earlier report. Found out before anything runs, for a report
 * comes at the end of an hour. Rule HSE-29 in docs/spec/house.md.
 */
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Of every report. */
const KEYS = ["seed", "passed", "failures", "files"];

/** The absolute path; it throws where `option` can't be used. */
export function reportPath(option: string, given: string): string {
  const path = resolve(given);
  try {
    if (existsSync(path)) openAgain(path);
    else tryOut(path);
    return path;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`${option} ${given} can't be used: ${why}`, { cause: error });
  }
}

function openAgain(path: string): void {
  if (!statSync(path).isFile() || !isReport(readFileSync(path, "utf8")))
    throw new Error("it exists and is not an earlier report; it was not touched");
  closeSync(openSync(path, "r+"));
}

function isReport(text: string): boolean {
  try {
    const report: unknown = JSON.parse(text);
    return typeof report === "object" && report !== null && KEYS.every((key) => Object.hasOwn(report, key));
  } catch {
    return false;
  }
}

function tryOut(path: string): void {
  makeFolder(dirname(path));
  closeSync(openSync(path, "wx"));
  rmSync(path);
}

/** One by one: where a folder can't be made, as in /proc, Node's own `recursive` never ends. */
function makeFolder(path: string): void {
  if (existsSync(path)) return;
  makeFolder(dirname(path));
  mkdirSync(path);
}
