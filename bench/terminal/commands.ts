/** Run `true` and know that it is done. */
import { ControlMode, tmuxArguments } from "./control-mode.ts";
import { type Figure, figure, milliseconds, ratios } from "./figures.ts";
import { median } from "../measure.ts";
import { Product } from "./product.ts";
import { PYTHON, type Stage } from "./stage.ts";

type Contestant = (count: number) => Promise<number[]>;

export async function* commands(stage: Stage): AsyncIterable<Figure> {
  const [rounds, count] = stage.quick ? [2, 20] : [6, 60];
  await using product = await Product.start(stage, "commands");
  await using control = await ControlMode.open(stage, "tmux-commands");
  const contestants = contestantsOf(stage, product, control);
  const all = new Map<string, number[]>();
  const medians = { ours: [] as number[], theirs: [] as number[] };
  for (const run of Object.values(contestants)) await run(5);
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      // It pauses 50 ms before it sends.
      const samples = milliseconds(await run(name === "pexpect, default" ? Math.ceil(count / 10) : count));
      all.set(name, [...(all.get(name) ?? []), ...samples]);
      if (name === OURS) medians.ours.push(median(samples));
      if (name === WAIT_FOR) medians.theirs.push(median(samples));
    }
  }
  for (const [name, samples] of all) yield figure(`run true: ${name}`, "ms", samples);
  const shares = ratios(medians.ours, medians.theirs);
  yield figure("run true: ours / tmux wait-for, p50", "ratio", shares, { atMost: 1 / 5 });
}

const OURS = "ours, exec_block over HTTP";
const WAIT_FOR = "tmux send-keys + wait-for";

function contestantsOf(stage: Stage, product: Product, control: ControlMode): Record<string, Contestant> {
  const pexpect = (tuning: string) => (count: number) =>
    stage.figures(PYTHON, [stage.peer("pexpect_peer.py"), "commands", tuning, String(count)]);
  const exec = (call: (conversation_id: string) => Promise<unknown>): Contestant => {
    const terminal = product.terminal();
    return async (count) => {
      const { conversation_id } = await terminal;
      return timed(count, () => call(conversation_id));
    };
  };
  const asked = (conversation_id: string) => ({ conversation_id, command: "true", wait_ms: 10_000 });
  return {
    [WAIT_FOR]: (count) => waitFor(stage, count),
    [OURS]: exec((it) => product.call("pty.exec_block", asked(it))),
    "ours, exec_block by the SDK": exec((it) => product.sdk.pty.exec_block(asked(it))),
    "tmux -C": (count) => controlled(control, count),
    "pexpect, tuned": pexpect("tuned"),
    "pexpect, default": pexpect("default"),
  };
}

async function timed(count: number, run: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i += 1) {
    const from = performance.now();
    await run();
    samples.push((performance.now() - from) * 1e6);
  }
  return samples;
}

async function waitFor(stage: Stage, count: number): Promise<number[]> {
  const server = tmuxArguments(stage, "tmux-wait-for");
  await stage.run("tmux", [...server, "new-session", "-d", "-x", "120", "-y", "40"]);
  try {
    // Both in one run of tmux, started by a program that costs nothing itself.
    const keys = ["send-keys", "true; tmux wait-for -S done", "Enter", ";", "wait-for", "done"];
    return await stage.figures(stage.program("time-runs"), [String(count), "tmux", ...server, ...keys]);
  } finally {
    await stage.run("tmux", [...server, "kill-server"]);
  }
}

let marks = 0;

async function controlled(control: ControlMode, count: number): Promise<number[]> {
  const samples: number[] = [];
  for (let i = 0; i < count; i += 1) {
    marks += 1;
    const from = process.hrtime.bigint();
    const done = control.until(`DONE-${marks}-`);
    control.type(`true; echo DO""NE-${marks}-`);
    samples.push(Number((await done) - from));
  }
  return samples;
}
