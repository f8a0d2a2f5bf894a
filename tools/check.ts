/**
 * Everything that can be said about the code without running it. Each step is one line; what a step prints is shown
 * only when it fails.
 *
 *   node tools/check.ts [name …]    all steps, or those whose name begins like that
 */
import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { filesIn, isMain, ROOT } from "./source-files.ts";

export type Step = { readonly name: string; readonly command: readonly string[] };

export type Outcome = { readonly name: string; readonly ok: boolean };

const AT_ONCE = 2;
/** Two steps run at once on two cores: more threads in each do the same work twice, and memory is cheaper than collecting it. */
const GO = { GOMAXPROCS: "1", GOGC: "400" };
const BIN = join(ROOT, "node_modules", ".bin");
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

/** Each leads a group of processes: oxlint starts a checker of types that would outlive it. */
const running = new Set<ChildProcess>();

export function runChecks(wanted: readonly string[] = []): Promise<Outcome[]> {
  return runSteps(steps().filter(({ name }) => wanted.length === 0 || wanted.some((it) => name.startsWith(it))));
}

/** Runs the steps and prints one line for each, in the order in which they end. What they started ends with this process. */
export async function runSteps(chosen: readonly Step[]): Promise<Outcome[]> {
  const queue = [...chosen];
  const outcomes: Outcome[] = [];
  const work = async () => {
    for (let step = queue.shift(); step !== undefined; step = queue.shift()) outcomes.push(await run(step));
  };
  process.on("exit", killRunning);
  for (const signal of SIGNALS) process.on(signal, exitInterrupted);
  try {
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return outcomes;
  } finally {
    for (const signal of SIGNALS) process.off(signal, exitInterrupted);
    process.off("exit", killRunning);
  }
}

/** The slow ones first, so that two at once end together. */
function steps(): Step[] {
  const configs = filesIn(ROOT, "tsconfig.json", "{src,test,tools,bench}/**/tsconfig.json");
  return [
    { name: "lint", command: ["oxlint", "--type-aware", "--deny-warnings"] },
    ...configs.map((path) => ({ name: `types ${path}`, command: ["tsc", "--singleThreaded", "--project", path] })),
    { name: "unused code", command: ["knip", "--no-progress"] },
    { name: "format", command: ["oxfmt", "--check"] },
    { name: "layers", command: ["node", "tools/layers.ts"] },
    { name: "spec ids", command: ["node", "tools/spec.ts"] },
    { name: "reference", command: ["node", "tools/reference.ts", "--check"] },
  ];
}

async function run({ name, command: [program = "", ...parameters] }: Step): Promise<Outcome> {
  const began = performance.now();
  // Tools written for Node find it by `env node`: it has to be ours.
  const env = { ...process.env, ...GO, PATH: `${BIN}:${process.env.PATH ?? ""}`, NO_COLOR: "1" };
  const child = spawn(join(BIN, program), parameters, {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.add(child);
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => output.push(chunk));
  const ok = await new Promise<boolean>((resolve) => {
    child.on("error", (error) => output.push(Buffer.from(String(error))) && resolve(false));
    child.on("close", (code) => resolve(code === 0));
  });
  running.delete(child);
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${ok ? "ok  " : "FAIL"} ${name} (${seconds} s)`);
  if (!ok) console.log(Buffer.concat(output).toString().trimEnd().replaceAll(/^/gm, "     "));
  return { name, ok };
}

function killRunning(): void {
  for (const { pid } of running) {
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

function exitInterrupted(): void {
  console.log("\ninterrupted");
  process.exit(130);
}

async function main(wanted: readonly string[]): Promise<void> {
  const names = steps().map(({ name }) => name);
  const unknown = wanted.filter((it) => !names.some((name) => name.startsWith(it)));
  if (unknown.length > 0) {
    console.error(`No step begins with ${unknown.join(", ")}. Steps: ${names.join(", ")}`);
    process.exitCode = 1;
    return;
  }
  const outcomes = await runChecks(wanted);
  process.exitCode = outcomes.every(({ ok }) => ok) ? 0 : 1;
}

if (isMain(import.meta.url)) await main(process.argv.slice(2));
