/**
 * Writes decisions, their audit lines and the head, and removes old decisions, until it is killed. Prints a line per
 * acknowledged append, and one per removal.
 *
 *   node audit-victim.ts <data-dir> <seed>
 */
import { openAudited } from "../audit/audited-store.ts";
import { ANN, BOB, output, request, status, TOKEN } from "../store/test-log.ts";
import { seeded } from "./seeded.ts";
import { printNow } from "../support/print-now.ts";

const [directory = "", seed = "0"] = process.argv.slice(2);
const { store, prune } = await openAudited(directory);
const random = seeded(Number(seed));

async function write(stream: string): Promise<void> {
  for (;;) {
    const text = "x".repeat(random(8) === 0 ? random(20_000) : random(200));
    const made = [status(text), request(text), TOKEN, output(text)][random(4)]!;
    const events = Array.from({ length: 1 + random(5) }, () => made);
    await store.events.append(stream, "any", events, random(4) === 0 ? "power" : "process");
    printNow(".\n");
  }
}

async function pruneAlways(): Promise<void> {
  for (;;) {
    const removed = await prune({ auditMaxBytes: random(50_000), keep: new Set([BOB]) });
    if (removed > 0) printNow("removed\n");
    await new Promise((resolve) => setTimeout(resolve, random(20)));
  }
}

await Promise.all([write(ANN), write(BOB), pruneAlways()]);
