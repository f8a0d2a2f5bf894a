import * as fc from "fast-check";
import { expect, test } from "vitest";
import { AppError } from "../protocol/errors.ts";
import { Backoff, isTransient, TIMING } from "./retry.ts";
import { HubUnreachable } from "./unreachable.ts";
import { Unreadable } from "./unreadable.ts";

test("[SDK-12] pauses double from 250 ms to 10 s, vary by half, and begin anew after a success", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), (attempts) => {
      const backoff = new Backoff(TIMING);

      const pauses = Array.from({ length: attempts }, () => backoff.nextMs());
      backoff.reset();
      pauses.push(backoff.nextMs());

      const ceilings = [...Array.from({ length: attempts }, (_, at) => Math.min(10_000, 250 * 2 ** at)), 250];
      expect(pauses.every((pause, at) => pause <= (ceilings[at] ?? 0) && pause >= (ceilings[at] ?? 0) / 2)).toBe(true);
    }),
  );
});

test.each([
  { error: new HubUnreachable("away"), transient: true },
  { error: new AppError("storage_unavailable"), transient: true },
  { error: new AppError("limit_reached"), transient: true },
  { error: new AppError("internal", { detail: "a proxy's fault" }, { status: 502 }), transient: true },
  { error: new AppError("unauthenticated"), transient: false },
  { error: new AppError("cursor_expired"), transient: false },
  { error: new AppError("internal", { detail: "a newer refusal" }, { status: 409 }), transient: false },
  { error: new Unreadable("no hub"), transient: false },
  { error: new TypeError("a bug"), transient: false },
])("[SDK-12] trying again after $error.message: $transient", ({ error, transient }) => {
  expect(isTransient(error)).toBe(transient);
});
