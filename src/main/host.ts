/**
 * `sidestick host`: the program that runs sessions, until it is told to end or has nothing to do. The hub starts it
 * detached; signals of a terminal don't reach what people run in it. Rules HST-15..HST-18 in docs/spec/host.md.
 */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createConnection } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { listenForHubs } from "../host/link/link-server.ts";
import { openPeerReader } from "../server/peer.ts";
import { type HostComposition, type HostParts, PRODUCT, serveHost } from "./serve-host.ts";
import { placesOf, readSettings, SettingsError } from "./settings.ts";

export const LOCAL_HOST_ID = "local";

type HostSettings = {
  readonly dataDir: string;
  readonly ours: readonly string[];
  readonly idleMs?: number | undefined;
};

const HELP = `Usage: sidestick host [--data-dir DIR] [--idle-seconds N] [--hide DIR]...

Runs sessions for the hub. \`sidestick up\` starts it by itself.
Other machines run sessions too; each of these has its own --help:

  host invite         at the hub: makes a code with which a machine joins
  host join           there: joins, and runs sessions for the hub
  host status         there: tells whether it reaches its hub
  host install        there: writes a systemd unit for it
  host remove         at the hub: forgets it
  hosts               at the hub: lists them

Options of \`sidestick host\` alone:

  --data-dir DIR      the hub's data directory
  --idle-seconds N    ends after this long without a session and without a hub (default 60)
  --hide DIR          what else a guard hides of Sidestick's own`;
/** As long as a hub waits for it: whoever holds the lock may be starting, on a machine however busy. */
const ALIVE_WITHIN_MS = 30_000;

/** Resolves with the exit code when the host has ended. */
export async function runHost(argv: readonly string[], composition = PRODUCT): Promise<number> {
  if (argv.includes("--help") || argv.includes("-h")) {
    console.log(HELP);
    return 0;
  }
  process.umask(0o077);
  let settings: HostSettings;
  try {
    settings = readHostSettings(argv);
  } catch (error) {
    console.error(`sidestick: ${(error as Error).message}`);
    return 2;
  }
  ignoreTerminalSignals();
  try {
    return await serve(settings, composition);
  } catch (error) {
    console.error(`sidestick: ${whyNot(error, settings)}`);
    return 1;
  }
}

async function serve({ dataDir, ours, idleMs }: HostSettings, composition: HostComposition): Promise<number> {
  const path = join(dataDir, "host", "link.sock");
  const way = async ({ logger }: HostParts) => listenForHubs({ path, peerOf: await openPeerReader(), logger });
  const local = { dataDir, hostId: LOCAL_HOST_ID, ours, way, idleMs, started: () => undefined };
  return (await serveHost(local, composition)) ? 0 : alreadyRunning(join(dataDir, "host"), composition);
}

async function alreadyRunning(
  directory: string,
  { aliveWithinMs = ALIVE_WITHIN_MS }: HostComposition,
): Promise<number> {
  for (const started = performance.now(); performance.now() - started < aliveWithinMs; await sleep(50)) {
    if (!(await isAlive(join(directory, "link.sock")))) continue;
    console.log(`A host already runs there (pid ${readFileSync(join(directory, "lock"), "utf8").trim()}).`);
    return 0;
  }
  console.error(`sidestick: Another host holds ${directory}, but does not answer.`);
  return 1;
}

async function isAlive(path: string): Promise<boolean> {
  const socket = createConnection({ path });
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

function readHostSettings(argv: readonly string[]): HostSettings {
  const text = { type: "string" } as const;
  const options = { "data-dir": text, "idle-seconds": text, hide: { type: "string", multiple: true } } as const;
  const { values } = parseArgs({ args: [...argv], options, strict: true, allowPositionals: false });
  const directory = values["data-dir"] === undefined ? [] : ["--data-dir", values["data-dir"]];
  const read = readSettings(directory, process.env);
  const { dataDir } = read;
  const ours = [...new Set([...placesOf(read, process.env), ...(values.hide ?? [])])];
  const idle = values["idle-seconds"];
  if (idle === undefined) return { dataDir, ours };
  if (!/^\d{1,6}$/.test(idle)) throw new SettingsError(`--idle-seconds is "${idle}", but should be a whole number.`);
  return { dataDir, ours, idleMs: Number(idle) * 1000 };
}

/** Whoever presses Ctrl+C in the terminal of the hub, or closes it, doesn't mean the shells. */
function ignoreTerminalSignals(): void {
  for (const signal of ["SIGHUP", "SIGINT", "SIGPIPE"] as const) process.on(signal, () => undefined);
}

function whyNot(error: unknown, { dataDir }: HostSettings): string {
  const { code, syscall, message } = error as NodeJS.ErrnoException;
  if (code === "EINVAL" && syscall === "listen") {
    return `The path of ${dataDir} is too long for a socket (host/link.sock in it may have 107 bytes). Choose a shorter one: --data-dir DIR`;
  }
  return code === undefined ? message : `The host can't run in ${dataDir} (${code}): ${message}`;
}
