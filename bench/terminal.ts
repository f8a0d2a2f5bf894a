/**
 * Terminals against their peers, in turns, in one run, on equal shells: the same bash, environment, size and readline
 * settings for everybody. Needs cc, tmux, dtach, script and python3-pexpect. `--quick` is a smoke run with smaller
 * counts; `--only=throughput,commands` runs some parts.
 */
import { cpus, loadavg, release, totalmem } from "node:os";
import type { Measure } from "./measure.ts";
import { attach } from "./terminal/attach.ts";
import { commands } from "./terminal/commands.ts";
import { matches } from "./terminal/matches.ts";
import { memory } from "./terminal/memory.ts";
import { prompts } from "./terminal/prompts.ts";
import { Stage } from "./terminal/stage.ts";
import { throughput } from "./terminal/throughput.ts";

const PARTS = { throughput, commands, matches, prompts, attach, memory };

export async function* run(): AsyncIterable<Measure> {
  const only = process.argv
    .find((it) => it.startsWith("--only="))
    ?.slice("--only=".length)
    .split(",");
  const unknown = only?.filter((it) => !Object.hasOwn(PARTS, it)) ?? [];
  if (unknown.length > 0)
    throw new Error(`terminal has no part ${unknown.join(", ")}: ${Object.keys(PARTS).join(", ")}`);
  await using stage = await Stage.open({ quick: process.argv.includes("--quick") });
  yield await machine(stage);
  for (const [name, part] of Object.entries(PARTS)) if (only?.includes(name) ?? true) yield* part(stage);
}

/** What the figures were taken on. Others may use it too: the load says how much. */
async function machine(stage: Stage): Promise<Measure & Record<string, unknown>> {
  const [first = ""] = (await stage.run("bash", ["--version"])).split("\n");
  return {
    name: "machine",
    value: cpus().length,
    unit: "processors",
    model: cpus()[0]?.model,
    memoryMB: Math.round(totalmem() / 1e6),
    kernel: release(),
    node: process.version,
    bash: first,
    tmux: (await stage.run("tmux", ["-V"])).trim(),
    load: loadavg().map((it) => Number(it.toFixed(2))),
  };
}
