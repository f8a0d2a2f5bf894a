/** What every `ByteStore` promises. Rules in docs/spec/bytes.md. */
import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { type ByteStore, CursorExpired } from "../hub/ports.ts";
import { ANN, BOB } from "../../test/store/test-log.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { soakCount } from "../../test/support/soak.ts";

/** Opens the store that lies in `directory`, with segments of about `segmentBytes`. */
export type OpenBytes = (directory: string, options: { now: () => number; segmentBytes: number }) => Promise<ByteStore>;

const RUNS = soakCount(300);
const SEED = Number(process.env["SIDESTICK_SEED"] ?? Date.now() % 2 ** 31);

export function byteStoreContract(open: OpenBytes): void {
  describe("appending and reading", () => appendContract(open));
  describe("pruning and removing", () => pruneContract(open));
  describe("time", () => timeContract(open));
}

function appendContract(open: OpenBytes): void {
  test("[BYT-1] bytes go in at the end only, and a refusal answers the end", async () => {
    const store = await opened(open);

    expect(await store.append(ANN, 0, text("hello "))).toEqual({ ok: true, size: 6 });
    expect(await store.append(ANN, 0, text("hello "))).toEqual({ ok: false, size: 6 });
    expect(await store.append(ANN, 7, text("gap"))).toEqual({ ok: false, size: 6 });
    expect(await store.append(ANN, 6, text("world"))).toEqual({ ok: true, size: 11 });
    expect(await store.append(ANN, 11, text(""))).toEqual({ ok: true, size: 11 });
    expect(String(await read(store, ANN, 0))).toBe("hello world");
  });

  test("[BYT-1] of appends that race for one offset exactly one is stored", async () => {
    const store = await opened(open);

    const results = await Promise.all(["a", "b", "c"].map((it) => store.append(ANN, 0, text(it))));

    expect(results).toEqual([
      { ok: true, size: 1 },
      { ok: false, size: 1 },
      { ok: false, size: 1 },
    ]);
    expect(String(await read(store, ANN, 0))).toBe("a");
  });

  test("[BYT-2] a stream that was never written is empty", async () => {
    const store = await opened(open);

    expect([await store.size(ANN), await store.oldest(ANN), await store.offsetAt(ANN, 1e15)]).toEqual([0, 0, 0]);
    expect(await store.read(ANN, 0, 10)).toHaveLength(0);
    expect(await store.streams()).toEqual([]);
  });

  test(`[BYT-2] any pieces read back as one, from any offset, also after reopening (seed ${SEED})`, async () => {
    const piece = fc.uint8Array({ minLength: 1, maxLength: 60 });
    const pieces = fc.array(piece, { minLength: 1, maxLength: 20 });
    const history = fc.asyncProperty(pieces, fc.nat(), fc.nat(200), async (written, from, maxBytes) => {
      const directory = await temporaryDirectory();
      const first = await open(directory, { now: Date.now, segmentBytes: 100 });
      for (const bytes of written) await first.append(ANN, await first.size(ANN), bytes);
      const whole = Buffer.concat(written);
      const offset = from % (whole.length + 1);
      const expected = whole.subarray(offset, offset + maxBytes);
      expect(expected.equals(await first.read(ANN, offset, maxBytes))).toBe(true);
      await first.close();

      const second = await open(directory, { now: Date.now, segmentBytes: 100 });
      expect(expected.equals(await second.read(ANN, offset, maxBytes))).toBe(true);
      expect(await second.append(ANN, whole.length, text("!"))).toEqual({ ok: true, size: whole.length + 1 });
      await second.close();
    });
    await fc.assert(history, { seed: SEED, numRuns: RUNS });
  });

  test("[BYT-6] a name that isn't a UUID is refused", async () => {
    const store = await opened(open);

    for (const name of ["..", "", "a", `../${ANN}`, `${ANN}/..`, ANN.toUpperCase().replace("1", "A"), `${ANN}\n`]) {
      await expect(store.append(name, 0, text("x"))).rejects.toThrow("not a stream's name");
      await expect(store.read(name, 0, 1)).rejects.toThrow("not a stream's name");
      await expect(store.remove(name)).rejects.toThrow("not a stream's name");
    }
    expect(await store.streams()).toEqual([]);
  });
}

function pruneContract(open: OpenBytes): void {
  test("[BYT-5] pruning removes whole old segments but never the newest", async () => {
    const directory = await temporaryDirectory();
    const store = await opened(open, directory);
    for (let index = 0; index < 10; index += 1) await store.append(ANN, index * 100, Buffer.alloc(100, index));

    expect(await store.prune(ANN, 450)).toBe(600);
    expect([await store.oldest(ANN), await store.size(ANN)]).toEqual([600, 1_000]);
    await expect(store.read(ANN, 599, 10)).rejects.toEqual(new CursorExpired(600));
    expect(await store.read(ANN, 600, 5)).toEqual(Buffer.alloc(5, 6));
    expect(await store.prune(ANN, 0)).toBe(300);
    expect(await store.prune(ANN, 0)).toBe(0);
    expect(await store.append(ANN, 1_000, text("on"))).toEqual({ ok: true, size: 1_002 });
    expect(await store.oldest(ANN)).toBe(900);
    await store.close();

    const again = await opened(open, directory);
    expect([await again.oldest(ANN), await again.size(ANN)]).toEqual([900, 1_002]);
  });

  test("[BYT-10] a removed stream is as one that never was", async () => {
    const store = await opened(open);
    await store.append(ANN, 0, text("gone"));
    await store.append(BOB, 0, text("stays"));

    await store.remove(ANN);

    expect(await store.streams()).toEqual([BOB]);
    expect(await store.size(ANN)).toBe(0);
    expect(await store.append(ANN, 0, text("anew"))).toEqual({ ok: true, size: 4 });
    expect(String(await read(store, ANN, 0))).toBe("anew");
    expect((await store.streams()).toSorted()).toEqual([ANN, BOB]);
  });
}

function timeContract(open: OpenBytes): void {
  test("[BYT-8] an instant leads to the offset that had been reached by then", async () => {
    let now = 1_000;
    const directory = await temporaryDirectory();
    const options = { now: () => now, segmentBytes: 100 };
    const store = await open(directory, options);
    for (let index = 0; index < 10; index += 1) {
      await store.append(ANN, index * 60, Buffer.alloc(60));
      now += 1_000;
    }
    const offsets = async (it: ByteStore): Promise<number[]> =>
      await Promise.all([0, 999, 1_000, 1_500, 2_000, 9_999, 10_000, 1e15].map((atMs) => it.offsetAt(ANN, atMs)));

    expect(await offsets(store)).toEqual([0, 0, 60, 60, 120, 540, 600, 600]);
    await store.close();
    const again = await open(directory, options);
    onTestFinished(() => again.close());
    expect(await offsets(again)).toEqual([0, 0, 60, 60, 120, 540, 600, 600]);
    await again.prune(ANN, 100);
    expect(await offsets(again)).toEqual([480, 480, 480, 480, 480, 540, 600, 600]);
  });

  test("[BYT-13] when each burst began and ended is told, also after reopening", async () => {
    const directory = await temporaryDirectory();
    let now = 1_000;
    const options = { now: () => now, segmentBytes: 10_000 };
    const store = await open(directory, options);
    // Two bursts of three pieces each, 20 ms apart, with ten seconds between the bursts.
    for (const at of [1_000, 1_020, 1_040, 11_000, 11_020, 11_040]) {
      now = at;
      await store.append(ANN, await store.size(ANN), text("0123456789"));
    }
    const told = [
      [1_000, 10],
      [1_040, 30],
      [11_000, 40],
      [11_040, 60],
    ];

    expect(await store.times(ANN)).toEqual(told);
    await store.close();
    const again = await open(directory, options);
    onTestFinished(() => again.close());
    expect([await again.times(ANN), await again.times(BOB)]).toEqual([told, []]);
  });
}

async function opened(open: OpenBytes, directory?: string): Promise<ByteStore> {
  const store = await open(directory ?? (await temporaryDirectory()), { now: Date.now, segmentBytes: 100 });
  onTestFinished(() => store.close());
  return store;
}

async function read(store: ByteStore, stream: string, offset: number): Promise<Buffer> {
  return Buffer.from(await store.read(stream, offset, 1e6));
}

function text(content: string): Buffer {
  return Buffer.from(content);
}
