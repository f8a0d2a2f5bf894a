/**
 * `sidestick guard`: an agent's program on the person's own terminal, in a guard. It knows the hub by an address and a
 * token that lives as long as the program does. Rule GRD-23 in docs/spec/guard.md.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, readFileSync, statSync } from "node:fs";
import { constants as os } from "node:os";
import { delimiter, resolve } from "node:path";
import type { Writable } from "node:stream";
import type { SidestickClient } from "../client/sidestick.ts";
import { overlap } from "../host/guard/guard-layout.ts";
import { guardAbility, guarded } from "../host/guard/guard.ts";
import type { GuardAbility, GuardTerms } from "../protocol/link.ts";
import { type Environment, placesOf, readSettings } from "./settings.ts";

export type GuardedRun = {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** Of the agent. */
  readonly name: string;
  readonly terms: GuardTerms;
  /** As the operator. */
  readonly client: SidestickClient;
  readonly dataDir: string;
};

export function guardHere(): GuardAbility {
  return guardAbility();
}

/** Resolves with the exit code when the program and all that it started are dead; dies by the signal that it died by. */
export async function runGuarded(run: GuardedRun, note: (text: string) => void): Promise<number> {
  const { client, dataDir, name, terms, file, args } = run;
  await using cleanup = new AsyncDisposableStack();
  const { url, hidden } = await client.hub.places();
  const ours = ownPlaces(hidden, dataDir);
  const told: Record<string, string> = {};
  if (terms.network !== false) {
    told["SIDESTICK_URL"] = url;
    told["SIDESTICK_TOKEN"] = await borrowToken({ client, name, note, cleanup });
  }
  const terminal = process.stdin.isTTY && process.stdout.isTTY ? "kept" : "none";
  const program = { file, args, env: personsEnvironment(process.env), cwd: process.cwd() };
  const start = guarded(program, { planIn: PLAN_FD, ours, shown: [], terms, told, terminal });
  for (const path of start.left) note(`${path} isn't there and could not be made, so the program may make it.`);
  const child = spawn(start.file, start.args, { env: start.env, stdio: ["inherit", "inherit", "inherit", "pipe"] });
  const planned = child.stdio[PLAN_FD] as Writable;
  // It ended before it had read all: its end says so.
  planned.on("error", () => undefined).end(start.plan);
  const { code, signal } = await endOf(child);
  await cleanup.disposeAsync();
  if (signal === null) return code ?? 1;
  if (!CORE.has(signal)) process.kill(process.pid, signal);
  return 128 + os.signals[signal];
}

const PLAN_FD = 3;

/** A person sees that the program died; that it was us who dumped a core would only confuse. */
const CORE = new Set<NodeJS.Signals>("SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGSEGV SIGSYS".split(" ") as never);

/** Which of the paths that are to be shown would show what is ours. */
export async function shownOfOurs(
  client: SidestickClient,
  dataDir: string,
  { shown = [] }: GuardTerms,
): Promise<string | undefined> {
  if (shown.length === 0) return undefined;
  const ours = ownPlaces((await client.hub.places()).hidden, dataDir);
  const home = process.env.HOME ?? "/";
  return shown.find((path) => ours.some((own) => overlap(path.replace(/^~(?=\/)/, home), own)));
}

/** The hub's own, and those of a hub that would be started here. */
function ownPlaces(hidden: readonly string[], dataDir: string): readonly string[] {
  return [...new Set([dataDir, ...hidden, ...placesOf(readSettings([], process.env), process.env)])];
}

/** The file behind a word of a command line. */
export function findProgram(word: string): string | undefined {
  const path = (process.env.PATH ?? "").split(delimiter).filter((it) => it !== "");
  const places = word.includes("/") ? [resolve(word)] : path.map((it) => resolve(it, word));
  return places.find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

const LIFETIME_SECONDS = 600;
const RENEW_AFTER_MS = 300_000;
/** Often, by the clock on the wall: after a suspend the token is over and soon renewed. */
const LOOK_EVERY_MS = 15_000;

type Borrowing = {
  readonly client: SidestickClient;
  readonly name: string;
  readonly note: (text: string) => void;
  readonly cleanup: AsyncDisposableStack;
};

/** Short-lived, in case nobody is left to revoke it; renewed while we live. */
async function borrowToken({ client, name, note, cleanup }: Borrowing): Promise<string> {
  const made = await client.token.create({ role: "agent", name, expiresInSeconds: LIFETIME_SECONDS });
  const { tokenId } = made;
  let renewedAt = Date.now();
  const timer = setInterval(() => {
    if (Math.abs(Date.now() - renewedAt) < RENEW_AFTER_MS) return;
    // A hub that is away is asked again at the next look.
    client.token.renew({ tokenId, expiresInSeconds: LIFETIME_SECONDS }).then(
      () => (renewedAt = Date.now()),
      () => undefined,
    );
  }, LOOK_EVERY_MS);
  cleanup.defer(async () => {
    clearInterval(timer);
    try {
      await client.token.revoke({ tokenId });
    } catch {
      note("The program's token could not be revoked; it is of no use in ten minutes.");
    }
  });
  return made.token;
}

/** Without what npm adds when it runs us: the program is the person's, with their PATH. */
function personsEnvironment(env: Environment): Record<string, string> {
  const entries = Object.entries(env).filter((it): it is [string, string] => it[1] !== undefined);
  if (env.npm_execpath === undefined) return Object.fromEntries(entries);
  const kept = entries.filter(([name]) => !/^(?:npm_.*|INIT_CWD|NODE|COLOR)$/.test(name));
  const path = (env.PATH ?? "").split(delimiter).filter((it) => !/node_modules|node-gyp-bin/.test(it));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) };
}

/** What a terminal says it says to all of the group in front: then the program has heard it without us. */
async function endOf(child: ChildProcess): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
  const handlers = new Map<NodeJS.Signals, () => void>([
    ...(["SIGINT", "SIGQUIT"] as const).map((name) => [name, () => void (isInFront() || child.kill(name))] as const),
    ...(["SIGTERM", "SIGHUP"] as const).map((name) => [name, () => void child.kill(name)] as const),
  ]);
  for (const [name, handler] of handlers) process.on(name, handler);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return { code, signal };
  } finally {
    for (const [name, handler] of handlers) process.off(name, handler);
  }
}

function isInFront(): boolean {
  // pid (name) state ppid pgrp session tty_nr tpgid …; the name may hold anything.
  const [, , group, , , front] = readFileSync("/proc/self/stat", "utf8")
    .replace(/^.*\) /s, "")
    .split(" ");
  return group === front;
}
