/** What a launcher, and a guard, add to the start of a shell: in turns, to the first prompt. `--quick` is a smoke run. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LauncherName, ShellGuard } from "../src/host/terminal/launcher.ts";
import { ShellProcess } from "../src/host/terminal/shell-process.ts";
import { type Measure, percentile } from "./measure.ts";

const LAUNCHER_MOST_MS = 60;
const GUARD_MOST_MS = 20;

export async function* run(): AsyncIterable<Measure> {
  const home = mkdtempSync(join(tmpdir(), "ssb-"));
  const times = { plain: [] as number[], open: [] as number[], guard: [] as number[] };
  try {
    for (let round = 0; round < (process.argv.includes("--quick") ? 5 : 100); round += 1) {
      times.plain.push(await started(home, "none"));
      times.open.push(await started(home, undefined));
      times.guard.push(await started(home, { ours: [join(home, "data")], terms: {} }));
    }
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
  for (const [name, values] of Object.entries(times)) {
    const [value, p95] = [0.5, 0.95].map((share) => Number(percentile(values, share).toPrecision(4)));
    yield { name: `start of a shell, ${name}`, value: value!, unit: "ms", p95, samples: values.length } as Measure;
  }
  yield {
    name: "what the launcher adds, p50",
    value: added(times.open, times.plain),
    unit: "ms",
    atMost: LAUNCHER_MOST_MS,
  };
  yield { name: "what the guard adds, p50", value: added(times.guard, times.open), unit: "ms", atMost: GUARD_MOST_MS };
}

function added(to: readonly number[], from: readonly number[]): number {
  return Number((percentile(to, 0.5) - percentile(from, 0.5)).toPrecision(4));
}

async function started(home: string, launcher: LauncherName | ShellGuard | undefined): Promise<number> {
  const begin = performance.now();
  const shell = await ShellProcess.start(
    {
      shell: "/bin/bash",
      cwd: home,
      env: { PATH: "/usr/bin:/bin", HOME: home, TERM: "xterm-256color" },
      size: { cols: 80, rows: 24 },
      directory: join(home, "data"),
      onNonce: () => undefined,
      launcher,
    },
    { data: () => undefined, exit: () => undefined },
  );
  while (!shell.atPrompt) await new Promise((resolve) => setImmediate(resolve));
  const took = performance.now() - begin;
  shell.tree.signal("SIGKILL");
  await shell.exited;
  return took;
}
