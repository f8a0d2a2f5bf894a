/**
 * A program prints, a waiter is told. The program notes when its write begins; a wait for the next line is open long
 * before it comes.
 */
import { readFileSync } from "node:fs";
import { median } from "../measure.ts";
import { ControlMode } from "./control-mode.ts";
import { type Figure, figure, milliseconds, ratios } from "./figures.ts";
import { Product } from "./product.ts";
import { PYTHON, type Stage } from "./stage.ts";

const PAUSE_MS = 40;

type Contestant = (count: number, line: string) => Promise<readonly (bigint | number)[]>;

export async function* matches(stage: Stage): AsyncIterable<Figure> {
  const [rounds, count] = stage.quick ? [2, 15] : [5, 60];
  await using product = await Product.start(stage, "matches");
  await using control = await ControlMode.open(stage, "tmux-matches");
  const contestants: Record<string, Contestant> = {
    "tmux -C": (count, line) => controlled(control, count, line),
    [OURS]: (count, line) => waited(product, count, line),
    "pexpect, tuned": (count, line) =>
      stage.figures(PYTHON, [stage.peer("pexpect_peer.py"), "matches", "tuned", String(count), line]),
  };
  const all = new Map<string, number[]>();
  const medians = new Map<string, number[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, run] of Object.entries(contestants)) {
      const printed = stage.path("printed");
      const line = `${stage.program("ticker")} ${count} ${PAUSE_MS} ${printed}; echo ALL""DONE`;
      const told = await run(count, line);
      const samples = milliseconds(since(printed, told));
      all.set(name, [...(all.get(name) ?? []), ...samples]);
      medians.set(name, [...(medians.get(name) ?? []), median(samples)]);
    }
  }
  for (const [name, samples] of all) yield figure(`match: ${name}`, "ms", samples);
  const shares = ratios(medians.get(OURS)!, medians.get("tmux -C")!);
  yield figure("match: ours / tmux -C, p50", "ratio", shares, { atMost: 3 });
}

const OURS = "ours, wait_for over HTTP";

/** Nanoseconds from each noted moment to the answer. */
export function since(path: string, told: readonly (bigint | number)[]): number[] {
  const moments = readFileSync(path, "utf8").trim().split("\n");
  return told.map((at, index) => Number(BigInt(at) - BigInt(moments[index] ?? 0)));
}

async function controlled(control: ControlMode, count: number, line: string): Promise<bigint[]> {
  const told: bigint[] = [];
  control.type(line);
  for (let i = 0; i < count; i += 1) told.push(await control.until(markOf(i)));
  await control.until("ALLDONE");
  return told;
}

async function waited(product: Product, count: number, line: string): Promise<bigint[]> {
  const { conversation_id, sessionId } = await product.terminal();
  const told: bigint[] = [];
  let { cursor: from_cursor } = await product.call("pty.exec_interactive", { conversation_id, command: line });
  for (let i = 0; i < count; i += 1) {
    const { cursor } = await product.call("pty.wait_for", { conversation_id, match: markOf(i), from_cursor });
    told.push(process.hrtime.bigint());
    from_cursor = cursor;
  }
  await product.call("pty.wait_for", { conversation_id, match: "ALLDONE", from_cursor });
  await product.close(sessionId);
  return told;
}

function markOf(index: number): string {
  return `MATCH-${String(index).padStart(5, "0")}`;
}
