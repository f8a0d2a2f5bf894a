/** The product as a process, whose agents' terminals are guarded: their home lies outside of the data directory. */
import { execFile, spawn } from "node:child_process";
import { chown, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SidestickClient } from "../../src/client/sidestick.ts";
import type { Role } from "../../src/domain/actor.ts";
import { takeDown } from "../../src/main/down.ts";
import { spareFish } from "./empty-home.ts";
import { addressOf } from "./hub.ts";
import { CLI } from "./run-cli.ts";

export type GuardedHub = {
  readonly url: string;
  readonly home: string;
  readonly dataDir: string;
  readonly agent: SidestickClient;
  readonly person: SidestickClient;
  /** What `beforeAll` returns: the host and its sessions end too. */
  readonly end: () => Promise<void>;
};

/** Absent: as whoever runs the tests. */
export type RunsAs = { readonly uid: number; readonly gid: number };

export async function openGuardedHub(as?: RunsAs): Promise<GuardedHub> {
  const base = await realpath(await mkdtemp(join(tmpdir(), "sidestick-")));
  const [home, dataDir, state] = ["home", "data", "state"].map((it) => join(base, it)) as [string, string, string];
  await mkdir(dataDir);
  await mkdir(state);
  await spareFish(home);
  if (as !== undefined) await giveAway([base, dataDir, state, ...parentsOfFish(home)], as);
  const env = { PATH: process.env["PATH"] ?? "", HOME: home, XDG_CONFIG_HOME: state, XDG_STATE_HOME: state };
  const options = { ...as, env, cwd: "/" };
  const script = new URL("../composition/guarded-hub.ts", import.meta.url).pathname;
  const args = [script, "--port", "0", "--data-dir", dataDir];
  const child = spawn(process.execPath, args, { ...options, stdio: ["ignore", "pipe", "inherit"] });
  const url = await addressOf(child);
  const clientOf = async (role: Role): Promise<SidestickClient> => {
    const token = [CLI, "token", "create", "--role", role, "--name", role, "--data-dir", dataDir];
    const { stdout } = await promisify(execFile)(process.execPath, token, options);
    return new SidestickClient({ url, token: stdout.trim() });
  };
  const end = async (): Promise<void> => {
    await takeDown(dataDir);
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  const [agent, person] = await Promise.all([clientOf("agent"), clientOf("operator")]);
  return { url, home, dataDir, agent, person, end };
}

function parentsOfFish(home: string): string[] {
  const parts = [".local", "share", "fish", "generated_completions"];
  return [home, ...parts.map((_, index) => join(home, ...parts.slice(0, index + 1)))];
}

async function giveAway(paths: readonly string[], { uid, gid }: RunsAs): Promise<void> {
  await Promise.all(paths.map((path) => chown(path, uid, gid)));
}
