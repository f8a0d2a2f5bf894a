/**
 * How much longer than on a quiet, quick machine tests may wait. It is measured once, before the tests begin, by work of
 * the kind that they wait for, and handed to them in `SIDESTICK_PATIENCE`. Rule HSE-22 in docs/spec/house.md.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";

const VARIABLE = "SIDESTICK_PATIENCE";
/** What the loop takes where nothing else runs, on a machine of 2026. */
const USUAL_MS = 150;
const STARTS = 3;
const HASHES = 40_000;
const LEAST = 1;
const MOST = 4;

/** The factor measured for this run; 1 if none was measured. */
export function patience(): number {
  const given = Number(process.env[VARIABLE] ?? LEAST);
  return Number.isFinite(given) ? bounded(given) : LEAST;
}

/** In halves: a time in milliseconds stays a whole number, which some interfaces insist on. */
function bounded(factor: number): number {
  return Math.ceil(Math.min(MOST, Math.max(LEAST, factor)) * 2) / 2;
}

/** Variables for whatever runs the tests. One that is set already stays. */
export async function measuredPatience(): Promise<Record<string, string>> {
  if (process.env[VARIABLE] !== undefined) return { [VARIABLE]: String(patience()) };
  const began = performance.now();
  for (let start = 0; start < STARTS; start += 1) await startNode();
  let text = "";
  for (let hash = 0; hash < HASHES; hash += 1) text = createHash("sha1").update(text).digest("hex");
  return { [VARIABLE]: String(bounded((performance.now() - began) / USUAL_MS)) };
}

async function startNode(): Promise<void> {
  const child = spawn(process.execPath, ["-e", ""], { stdio: "ignore" });
  await new Promise((resolve, reject) => child.on("error", reject).on("close", resolve));
}
