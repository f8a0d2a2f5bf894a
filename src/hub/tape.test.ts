/** A host's frames through the real stores and back as a tape. */
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import type { SessionFrame } from "../domain/session-frame.ts";
import { createLogger } from "../lib/logger.ts";
import { SegmentByteStore } from "../store/segments/segment-byte-store.ts";
import { openSqliteStore } from "../store/sqlite/sqlite-store.ts";
import { openIntake } from "./intake.ts";
import { Journal } from "./journal.ts";
import { OutputDesk } from "./output-desk.ts";
import { Tape } from "./tape.ts";

const SESSION = "6a1c1f0e-0000-4000-8000-000000000001";
const HOST = { kind: "host", id: "local" } as const;

async function opened() {
  const dataDir = await temporaryDirectory();
  const store = await openSqliteStore(dataDir, { now: () => Date.now() });
  const bytes = new SegmentByteStore(dataDir, { now: () => Date.now() });
  onTestFinished(async () => {
    await bytes.close();
    await store.close();
  });
  const journal = new Journal(store.events);
  const output = new OutputDesk(
    bytes,
    journal,
    createLogger("error", () => undefined),
  );
  const tape = new Tape(store.events, output);
  const { order } = await output.begin(SESSION, HOST);
  const parts = { journal, output, sessionId: SESSION, source: HOST, order };
  const intake = openIntake({ ...parts, onExit: async () => undefined });
  return { output, tape, intake, log: store.events };
}

/** `count` times: a byte, then a fact of about `size` characters. */
function framesOf(count: number, size: number): SessionFrame[] {
  const note = "x".repeat(size);
  return Array.from({ length: count }, (_, index): SessionFrame[] => [
    { kind: "bytes", order: 2 * index + 1, cursor: index, bytes: Buffer.from(String(index % 10)) },
    {
      kind: "event",
      order: 2 * index + 2,
      cursor: index + 1,
      at: 0,
      type: "prompt",
      payload: { kind: "shell", promptId: String(index), note },
    },
  ]).flat();
}

/** What a reader of the tape sees: a byte as itself, a fact as its place. */
async function seen(tape: Tape): Promise<string[]> {
  const items: string[] = [];
  for await (const batch of tape.read(SESSION, { cursor: 0, position: 0 }, new AbortController().signal)) {
    for (const item of batch) {
      items.push(item.kind === "bytes" ? Buffer.from(item.bytes).toString() : `@${item.event.position}`);
    }
  }
  return items;
}

const expected = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => [String(index % 10), `@${2 * index + 2}`]).flat();

test("[WAI-1] a tape has every fact between its bytes, also where the log answers in short pages", async () => {
  const { output, log, intake } = await opened();
  const frames = framesOf(300, 64 * 1024);
  for (let at = 0; at < frames.length; at += 50) await intake(frames.slice(at, at + 50));
  await output.announce(SESSION);
  output.release(SESSION);
  // As after a restart: nothing is in memory.
  const later = new Tape(log, output);

  expect(await seen(later)).toEqual(expected(300));
});

test("[WAI-1] live it is the same, and a resumed link that tells frames again changes nothing", async () => {
  const { output, tape, intake } = await opened();
  const frames = framesOf(20, 10);
  const reading = seen(tape);
  await intake(frames.slice(0, 15));
  await intake(frames.slice(5, 31));
  await intake(frames.slice(29));
  await output.announce(SESSION);
  output.release(SESSION);

  expect(await reading).toEqual(expected(20));
});

test("[HST-14] a desk that has stopped takes nothing, so that nothing is acknowledged", async () => {
  const { output, intake } = await opened();
  const [first, , third] = framesOf(2, 10) as [SessionFrame, SessionFrame, SessionFrame];
  await intake([first]);

  await output.stop();

  await expect(intake([third])).rejects.toMatchObject({ code: "storage_unavailable" });
});

test("[HST-1] a fact is not stored again because output before it was announced after it", async () => {
  const { output, intake, log } = await opened();
  const [byte, fact] = framesOf(1, 1);
  await intake([byte!]);

  await Promise.all([intake([fact!]), output.announce(SESSION)]);

  const stored = await log.read({ types: ["prompt", "stdout"], limit: 10 });
  expect(stored.map(({ type, position }) => [type, position])).toEqual([
    ["prompt", 2],
    ["stdout", 1],
  ]);
  expect(await output.begin(SESSION, HOST)).toEqual({ order: 2, cursor: 1 });
});
