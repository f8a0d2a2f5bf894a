import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { isInstanceLocked, takeInstanceLock } from "./instance-lock.ts";

/** A process that holds it until its input ends. */
async function held(
  path: string,
  how: "--shared" | "--exclusive",
): Promise<ChildProcessByStdio<Writable, Readable, null>> {
  const child = spawn("flock", [how, path, "sh", "-c", "echo held; read line"], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  await once(child.stdout, "data");
  return child;
}

test("[RML-42] a host starts also in the moment in which somebody looks whether one runs", async () => {
  const path = join(await temporaryDirectory(), "lock");
  const looking = await held(path, "--shared");
  // What takes it is loaded by then: the first attempt comes before the other is gone.
  expect(await isInstanceLocked(path)).toBe(false);

  const taken = takeInstanceLock(path);
  looking.stdin.end();

  const unlock = await taken;
  expect(unlock).toBeDefined();
  unlock?.();
});

test("[RML-42] of two the second is told, and whoever looks sees the first", async () => {
  const path = join(await temporaryDirectory(), "lock");
  const first = await held(path, "--exclusive");

  const states = [await takeInstanceLock(path), await isInstanceLocked(path)];
  first.stdin.end();
  await once(first, "exit");

  expect([...states, await isInstanceLocked(path)]).toEqual([undefined, true, false]);
});
