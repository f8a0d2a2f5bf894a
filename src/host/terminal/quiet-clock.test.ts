import { onTestFinished, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { MovableTime } from "../../../test/support/movable-time.ts";
import { QuietClock } from "./quiet-clock.ts";

function clockOf(rungsMs: readonly number[]): { readonly clock: QuietClock; readonly fired: number[] } {
  const fired: number[] = [];
  const clock = new QuietClock(rungsMs, (ms) => fired.push(ms));
  onTestFinished(() => clock.close());
  return { clock, fired };
}

test("[PTY-9] silence is told rung by rung, once", async () => {
  const { clock, fired } = clockOf([5, 10, 20]);
  const other = clockOf([5, 10, 20, 60]);

  clock.stir();
  other.clock.stir();

  await eventually(() => expect(other.fired).toEqual([5, 10, 20, 60]));
  expect(fired).toEqual([5, 10, 20]);
});

test("[PTY-9] whatever happens begins the silence anew", async () => {
  const { clock, fired } = clockOf([5, 40]);

  clock.stir();
  await eventually(() => expect(fired).toEqual([5]));
  clock.stir();

  await eventually(() => expect(fired).toEqual([5, 5, 40]));
});

test("[PTY-9] the first rung after a long silence is not as late as the rung that was next", async () => {
  const { clock, fired } = clockOf([5, 60_000]);

  clock.stir();
  await eventually(() => expect(fired).toEqual([5]));
  clock.stir();

  await eventually(() => expect(fired).toEqual([5, 5]));
});

test("[PTY-36] a terminal that nobody reads has not been silent", () => {
  const time = new MovableTime();
  const clock = new QuietClock([60_000], () => undefined, time);
  onTestFinished(() => clock.close());

  clock.stir();
  time.move(5_000);
  const read = clock.silentMs;
  clock.hold();

  expect(read).toBeGreaterThanOrEqual(5_000);
  expect(clock.silentMs).toBe(0);
});

test("[PTY-9] silence is measured by the time that is given, from the last thing that happened", async () => {
  const time = new MovableTime();
  const [fired, before]: [number[], number[]] = [[], []];
  const clock = new QuietClock([60_000], (ms) => fired.push(ms), time);
  const other = new QuietClock([60_000], (ms) => before.push(ms), time);
  onTestFinished(() => [clock, other].forEach((it) => it.close()));

  clock.stir();
  other.stir();
  time.move(30_000);
  clock.stir();
  time.move(30_000);
  await eventually(() => expect(before).toEqual([60_000]));
  expect(fired).toEqual([]);
  time.move(30_000);

  await eventually(() => expect(fired).toEqual([60_000]));
});

test("[PTY-9] a rung fires no earlier than its silence", async () => {
  const fired: number[] = [];
  const begin = performance.now();
  const clock = new QuietClock([30], () => fired.push(performance.now() - begin));
  onTestFinished(() => clock.close());

  clock.stir();

  await eventually(() => expect(fired).toHaveLength(1));
  expect(fired[0]).toBeGreaterThanOrEqual(30);
});

test("[PTY-10] nothing is told before anything happened", async () => {
  const idle = clockOf([1]);
  const other = clockOf([30]);

  other.clock.stir();

  await eventually(() => expect(other.fired).toEqual([30]));
  expect(idle.fired).toEqual([]);
});

test("[PTY-11] silence while nobody reads is not told; it counts from the return", async () => {
  const { clock, fired } = clockOf([5]);
  const other = clockOf([30]);

  clock.stir();
  clock.hold();
  other.clock.stir();
  await eventually(() => expect(other.fired).toEqual([30]));
  expect(fired).toEqual([]);

  clock.release();
  await eventually(() => expect(fired).toEqual([5]));
});
