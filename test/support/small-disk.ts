/** A hub whose data lies on a file system of its own, small enough to be filled. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { addressOf, leaveOpen, operatorClient, tokenOf } from "./hub.ts";
import { endHost } from "./terminal-hub.ts";
import { UNJUDGED } from "./policy.ts";

/** Only root: from a user namespace the hub would take the test for somebody in a container, and refuse it. */
export function canMount(): boolean {
  if (process.getuid?.() !== 0) return false;
  return spawnSync("unshare", ["-m", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
}

export type SmallDisk = {
  readonly url: string;
  readonly operator: SidestickClient;
  readonly agentToken: string;
  readonly fill: () => Promise<void>;
  readonly free: () => Promise<void>;
};

/** It ends with the test, and the mount, which only the hub sees, goes with it. */
export async function spawnOnSmallDisk(composition: "hub" | "terminal-hub" = "hub"): Promise<SmallDisk> {
  const mountPoint = await mkdtemp(join(tmpdir(), "sidestick-"));
  // What agents do isn't judged there.
  const script = `mount -t tmpfs -o size=24m,mode=700 tmpfs "$1" && umask 077 && printf '%s' "$4" > "$1/policy.yaml" &&
    exec "$2" "$3" --port 0 --data-dir "$1"`;
  const hub = new URL(`../composition/${composition}.ts`, import.meta.url).pathname;
  const args = ["-m", "sh", "-c", script, "sh", mountPoint, process.execPath, hub, UNJUDGED];
  const env = { ...process.env, XDG_CONFIG_HOME: mountPoint, XDG_STATE_HOME: mountPoint };
  const child = spawn("unshare", args, { stdio: ["ignore", "pipe", "inherit"], env });
  // Through the hub's own eyes: nobody else sees what is mounted there.
  const inside = `/proc/${child.pid}/root${mountPoint}`;
  onTestFinished(async () => {
    // The host outlives the hub, and only through the hub's eyes its socket can be seen.
    if (composition === "terminal-hub") await endHost(inside);
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
    await rm(mountPoint, { recursive: true, force: true });
  });
  const url = await addressOf(child);
  if (composition === "terminal-hub") await leaveOpen(inside);
  const ballast = join(inside, "ballast");
  return {
    url,
    operator: operatorClient(inside),
    agentToken: await tokenOf(inside, "agent", "bot"),
    fill: () => fill(ballast),
    free: () => rm(ballast),
  };
}

async function fill(path: string): Promise<void> {
  const file = await open(path, "a");
  try {
    for (const bytes of [64 * 1024, 1]) {
      const block = Buffer.alloc(bytes, 1);
      while (
        (await file.write(block).then(
          (it) => it.bytesWritten,
          () => 0,
        )) === bytes
      );
    }
  } finally {
    await file.close();
  }
}
