import { expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { Launched } from "./launcher.ts";
import type { PtyListener } from "./pty.ts";
import { startOnPty } from "./started-pty.ts";

const PLACE = { cwd: "/", size: { cols: 80, rows: 24 } };

function listening(): PtyListener & { readonly heard: string[] } {
  const heard: string[] = [];
  return { heard, data: (bytes) => void heard.push(bytes.toString()), exit: () => void heard.push("exit") };
}

function launched(script: string): Launched {
  const program = { file: "/bin/sh", args: ["-c", script], env: { PATH: "/usr/bin:/bin" } };
  return { ...program, tracking: () => "pid_namespace", keeper: { failed: "The guard could not be built" } };
}

test("[GRD-17] who runs is told by the first line, and nobody else sees it", async () => {
  const listener = listening();

  const { pid, pty, keepers } = await startOnPty(launched("printf '12 34\\nfirst'; exit 3"), PLACE, listener);

  expect({ pid, keepers }).toEqual({ pid: 12, keepers: [pty.pid, 34] });
  // Whoever is told that it runs has to come first.
  expect(listener.heard).toEqual([]);
  await eventually(() => expect(listener.heard).toEqual(["first", "exit"]));
});

test.each([
  { script: "printf '!no namespace\\nmore\\n'", why: "no namespace" },
  { script: "printf 'unshare: refused\\n'", why: "unshare: refused" },
  { script: "exit 1", why: "it ended before it said who runs" },
])("[GRD-19] of a guard that isn't built there is a reason, and no terminal: $why", async ({ script, why }) => {
  const [never, later] = [listening(), listening()];

  await expect(startOnPty(launched(script), PLACE, never)).rejects.toMatchObject({
    code: "kind_unavailable",
    details: { detail: `The guard could not be built: ${why}` },
  });

  // By the end of one that started after it, its own end has come too.
  await startOnPty(launched("echo 12; sleep 0.1"), PLACE, later);
  await eventually(() => expect(later.heard).toEqual(["exit"]));
  expect(never.heard).toEqual([]);
});
