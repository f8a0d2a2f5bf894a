/** A thread in place of the probe's: blocks for ever, ends or answers, as the descriptor it is given says. */
import { parentPort } from "node:worker_threads";

export const STUCK = 1;
export const THROWS = 2;

parentPort?.on("message", ({ id, target }: { readonly id: number; readonly target: { readonly fd: number } }) => {
  if (target.fd === STUCK) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
  if (target.fd === THROWS) throw new Error("it broke");
  parentPort?.postMessage({ id, look: { waiting: false, confidence: "high", reason: `looked at ${target.fd}` } }, []);
});
parentPort?.postMessage({ id: 0 }, []);
