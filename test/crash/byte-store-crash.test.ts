import { expect, test } from "vitest";
import { SegmentByteStore } from "../../src/store/segments/segment-byte-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { contentAt, SEGMENT_BYTES, STREAMS } from "./byte-content.ts";
import { KILLS, SEED, seeded } from "./seeded.ts";
import { killAfter, start } from "./victim.ts";

const random = seeded(SEED);
const title = `${KILLS} kills, seed ${SEED}`;

test(`[BYT-1, BYT-3] no kill loses an acknowledged byte, and what follows is what was being written (${title})`, async () => {
  const directory = await temporaryDirectory();
  const verified = new Map<string, number>();
  for (let life = 0; life < KILLS; life += 1) {
    const writer = start("byte-writer.ts", directory, String(SEED + life));
    const lines = await killAfter(writer, { delayMs: random(80), printed: /\n/ });
    const acknowledged = new Map(lines.map((line) => line.split(" ") as [string, string]));
    await verify(directory, acknowledged, verified);
  }
  await verify(directory, new Map(), new Map());
});

/** From where the last verification ended. */
async function verify(
  directory: string,
  acknowledged: ReadonlyMap<string, string>,
  verified: Map<string, number>,
): Promise<void> {
  const store = new SegmentByteStore(directory, { now: Date.now, segmentBytes: SEGMENT_BYTES });
  for (const [index, stream] of STREAMS.entries()) {
    const size = await store.size(stream);
    expect(size).toBeGreaterThanOrEqual(Number(acknowledged.get(stream) ?? 0));
    const from = verified.get(stream) ?? 0;
    const bytes = await store.read(stream, from, size - from);
    expect(Buffer.compare(bytes, contentAt(index, from, size - from))).toBe(0);
    expect(await store.offsetAt(stream, Date.now())).toBeLessThanOrEqual(size);
    verified.set(stream, size);
  }
  await store.close();
}
