/** A real terminal with a shell at its prompt, and a person's way to stop what runs in it. */
import { readdirSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import { bootTimeMs } from "../../src/host/terminal/boot-clock.ts";
import { terminate } from "../../src/host/terminal/ending.ts";
import type { Launching } from "../../src/host/terminal/launcher.ts";
import type { TerminalPatience } from "../../src/host/terminal/patience.ts";
import { Probe } from "../../src/host/terminal/probe/probe.ts";
import {
  allProcesses,
  descendants,
  isDead,
  type ProcessStat,
  readStat,
  statsOf,
} from "../../src/host/terminal/probe/processes.ts";
import { Screens } from "../../src/host/terminal/screen/screens.ts";
import type { StopOrder, StopReceipt } from "../../src/host/terminal/stop-order.ts";
import { stopNow } from "../../src/host/terminal/stop.ts";
import { Terminal } from "../../src/host/terminal/terminal.ts";
import { eventually } from "./eventually.ts";
import { spareFish } from "./empty-home.ts";
import { temporaryDirectory } from "./temporary.ts";
import { BRISK } from "./terminal.ts";

let probe: Promise<Probe> | undefined;
let screens: Promise<Screens> | undefined;

export async function closeServices(): Promise<void> {
  const open = [probe, screens];
  probe = undefined;
  screens = undefined;
  for (const service of open) await (await service)?.close();
}

export class LiveTerminal {
  readonly frames: SessionFrame[] = [];
  readonly home: string;
  readonly openedAt = bootTimeMs();
  #terminal: Terminal | undefined;

  private constructor(home: string) {
    this.home = home;
  }

  static async open(
    shell = "/bin/bash",
    launcher?: Launching,
    patience: Partial<TerminalPatience> = {},
  ): Promise<LiveTerminal> {
    const live = new LiveTerminal(await temporaryDirectory());
    probe ??= Probe.open();
    screens ??= Screens.open();
    const { home } = live;
    await spareFish(home);
    live.#terminal = await Terminal.start({
      sessionId: "stopped",
      shell,
      cwd: home,
      env: { PATH: "/usr/bin:/bin", HOME: home, LANG: "C.UTF-8", TERM: "xterm-256color" },
      size: { cols: 120, rows: 40 },
      directory: await temporaryDirectory(),
      redaction: "on",
      launcher,
      patience: { ...BRISK, ...patience },
      probe: () => probe!,
      screens: () => screens!,
      attended: false,
      agentsMayAcquire: true,
      emit: (frame) => live.frames.push(frame),
    });
    onTestFinished(async () => {
      live.terminal.resume();
      if (!live.terminal.over) await terminate(live.terminal);
    });
    await live.atPrompt();
    return live;
  }

  get terminal(): Terminal {
    return this.#terminal!;
  }

  get output(): string {
    return Buffer.concat(this.frames.flatMap((it) => (it.kind === "bytes" ? [it.bytes] : []))).toString();
  }

  /** In its home. */
  get files(): readonly string[] {
    return readdirSync(this.home).filter((name) => !name.startsWith("."));
  }

  path(name: string): string {
    return join(this.home, name);
  }

  type(text: string): void {
    const bytes = Buffer.from(text);
    this.terminal.taken({ bytes, secret: false });
    this.terminal.gate.put(bytes, { kind: "person", id: "ann" });
  }

  async atPrompt(): Promise<void> {
    await eventually(() => {
      expect(this.terminal.blocks.refusal).toBeUndefined();
      expect(this.terminal.shell.atPrompt).toBe(true);
    });
  }

  /** Types a command and waits for it to be done. */
  async command(text: string): Promise<void> {
    const before = this.frames.length;
    this.type(`${text}\r`);
    await eventually(() =>
      expect(this.frames.slice(before).some((it) => it.kind === "event" && it.type === "prompt")).toBe(true),
    );
    await this.atPrompt();
  }

  /** As an agent that holds control since the shell was opened, unless said otherwise. */
  stop(order: Partial<StopOrder> = {}): Promise<StopReceipt> {
    return stopNow(this.terminal, {
      agentTimes: [{ from: this.openedAt }],
      drivesForeground: true,
      scope: "agent",
      droppedInputs: 0,
      droppedBytes: 0,
      ...order,
    });
  }

  /** Below its shell, dead ones left out. */
  get processes(): readonly ProcessStat[] {
    return statsOf(descendants(this.terminal.shell.pid)).filter((it) => !isDead(it));
  }

  /** Waits until so many run there. */
  running(program: string, count = 1): Promise<readonly number[]> {
    return eventually(() => {
      const pids = this.processes.filter((it) => it.program === program).map((it) => it.pid);
      expect(pids.length).toBeGreaterThanOrEqual(count);
      return pids;
    });
  }

  /** Waits until one runs in its home, wherever it stands among processes. */
  runningAnywhere(program: string): Promise<number> {
    const isHere = (pid: number): boolean => readlinkIfThere(`/proc/${pid}/cwd`) === this.home;
    return eventually(() => {
      const found = statsOf(allProcesses()).find((it) => it.program === program && !isDead(it) && isHere(it.pid));
      return found?.pid ?? expect.unreachable(`${program} still starts`);
    });
  }

  /** The shell takes commands and answers: whatever was to run on has had its time. */
  async answers(): Promise<void> {
    await this.atPrompt();
    const from = this.output.length;
    this.type("echo an''swer\r");
    await eventually(() => expect(this.output.slice(from)).toContain("answer\r\n"));
    await this.atPrompt();
  }
}

export function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && !isDead(stat);
}

function readlinkIfThere(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined; // it is gone
  }
}
