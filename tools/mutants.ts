/**
 * Deliberate faults: each is put into a copy of the checkout, and the tests named with it must fail. One that survives
 * says that a rule of docs/spec is written down and not tested. Rule HSE-18 in docs/spec/house.md.
 */
import { chmodSync, cpSync, mkdtempSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { MUTANTS } from "./mutants/list.ts";
import type { Mutant } from "./mutants/mutant.ts";
import { readOptions } from "./options.ts";
import { chosenPaths, isMain, ROOT } from "./source-files.ts";
import { installPackages } from "./suite/packages.ts";
import { measuredPatience } from "./suite/patience.ts";
import { hasFailed, type RunReport } from "./suite/report.ts";
import { inRunDirectory } from "./suite/run-directory.ts";
import { runVitest } from "./suite/vitest-run.ts";

const USAGE = `npm run test:mutants -- [word …]

  word   only faults whose name contains one of them; all of them if there is none`;

type Ending = "passed" | "failed" | "timed out" | "broken";
type Verdict = "caught" | "survived" | "timed out" | "broken" | "not found";

const NOT_COPIED: ReadonlySet<string> = new Set(["node_modules", ".git"]);
/** For one file of tests. */
const LONGEST_MS = 300_000;
/** How vitest says it. When it bails it tells of its pool too: that is no death. */
const WORKER_DIED = /Worker exited unexpectedly|\[vitest-pool\]: (?:Worker \S+ emitted error|Failed to start)/;
/** Tests that fail wait until the deadline first. That it is long enough is seen without any fault. */
const SETTINGS = { SIDESTICK_DEADLINE_MS: "10000", SIDESTICK_SEED: process.env["SIDESTICK_SEED"] ?? "1" };

/** The file with the fault in it; undefined unless its text stands there exactly once. */
export function mutated(source: string, { text, becomes }: Pick<Mutant, "text" | "becomes">): string | undefined {
  const parts = source.split(text);
  return parts.length === 2 ? parts.join(becomes) : undefined;
}

async function main(args: string[]): Promise<void> {
  const chosen = readOptions(args, USAGE, () => chooseMutants(args));
  if (chosen === undefined) return;
  await installPackages(chosen.flatMap((it) => it.tests));
  const { run: caught } = await inRunDirectory(async ({ path }) => countCaught(chosen, copyInto(path)));
  console.log(`${caught} of ${chosen.length} faults caught`);
  process.exitCode = caught === chosen.length && chosen.length > 0 ? 0 : 1;
}

function chooseMutants(args: string[]): readonly Mutant[] {
  const { positionals: words } = parseArgs({ args, allowPositionals: true });
  const unknown = words.filter((word) => !MUTANTS.some(({ name }) => name.includes(word)));
  if (unknown.length > 0) throw new Error(`No fault's name contains ${unknown.join(", ")}`);
  return words.length === 0 ? MUTANTS : MUTANTS.filter(({ name }) => words.some((word) => name.includes(word)));
}

function copyInto(directory: string): string {
  const root = mkdtempSync(join(directory, "checkout-"));
  cpSync(ROOT, root, { recursive: true, filter: (path) => !NOT_COPIED.has(basename(path)) });
  // Some tests run a part of it as another user.
  chmodSync(root, 0o755);
  symlinkSync(join(ROOT, "node_modules"), join(root, "node_modules"));
  return root;
}

async function countCaught(mutants: readonly Mutant[], root: string): Promise<number> {
  const settings = { ...(await measuredPatience()), ...SETTINGS };
  const runTests = (tests: readonly string[]): Promise<Ending> => runIn(root, tests, settings);
  console.log("without any fault first: a test that fails then proves nothing …");
  const all = await runTests([...new Set(mutants.flatMap((it) => it.tests))]);
  if (all !== "passed") {
    console.error(`The tests without any fault: ${all}. Run them by themselves: npm test`);
    return 0;
  }
  let caught = 0;
  for (const mutant of mutants) {
    const verdict = await tell(mutant, () => judge(mutant, root, runTests));
    // A fault may make a test wait for what never comes.
    if (verdict === "caught" || verdict === "timed out") caught += 1;
  }
  return caught;
}

async function tell({ name, file }: Mutant, judged: () => Promise<Verdict>): Promise<Verdict> {
  const began = performance.now();
  const verdict = await judged();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${verdict.padEnd(9)} ${seconds.padStart(6)} s  ${name} (${file})`);
  return verdict;
}

async function judge(
  mutant: Mutant,
  root: string,
  runTests: (tests: readonly string[]) => Promise<Ending>,
): Promise<Verdict> {
  const path = join(root, mutant.file);
  const source = readFileSync(path, "utf8");
  const faulty = mutated(source, mutant);
  if (faulty === undefined) return "not found";
  writeFileSync(path, faulty);
  try {
    const ending = await runTests(mutant.tests);
    if (ending === "failed") return "caught";
    return ending === "passed" ? "survived" : ending;
  } finally {
    writeFileSync(path, source);
  }
}

/** In a directory of its own: a fault may leave processes behind, and they would slow down what follows. */
async function runIn(
  root: string,
  tests: readonly string[],
  settings: Readonly<Record<string, string>>,
): Promise<Ending> {
  const filters = chosenPaths(tests, root);
  const { run } = await inRunDirectory(({ env }) =>
    runVitest({
      root,
      filters,
      env: { ...env, ...settings },
      output: "ignore",
      isBailing: true,
      hangMs: LONGEST_MS,
    }),
  );
  return endingOf(run);
}

/**
 * Only a test that failed, or a file of tests that can't be loaded any more, has seen a fault. The tests of a worker that
 * died count as failed, though most never had their turn: its file has seen nothing.
 */
export function endingOf({ files, unhandled, cutOff }: RunReport): Ending {
  if (cutOff !== undefined) return cutOff;
  const deaths = unhandled.filter((error) => WORKER_DIED.test(error));
  const whole = files.filter(({ file }) => !deaths.some((error) => error.includes(file)));
  if (whole.some(hasFailed)) return "failed";
  return unhandled.length > 0 || files.length === 0 ? "broken" : "passed";
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
