/** The host program with plain sessions as a process of its own, and a hub's end of its link. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { expect, onTestFinished } from "vitest";
import type { Session } from "../../src/domain/session.ts";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { HostDriver } from "../../src/server/hosts/host-driver.ts";
import { HostLink, type HostLinkOptions } from "../../src/server/hosts/host-link.ts";
import { socketAt } from "../../src/server/hosts/wire.ts";
import { compileCache } from "../support/compile-cache.ts";
import { eventually } from "../support/eventually.ts";
import { sessionOf } from "../support/session-driver.contract.ts";

export const HOST_PROGRAM = join(import.meta.dirname, "..", "composition", "host.ts");
export const TERMINAL_HOST = join(import.meta.dirname, "..", "composition", "terminal-host.ts");
export const ANN = { kind: "person", id: "ann" } as const;
export const SIZE = { cols: 80, rows: 24 };

export const silent = createLogger("error", () => undefined);

export type HostSetup = {
  readonly command?: string;
  /** Bytes in memory and in the file. */
  readonly spool?: readonly [number, number];
  readonly args?: readonly string[];
  /** Default: one with plain sessions. */
  readonly program?: string;
};

/** Resolves when it is ready; killed when the test is over, and what ran in it with it. */
export async function spawnHost(dataDir: string, setup: HostSetup = {}): Promise<ChildProcess> {
  const child = startHost(dataDir, setup);
  onTestFinished(() => kill(child));
  await ready(child);
  return child;
}

/** For a whole file: what `beforeAll` returns must call `stop`. */
export async function openHost(
  setup: HostSetup = {},
): Promise<{ readonly dataDir: string; readonly stop: () => Promise<void> }> {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  const child = startHost(dataDir, setup);
  const stop = async (): Promise<void> => {
    await kill(child);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10 });
  };
  await ready(child);
  return { dataDir, stop };
}

function startHost(dataDir: string, setup: HostSetup) {
  const { command = "cat", spool, args = [], program = HOST_PROGRAM } = setup;
  return spawn(process.execPath, [program, "--data-dir", dataDir, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    env: {
      ...compileCache(),
      PATH: process.env.PATH,
      PLAIN_COMMAND: command,
      ...(spool && { PLAIN_SPOOL: spool.join(",") }),
    },
  });
}

async function ready(child: ReturnType<typeof startHost>): Promise<void> {
  const [line] = (await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    once(child, "exit").then(() => ["ended"]),
  ])) as [string];
  expect(line).toContain("The host is ready");
}

export async function kill(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  await exited;
}

export function socketOf(dataDir: string): string {
  return join(dataDir, "host", "link.sock");
}

export type HubEnd = { readonly link: HostLink; readonly driver: HostDriver };

/** Closed when the test is over. */
export async function dial(dataDir: string, options: Partial<HostLinkOptions> = {}): Promise<HubEnd> {
  const link = new HostLink({ connect: socketAt(socketOf(dataDir)), logger: silent, ...options });
  const driver = new HostDriver({ link, hostId: "local", logger: silent });
  onTestFinished(() => link.close());
  link.open();
  await eventually(() => expect(link.online).toBe(true));
  return { link, driver };
}

export function newSession(sessionId: string = crypto.randomUUID()): Session {
  return sessionOf("terminal", sessionId);
}

/** What came out of one session. */
export class Taken {
  readonly frames: SessionFrame[] = [];
  readonly intake = async (frames: readonly SessionFrame[]): Promise<void> => {
    this.frames.push(...frames);
  };

  get orders(): number[] {
    return this.frames.map((it) => it.order);
  }

  get text(): string {
    return Buffer.concat(this.frames.flatMap((it) => (it.kind === "bytes" ? [it.bytes] : []))).toString();
  }
}

export function typed(text: string | Uint8Array) {
  return { bytes: Buffer.from(text), by: ANN, class: "drive" } as const;
}
