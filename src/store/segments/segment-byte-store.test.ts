import { randomUUID } from "node:crypto";
import { appendFile, mkdir, readdir, readlink, rm, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { CursorExpired, StorageFailed } from "../../hub/ports.ts";
import { ANN, BOB } from "../../../test/store/test-log.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { byteStoreContract } from "../byte-store.contract.ts";
import { SegmentByteStore, type SegmentByteStoreOptions } from "./segment-byte-store.ts";

byteStoreContract(async (directory, options) => new SegmentByteStore(directory, options));

function open(directory: string, options: Partial<SegmentByteStoreOptions> = {}): SegmentByteStore {
  const store = new SegmentByteStore(directory, { now: Date.now, segmentBytes: 100, ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Ten segments of 100 bytes, the first all 0, the next all 1 and so on. */
async function tenSegments(directory: string): Promise<void> {
  let now = 0;
  const store = new SegmentByteStore(directory, { now: () => (now += 1_000), segmentBytes: 100 });
  for (let index = 0; index < 10; index += 1) await store.append(ANN, index * 100, Buffer.alloc(100, index));
  await store.close();
}

function segment(directory: string, start: number, extension = "seg"): string {
  return join(directory, "bytes", ANN, `${String(start).padStart(16, "0")}.${extension}`);
}

test("[BYT-9] directories are 0700 and files 0600", async () => {
  const directory = await temporaryDirectory();
  await tenSegments(directory);

  const paths = [
    join(directory, "bytes"),
    join(directory, "bytes", ANN),
    segment(directory, 0),
    segment(directory, 0, "idx"),
  ];
  const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode & 0o777));

  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
});

test("[BYT-8] a torn or missing index makes the answer coarser", async () => {
  const directory = await temporaryDirectory();
  await tenSegments(directory);
  await rm(segment(directory, 300, "idx"));
  await appendFile(segment(directory, 500, "idx"), Buffer.alloc(9, 0xff));
  await truncate(segment(directory, 900, "idx"), 7);
  const store = open(directory, { now: () => 20_000 });

  expect(await Promise.all([3_000, 4_000, 5_000, 6_000, 9_999, 10_000].map((at) => store.offsetAt(ANN, at)))).toEqual([
    300, 300, 500, 600, 900, 900,
  ]);
  await store.append(ANN, 1_000, Buffer.from("next"));
  expect(await store.offsetAt(ANN, 20_000)).toBe(1_004);
});

test("[BYT-8] the index stays small beside a program that prints for months", async () => {
  let now = 0;
  const directory = await temporaryDirectory();
  const store = open(directory, { now: () => (now += 100), segmentBytes: 1e6 });
  for (let index = 0; index < 6_000; index += 1) await store.append(ANN, index, Buffer.from("."));

  expect((await stat(segment(directory, 0, "idx"))).size).toBeLessThan(16 * 5_200);
  expect(await store.offsetAt(ANN, 100 * 5_000)).toBeGreaterThan(4_990);
});

test("[BYT-11] what lies before a missing or shortened segment is no longer kept", async () => {
  const directory = await temporaryDirectory();
  await tenSegments(directory);
  await rm(segment(directory, 200));
  await truncate(segment(directory, 500), 99);
  const store = open(directory);

  expect([await store.oldest(ANN), await store.size(ANN)]).toEqual([600, 1_000]);
  await expect(store.read(ANN, 550, 100)).rejects.toEqual(new CursorExpired(600));
  expect(await store.read(ANN, 650, 100)).toEqual(Buffer.concat([Buffer.alloc(50, 6), Buffer.alloc(50, 7)]));
});

test("[BYT-7] many streams are served with few open files", async () => {
  const directory = await temporaryDirectory();
  const store = open(directory, { openStreams: 4 });
  const streams = Array.from({ length: 40 }, () => randomUUID());

  for (const offset of [0, 1, 2])
    await Promise.all(streams.map((it) => store.append(it, offset, Buffer.from([offset]))));
  const contents = await Promise.all(streams.map((it) => store.read(it, 0, 10)));

  expect(contents).toEqual(streams.map(() => Buffer.from([0, 1, 2])));
  expect(await store.streams()).toHaveLength(40);
  await eventually(async () => expect(await openFilesIn(directory)).toBeLessThanOrEqual(8));
});

test("[BYT-4] an append that can't be stored is rejected, and the next one works", async () => {
  const directory = await temporaryDirectory();
  const store = open(directory);
  await store.append(ANN, 0, Buffer.alloc(100, 1));
  // The next segment can't be made: its name is taken by a directory.
  await mkdir(segment(directory, 100));

  await expect(store.append(ANN, 100, Buffer.from("lost"))).rejects.toThrow(StorageFailed);
  expect(await store.size(ANN)).toBe(100);
  await rm(segment(directory, 100), { recursive: true });
  expect(await store.append(ANN, 100, Buffer.from("kept"))).toEqual({ ok: true, size: 104 });
  expect(String(await store.read(ANN, 100, 10))).toBe("kept");
});

test("[BYT-2] reads go on beside appends and see whole acknowledged bytes", async () => {
  const store = open(await temporaryDirectory());
  const writing = (async () => {
    for (let index = 0; index < 300; index += 1) await store.append(ANN, index * 50, Buffer.alloc(50, index % 251));
  })();
  const reading = (async () => {
    for (let offset = 0; offset < 15_000;) {
      const bytes = await store.read(ANN, offset, 70);
      bytes.forEach((byte, index) => expect(byte).toBe(Math.floor((offset + index) / 50) % 251));
      offset += bytes.length;
      await setImmediate(); // at the end a read needs no disk: it would never let the writer run
    }
  })();
  await Promise.all([writing, reading]);
});

test("[BYT-2] closing waits for what was begun and refuses what comes later", async () => {
  const directory = await temporaryDirectory();
  const store = new SegmentByteStore(directory, { now: Date.now });
  const begun = store.append(BOB, 0, Buffer.from("begun"));

  await store.close();

  expect(await begun).toEqual({ ok: true, size: 5 });
  await expect(store.append(BOB, 5, Buffer.from("late"))).rejects.toThrow(StorageFailed);
  expect(await openFilesIn(directory)).toBe(0);
});

async function openFilesIn(directory: string): Promise<number> {
  const descriptors = await readdir("/proc/self/fd");
  const targets = await Promise.all(descriptors.map((it) => readlink(`/proc/self/fd/${it}`).catch(() => "")));
  return targets.filter((target) => target.startsWith(directory)).length;
}
