import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { ProcessTree } from "./process-tree.ts";

test("[PTY-44] a process that begins a session of its own after it was seen is still ended (needs perl)", async () => {
  // As a shell does a moment after it was forked.
  const child = spawn("perl", [
    "-MPOSIX",
    "-e",
    '$| = 1; print "seen?"; <STDIN>; setsid() > 0 or die; print "moved"; sleep 1000',
  ]);
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  const tree = new ProcessTree([child.pid!]);
  child.stdin.write("\n");
  expect(String(await once(child.stdout, "data"))).toBe("moved");

  expect(tree.alive).toEqual([child.pid]);
  const exited = once(child, "exit");
  tree.signal("SIGKILL");
  await exited;

  expect(await tree.goneWithin(DEADLINE_MS)).toBe(true);
});
