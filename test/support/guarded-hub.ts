/** The product as a process, whose agents' terminals are guarded: their home lies outside of the data directory. */
import { execFile, spawn } from "node:child_process";
import { chown, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { takeDown } from "../../src/main/down.ts";
import { compileCache } from "./compile-cache.ts";
import { spareFish } from "./empty-home.ts";
import { addressOf, tokenOf } from "./hub.ts";
import { letAgentsBe } from "./policy.ts";
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

export type RunsAs = { readonly uid: number; readonly gid: number };

export type GuardedHubOptions = {
  /** Absent: as whoever runs the tests. */
  readonly as?: RunsAs | undefined;
  readonly args?: readonly string[];
  /** Absent: what agents do isn't judged. */
  readonly policy?: string;
};

export async function openGuardedHub(options: GuardedHubOptions = {}): Promise<GuardedHub> {
  const { as, args: more = [], policy } = options;
  const base = await realpath(await mkdtemp(join(tmpdir(), "sidestick-")));
  const [home, dataDir, state] = ["home", "data", "state"].map((it) => join(base, it)) as [string, string, string];
  await mkdir(dataDir);
  await mkdir(state);
  await letAgentsBe(dataDir, policy);
  await spareFish(home);
  if (as !== undefined)
    await giveAway([base, dataDir, join(dataDir, "policy.yaml"), state, ...parentsOfFish(home)], as);
  const env = {
    ...compileCache(as),
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    XDG_CONFIG_HOME: state,
    XDG_STATE_HOME: state,
  };
  const running = { ...as, env, cwd: "/" };
  const script = new URL("../composition/guarded-hub.ts", import.meta.url).pathname;
  const args = [script, "--port", "0", "--data-dir", dataDir, ...more];
  const child = spawn(process.execPath, args, { ...running, stdio: ["ignore", "pipe", "inherit"] });
  const url = await addressOf(child);
  // The hub's socket answers its own account alone.
  const operatorToken = async (): Promise<string> => {
    if (as === undefined) return tokenOf(dataDir, "operator", "operator");
    const token = [CLI, "token", "create", "--role", "operator", "--name", "operator", "--data-dir", dataDir];
    return (await promisify(execFile)(process.execPath, token, running)).stdout.trim();
  };
  const end = async (): Promise<void> => {
    await takeDown(dataDir);
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  const person = new SidestickClient({ url, token: await operatorToken() });
  const { token } = await person.token.create({ role: "agent", name: "agent" });
  const agent = new SidestickClient({ url, token });
  return { url, home, dataDir, agent, person, end };
}

function parentsOfFish(home: string): string[] {
  const parts = [".local", "share", "fish", "generated_completions"];
  return [home, ...parts.map((_, index) => join(home, ...parts.slice(0, index + 1)))];
}

async function giveAway(paths: readonly string[], { uid, gid }: RunsAs): Promise<void> {
  await Promise.all(paths.map((path) => chown(path, uid, gid)));
}
