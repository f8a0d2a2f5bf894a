import { expect, test } from "vitest";
import type { StoredEvent } from "../../src/domain/event.ts";
import { CursorExpired } from "../../src/hub/ports.ts";
import { openSqliteStore, type SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { KILLS, SEED, seeded } from "./seeded.ts";
import { killAfter, start } from "./victim.ts";

type Acknowledged = { first: number; count: number; stream: string; retention: string; nonce: string };

/** All that was acknowledged in all lives, by first sequence. */
const acknowledged = new Map<number, Acknowledged>();

const random = seeded(SEED);
const title = `${KILLS} kills, seed ${SEED}`;

test(`[LOG-3, LOG-4, LOG-5] no kill loses an acknowledged event, repeats a sequence or breaks a version (${title})`, async () => {
  const directory = await temporaryDirectory();
  for (let life = 0; life < KILLS; life += 1) {
    const writer = start("event-writer.ts", directory, String(SEED + life), life % 3 === 2 ? "yes" : "no");
    // Every fourth is killed wherever it is, which may be while it opens the store.
    const printed = life % 4 === 3 ? undefined : /(?:.*\n){2}/;
    const lines = await killAfter(writer, { delayMs: random(printed === undefined ? 400 : 150), printed });
    const lived = lines.map(parse);
    for (const append of lived) {
      expect(acknowledged.has(append.first)).toBe(false);
      acknowledged.set(append.first, append);
    }
    await verify(directory, lived);
  }
  await verify(directory, [...acknowledged.values()]);
  expect(acknowledged.size).toBeGreaterThan(KILLS); // else it proved nothing
});

async function verify(directory: string, expected: readonly Acknowledged[]): Promise<void> {
  const store = await openSqliteStore(directory, { now: Date.now });
  try {
    expect(await store.integrityCheck()).toBe("ok");
    const floor = await activityFloor(store);
    const events = await readAll(store);
    const bySequence = new Map(events.map((event) => [event.sequence, event]));
    const lost = expected.filter(
      (append) => (append.retention === "audit" || append.first > floor) && !isWhole(append, bySequence),
    );
    expect(lost).toEqual([]);
    expect(brokenVersions(events, floor)).toEqual([]);
    expect(store.events.head).toBe(events.at(-1)?.sequence ?? 0);
  } finally {
    await store.close();
  }
}

function isWhole(append: Acknowledged, bySequence: ReadonlyMap<number, StoredEvent>): boolean {
  return Array.from({ length: append.count }, (_, part) => bySequence.get(append.first + part)).every(
    (event, part) =>
      event !== undefined &&
      event.sessionId === append.stream &&
      event.payload["nonce"] === append.nonce &&
      event.payload["part"] === part,
  );
}

/** Appends that are not whole, or that did not expect what was then the last of their stream. */
function brokenVersions(events: readonly StoredEvent[], floor: number): StoredEvent[] {
  const last = new Map<string, StoredEvent>();
  return events.filter((event) => {
    const before = last.get(event.sessionId);
    last.set(event.sessionId, event);
    const { part, previous, nonce } = event.payload as { part: number; previous: number; nonce: string };
    if (previous <= floor) return false; // what it followed may be pruned
    if (part === 0) return previous !== (before?.sequence ?? 0);
    return before === undefined || before.payload["nonce"] !== nonce || before.payload["part"] !== part - 1;
  });
}

async function readAll(store: SqliteStore): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (const types of [["stdout"], ["status"]] as const) {
    for (let after: number | undefined; ; after = events.at(-1)!.sequence) {
      const page = await store.events.read({ after, types, limit: 5_000 });
      if (page.length === 0) break;
      events.push(...page);
    }
  }
  return events.toSorted((a, b) => a.sequence - b.sequence);
}

async function activityFloor(store: SqliteStore): Promise<number> {
  try {
    await store.events.read({ after: 0, types: ["stdout"], limit: 1 });
    return 0;
  } catch (error) {
    if (error instanceof CursorExpired) return error.oldest;
    throw error;
  }
}

function parse(line: string): Acknowledged {
  const [first = "", count = "", stream = "", retention = "", nonce = ""] = line.split(" ");
  return { first: Number(first), count: Number(count), stream, retention, nonce };
}
