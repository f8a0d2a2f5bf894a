import { existsSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { encodeMessage } from "../protocol/link.ts";
import { eventually } from "../../test/support/eventually.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { Spool, type SpoolLimits } from "./spool.ts";

const LIMITS: SpoolLimits = { memoryBytes: 4_000, fileBytes: 20_000 };

type Opened = { readonly spool: Spool; readonly path: string; readonly state: { isFull: boolean; turns: number } };

function open(path: string, limits = LIMITS): Opened {
  const state = { isFull: false, turns: 0 };
  const turn = (isFull: boolean) => () => {
    state.isFull = isFull;
    state.turns += 1;
  };
  const spool = new Spool({ path, limits, onFull: turn(true), onRoom: turn(false) });
  onTestFinished(() => spool.close());
  return { spool, path, state };
}

async function opened(limits?: SpoolLimits): Promise<Opened> {
  return open(join(await temporaryDirectory(), "spool"), limits);
}

/** The message of one order; its body makes it as long as wanted. */
function message(order: number, bytes = 300): Uint8Array[] {
  return [encodeMessage({ type: "PING", at: order }, new Uint8Array(bytes))];
}

function ordersIn(parts: readonly Uint8Array[]): number[] {
  return parts.map((part) => {
    const view = Buffer.from(part.buffer, part.byteOffset, part.byteLength);
    return (JSON.parse(view.subarray(8, 8 + view.readUInt32BE(4)).toString()) as { at: number }).at;
  });
}

function upTo(last: number, first = 1): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

function fill(spool: Spool, count: number): void {
  for (let n = 0; n < count; n += 1) spool.push(message(spool.last + 1));
}

function drain(spool: Spool): number[] {
  const orders: number[] = [];
  for (let more = spool.take(1000); more.length > 0; more = spool.take(1000)) {
    orders.push(...ordersIn(more));
    spool.acknowledge(orders.at(-1)!);
  }
  return orders;
}

test("[HST-1, HST-5] what is taken is dense and in order, whatever comes, goes and is acknowledged", async () => {
  const directory = await temporaryDirectory();
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ do: fc.constant("push" as const), n: fc.integer({ min: 1, max: 30 }) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant("take" as const), n: fc.integer({ min: 1, max: 9000 }) }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("acknowledge" as const), n: fc.integer({ min: 0, max: 30 }) }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("attach" as const), n: fc.integer({ min: 0, max: 30 }) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("detach" as const), n: fc.constant(0) }) },
  );
  const property = fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const { spool } = open(join(directory, crypto.randomUUID()));
    let taken = 0;
    for (const { do: what, n } of steps) {
      if (what === "push") fill(spool, n);
      if (what === "detach") spool.detach();
      // A hub knows at most what it was sent.
      if (what === "acknowledge") spool.acknowledge(Math.max(spool.acknowledged, taken - n));
      if (what === "attach") {
        spool.attach(Math.max(0, taken - n));
        taken = spool.acknowledged;
      }
      if (what === "take") {
        const orders = ordersIn(spool.take(n));
        expect(orders).toEqual(upTo(taken + orders.length, taken + 1));
        taken += orders.length;
      }
    }
    spool.attach(0);
    const from = spool.acknowledged;
    expect(drain(spool)).toEqual(upTo(spool.last, from + 1));
    spool.close();
  });
  fc.assert(property, { numRuns: 200 });
});

test("[HST-5] what doesn't fit into memory goes to a file for its owner alone, which is gone in the end", async () => {
  const { spool, path } = await opened();
  fill(spool, 40);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(path).size).toBeGreaterThan(5_000);

  spool.attach(0);

  expect(drain(spool)).toEqual(upTo(40));
  expect(statSync(path).size).toBe(0);
  spool.close();
  expect(existsSync(path)).toBe(false);
});

test("[HST-6] a full file asks for a pause, once, and there is room when it was taken", async () => {
  const { spool, state } = await opened();
  fill(spool, 200);
  expect(state).toEqual({ isFull: true, turns: 1 });

  spool.attach(0);

  expect(drain(spool)).toEqual(upTo(200));
  expect(state).toEqual({ isFull: false, turns: 2 });
});

test("[HST-7] a hub that takes but doesn't acknowledge makes it full at its memory, without a file", async () => {
  const { spool, state, path } = await opened();
  spool.attach(0);
  fill(spool, 12);
  expect(ordersIn(spool.take(1e9))).toEqual(upTo(12));
  expect(state).toEqual({ isFull: true, turns: 1 });

  spool.acknowledge(11);

  expect(state).toEqual({ isFull: false, turns: 2 });
  expect(existsSync(path)).toBe(false);
});

test("[HST-8] a disk without room costs nothing but a pause", async () => {
  const path = join(await temporaryDirectory(), "spool");
  // Not the device itself: a spool removes its file.
  symlinkSync("/dev/full", path);
  const { spool, state } = open(path);
  fill(spool, 30);
  expect(state.isFull).toBe(true);

  spool.attach(0);

  expect(drain(spool)).toEqual(upTo(30));
  await eventually(() => expect(state.isFull).toBe(false));
});

test("[HST-1] adoption repeats what was sent and not acknowledged, and nothing else", async () => {
  const { spool } = await opened();
  spool.attach(0);
  fill(spool, 6);
  spool.take(1e9);
  spool.acknowledge(2);
  spool.detach();

  spool.attach(4);

  expect(ordersIn(spool.take(1e9))).toEqual([5, 6]);
});
