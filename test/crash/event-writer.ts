/**
 * Writes to an event log until it is killed: four writers, three with a stream of their own and all four on a shared
 * one, with expected versions, every size and both durabilities. Prints one line per acknowledged append, after the
 * acknowledgement: first sequence, count, stream, retention class, nonce.
 *
 *   node event-writer.ts <data-dir> <seed> <prune: yes | no>
 */
import type { NewEvent } from "../../src/domain/event.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { type Random, seeded } from "./seeded.ts";
import { printNow } from "../support/print-now.ts";

const [directory = "", seed = "0", prune = "no"] = process.argv.slice(2);
const store = await openSqliteStore(directory, { now: Date.now });
const versions = new Map<string, number>();
let nonce = 0;

function streamName(index: number): string {
  return `00000000-0000-4000-8000-00000000000${index}`;
}

async function write(index: number): Promise<void> {
  const random = seeded(Number(seed) * 7 + index);
  for (;;) {
    const stream = streamName(random(2) === 0 ? 9 : index);
    nonce += 1;
    await writeOnce(stream, `${seed}-${nonce}`, random);
  }
}

async function writeOnce(stream: string, mark: string, random: Random): Promise<void> {
  const audit = random(3) === 0;
  const count = random(4) === 0 ? 1 + random(60) : 1;
  const text = "x".repeat(random(8) === 0 ? random(20_000) : random(200));
  for (;;) {
    const previous = versions.get(stream) ?? 0;
    const events = Array.from({ length: count }, (_, part): NewEvent => {
      const payload = { nonce: mark, part, count, previous, text };
      return { type: audit ? "status" : "stdout", payload, source: { kind: "host", id: "local" } };
    });
    const appended = await store.events.append(stream, previous, events, random(20) === 0 ? "power" : "process");
    if (appended.ok) {
      versions.set(stream, appended.events.at(-1)!.sequence);
      printNow(`${appended.events[0]!.sequence} ${count} ${stream} ${audit ? "audit" : "activity"} ${mark}\n`);
      return;
    }
    versions.set(stream, appended.version);
  }
}

async function pruneAlways(): Promise<void> {
  const ages = { activityMaxAgeMs: 1e9, auditMaxAgeMs: 1e9 };
  if (prune === "no") return;
  for (;;) {
    await store.events.prune({
      ...ages,
      activityMaxBytes: 300_000,
      auditMaxBytes: 1e9,
      keep: new Set(),
      keepEvents: new Set(),
    });
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

await Promise.all([write(1), write(2), write(3), write(4), pruneAlways()]);
