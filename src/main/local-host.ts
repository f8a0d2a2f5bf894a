/**
 * The host on this machine: found if it runs, started if not, and started again if it died. It is a process of its own
 * that outlives the hub. Rules HST-15..HST-18 in docs/spec/host.md.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Logger } from "../lib/logger.ts";
import { ShutdownReply } from "../protocol/link-replies.ts";
import { HostDriver } from "../server/hosts/host-driver.ts";
import { HostLink } from "../server/hosts/host-link.ts";
import { socketAt } from "../server/hosts/wire.ts";
import { LOCAL_HOST_ID } from "./host.ts";
import type { Environment } from "./settings.ts";

export type LocalHostOptions = {
  readonly dataDir: string;
  readonly logger: Logger;
  /** Node's arguments; the data directory is added. */
  readonly program?: readonly string[] | undefined;
  /** What else of ours a guard hides. */
  readonly hidden?: readonly string[] | undefined;
};

export type LocalHost = {
  readonly driver: HostDriver;
  readonly link: HostLink;
  /** `idle`: once nothing runs. `now`: what runs is ended. Answers how many sessions there are. */
  readonly shutdown: (when: "idle" | "now") => Promise<number>;
  /** Lets the host run on. */
  readonly close: () => Promise<void>;
};

const CLI = join(import.meta.dirname, "..", "..", "bin", "main.mjs");
/** As in `bin/sidestick`. */
const PRODUCT = ["--disable-warning=ExperimentalWarning", "--initial-old-space-size=96", CLI, "host"];
/** One that dies is told at once: this is for one that hangs, on a machine however busy. */
const READY_WITHIN_MS = 30_000;
/** Between two starts of a host that dies at once. */
const RESTART_AFTER_MS = 1_000;

/** Rejects when no host can be had; then nothing is left open. */
export async function connectLocalHost(options: LocalHostOptions): Promise<LocalHost> {
  const { dataDir, logger, program = PRODUCT, hidden = [] } = options;
  const path = join(dataDir, "host", "link.sock");
  if (Buffer.byteLength(path) > SOCKET_PATH_MAX) throw new Error(tooLong(dataDir));
  const starter = new HostStarter({ dataDir, program, logger, hidden });
  const link = new HostLink({ connect: socketAt(path), logger, whenNobodyListens: () => starter.start() });
  const driver = new HostDriver({ link, hostId: LOCAL_HOST_ID, logger });
  try {
    await firstContact(link, starter);
  } catch (error) {
    link.close();
    throw error;
  }
  const shutdown = async (when: "idle" | "now"): Promise<number> => {
    starter.stop();
    const { fields } = await link.request({ type: "SHUTDOWN", when });
    return ShutdownReply.parse(fields).sessions;
  };
  const close = async (): Promise<void> => {
    link.close();
    await driver.close();
  };
  return { driver, link, shutdown, close };
}

/** Of the kernel. */
const SOCKET_PATH_MAX = 107;

function tooLong(dataDir: string): string {
  return `The path of ${dataDir} is too long for a socket (host/link.sock in it may have ${SOCKET_PATH_MAX} bytes). Choose a shorter one: --data-dir DIR`;
}

async function firstContact(link: HostLink, starter: HostStarter): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  link.listen({ frame: () => undefined, online: () => resolve(), offline: () => undefined, refused: reject });
  starter.onFailure = reject;
  const late = () =>
    reject(new Error(`The host did not start within ${READY_WITHIN_MS / 1000} s: ${starter.lastWords()}`));
  const timer = setTimeout(late, READY_WITHIN_MS);
  link.open();
  try {
    await promise;
  } finally {
    clearTimeout(timer);
    starter.onFailure = undefined;
  }
}

class HostStarter {
  readonly #options: Required<LocalHostOptions>;
  #child: ChildProcess | undefined;
  #startedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;
  /** It ended before it was ready. */
  onFailure: ((error: Error) => void) | undefined;

  constructor(options: Required<LocalHostOptions>) {
    this.#options = options;
  }

  /** True: one is about to listen. */
  start(): boolean {
    if (this.#child !== undefined) return performance.now() - this.#startedAt < READY_WITHIN_MS;
    if (this.#stopped || performance.now() - this.#startedAt < RESTART_AFTER_MS) return false;
    this.#startedAt = performance.now();
    const { dataDir, program, logger, hidden } = this.#options;
    const places = ["--data-dir", dataDir, ...(hidden ?? []).flatMap((it) => ["--hide", it])];
    const log = openSync(join(dataDir, "host.log"), "a", 0o600);
    const child = spawn(process.execPath, [...(program ?? []), ...places], {
      detached: true,
      cwd: "/",
      stdio: ["ignore", log, log],
      env: hostEnvironment(process.env),
    });
    closeSync(log);
    child.unref();
    this.#child = child;
    child.once("error", (error) => this.#ended(error));
    child.once("exit", (code, signal) =>
      this.#ended(code === 0 ? undefined : new Error(`it ended with ${signal ?? code}`)),
    );
    logger.info("a host was started", { pid: child.pid });
    return true;
  }

  stop(): void {
    this.#stopped = true;
  }

  /** The end of its log. */
  lastWords(): string {
    try {
      return readFileSync(join(this.#options.dataDir, "host.log"), "utf8").trimEnd().split("\n").slice(-3).join(" ");
    } catch {
      return "it left no log";
    }
  }

  #ended(reason: Error | undefined): void {
    this.#child = undefined;
    if (reason === undefined) return;
    this.onFailure?.(new Error(`The host could not start: ${this.lastWords()}`, { cause: reason }));
  }
}

const KEPT =
  /^(?:HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|XDG_\w+|SSH_AUTH_SOCK|DBUS_SESSION_BUS_ADDRESS)$/;

/** What a login gives, and nothing of npm's or ours: no credential reaches a process that lives on. */
export function hostEnvironment(env: Environment): Record<string, string> {
  const kept = Object.entries(env).filter((it): it is [string, string] => KEPT.test(it[0]) && it[1] !== undefined);
  const path = (env.PATH ?? "").split(delimiter).filter((it) => it.startsWith("/") && !it.includes("node_modules"));
  return { ...Object.fromEntries(kept), PATH: path.join(delimiter) || "/usr/local/bin:/usr/bin:/bin" };
}
