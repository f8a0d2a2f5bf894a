/** Many idle terminals in one host, and how soon a new one has run its first command. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Figure, figure } from "./figures.ts";
import { Product } from "./product.ts";
import type { Stage } from "./stage.ts";

const LIMIT_MB = 400;
const STEADY_MS = 3_000;
const STEADY_WITHIN = 20;

export async function* memory(stage: Stage): AsyncIterable<Figure> {
  const sessions = stage.quick ? 100 : 1000;
  await using product = await Product.start(stage, "memory");
  await product.sdk.workspace.put({ workspaceId: "default", limits: { maxSessions: sessions + 1 } });
  await product.terminal();
  const before = await steady(product);
  const starts: number[] = [];
  for (let i = 1; i < sessions; i += 1) starts.push(await start(product));
  const after = await steady(product);
  yield figure("start: new terminal, first command done", "ms", starts);
  yield { name: "memory: host with 1 session", value: before.host / 1e6, unit: "MB" };
  const bound = stage.quick ? {} : { atMost: LIMIT_MB };
  yield { name: `memory: host with ${sessions} idle sessions`, value: after.host / 1e6, unit: "MB", ...bound };
  const each = (which: "host" | "hub"): number => (after[which] - before[which]) / (sessions - 1) / 1e3;
  yield { name: "memory: host, each session", value: each("host"), unit: "kB" };
  yield { name: `memory: hub with ${sessions} idle sessions`, value: after.hub / 1e6, unit: "MB" };
  yield { name: "memory: hub, each session", value: each("hub"), unit: "kB" };
}

async function start(product: Product): Promise<number> {
  const from = performance.now();
  const conversation_id = product.conversation();
  await product.call("pty.exec_block", { conversation_id, command: "true", wait_ms: 45_000 });
  return performance.now() - from;
}

/** Once the host grows no more: what a start leaves behind is collected a little later. */
async function steady(product: Product): Promise<{ readonly host: number; readonly hub: number }> {
  let last = product.residentBytes("host");
  for (let i = 0; i < STEADY_WITHIN; i += 1) {
    await sleep(STEADY_MS);
    const now = product.residentBytes("host");
    if (Math.abs(now - last) < last / 100) break;
    last = now;
  }
  return { host: product.residentBytes("host"), hub: product.residentBytes("hub") };
}
