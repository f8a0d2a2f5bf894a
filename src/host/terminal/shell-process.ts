/**
 * The shell of a terminal: its pseudo-terminal, its only writer, and what the kernel says of it. A session may have
 * several, one after the other. Rules PTY-1..PTY-8, PTY-40 in docs/spec/terminal.md.
 */
import { randomBytes } from "node:crypto";
import { readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp } from "node:fs/promises";
import { constants } from "node:os";
import { join } from "node:path";
import { setTimeout as later } from "node:timers/promises";
import type { Size } from "../../domain/session-frame.ts";
import type { CommandForm } from "../../domain/session.ts";
import { CommandPipes, prepareCommand } from "./command/command-launch.ts";
import { launched, type Launching } from "./launcher.ts";
import { PATIENCE } from "./patience.ts";
import { blockedCallOfMain } from "./probe/blocked.ts";
import { childrenFinder, ignoresSignal, tracerOf, voluntarySwitches } from "./probe/processes.ts";
import { shellAtPrompt } from "./probe/shell-at-prompt.ts";
import type { TtyModes } from "./probe/tty.ts";
import {
  flushInput,
  foregroundGroup,
  processGroup,
  readSettings,
  readTtyModes,
  restoreLineModes,
  unreadInput,
  unreadOutput,
} from "./probe/tty.ts";
import { ProcessTree } from "./process-tree.ts";
import { PtyWriter } from "./pty-writer.ts";
import type { Pty, PtyExit, PtyListener } from "./pty.ts";
import { sendSignal } from "./send-signal.ts";
import { removeDirectory } from "./shared-files.ts";
import { type StartedPty, startOnPty } from "./started-pty.ts";
import type { Tracking } from "./stop-order.ts";
import type { ShellFamily, ShellLaunch } from "./shells/shell.ts";
import { takeBeginning } from "./shells/inquiry.ts";
import { prepareShell } from "./shells/shell.ts";
import { commandsOf } from "./shells/submission.ts";

export type ShellOptions = {
  readonly shell: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly size: Size;
  /** Private; each shell makes one of its own in it. */
  readonly directory: string;
  /** Called before the first byte. */
  readonly onNonce: (nonce: string) => void;
  /** Default: the best that this machine has, without a guard. */
  readonly launcher?: Launching | undefined;
  /** Not a shell: what waits for one command and becomes it. */
  readonly command?: CommandForm | undefined;
  /** How long what follows a Ctrl+C waits at the most for the shell to take that. */
  readonly heedMs?: number | undefined;
};

export type ShellListener = PtyListener & {
  /** The terminal has taken the last of what had to wait. */
  readonly caughtUp?: (() => void) | undefined;
};

type ShellParts = Pick<ShellProcess, "directory" | "pipes"> &
  Pick<ShellListener, "caughtUp"> & { readonly heedMs: number };

export class ShellProcess {
  readonly pid: number;
  readonly family: ShellFamily;
  readonly directory: string;
  /** As it was started. */
  readonly env: Readonly<Record<string, string>>;
  /** Somebody still looks at its files: its end isn't told before. */
  inUse: Promise<void> | undefined;
  /** Resolves after the last byte and `listener.exit`. */
  readonly exited: Promise<PtyExit>;
  /** Paths that its guard should close and could not. */
  readonly left: readonly string[];
  readonly #pty: Pty;
  readonly #writer: PtyWriter;
  /** Of what waits for a command. */
  readonly pipes: CommandPipes | undefined;
  #commandLine: string;
  readonly #heedMs: number;
  readonly #tracking: () => Tracking;
  readonly #keepers: readonly number[];
  /** As the terminal was when it began. */
  readonly #settings: Uint8Array | undefined;
  #gone = false;
  /** How often it had gone to wait when the last input went in. */
  #waitsAtInput: number | undefined;
  /** Ctrl+C was pressed with it in front when it had gone to wait so often; what comes next waits until then at the latest. */
  #interrupt: { readonly waits: number | undefined; readonly untilMs: number; readonly isWoken: boolean } | undefined;
  #beginning: { readonly at: number; readonly state: string | undefined } | undefined;
  readonly #startedAt = Date.now();

  private constructor(launch: ShellLaunch, started: StartedPty, { directory, pipes, heedMs, caughtUp }: ShellParts) {
    const exited = Promise.withResolvers<PtyExit>();
    this.exited = exited.promise;
    this.family = launch.family;
    this.directory = directory;
    this.pipes = pipes;
    this.#heedMs = heedMs;
    this.env = launch.env;
    this.#tracking = started.tracking;
    this.#keepers = started.keepers;
    this.left = started.left;
    this.#commandLine = [launch.file, ...launch.args, ""].join("\0");
    this.#pty = started.pty;
    this.pid = started.pid;
    this.#writer = new PtyWriter(this.#pty, caughtUp, () => this.#isInterrupted());
    this.#settings = readSettings(this.#pty.fd);
    started.whenEnded((exit) => {
      this.#gone = true;
      this.#writer.cancel();
      pipes?.[Symbol.dispose]();
      exited.resolve(exit);
      void Promise.resolve(this.inUse).then(() => removeShell(directory));
    });
  }

  static async start(options: ShellOptions, listener: ShellListener): Promise<ShellProcess> {
    await mkdir(options.directory, { recursive: true, mode: 0o700 });
    const directory = await mkdtemp(join(options.directory, "shell-"));
    const nonce = randomBytes(16).toString("hex");
    const { shell, env, cwd, size, command, heedMs = PATIENCE.heedMs } = options;
    const pipes = command === undefined ? undefined : new CommandPipes(directory, command);
    try {
      const launch =
        command === undefined
          ? await prepareShell({ shell, directory, nonce, env })
          : await prepareCommand(command, { directory, env });
      const program = await launched(launch, { directory, cwd }, options.launcher);
      options.onNonce(nonce);
      const started = await startOnPty(program, { cwd, size }, listener);
      return new ShellProcess(launch, started, { directory, pipes, heedMs, caughtUp: listener.caughtUp });
    } catch (error) {
      pipes?.[Symbol.dispose]();
      await removeShell(directory);
      throw error;
    }
  }

  /** Resolves when its program runs or is gone, or when that takes too long. */
  async whenItself(): Promise<void> {
    const end = performance.now() + BEGINNING_MS;
    while (!this.isItself && !this.#gone && performance.now() < end) await later(1);
  }

  /** What waited for a command is given one. */
  become(words: readonly string[]): void {
    this.#commandLine = [...words, ""].join("\0");
    this.pipes?.go();
  }

  /** At each prompt; the first is where it began. What it told then is taken at once: later others could change it. */
  begun(): void {
    this.#beginning ??= { at: Date.now(), state: takeBeginning(this.directory) };
  }

  /** What it told of itself at its first prompt. */
  get beginning(): string | undefined {
    return this.#beginning?.state;
  }

  get since(): string {
    return new Date(this.#beginning?.at ?? this.#startedAt).toISOString();
  }

  get open(): boolean {
    return this.#pty.open;
  }

  get fd(): number {
    return this.#pty.fd;
  }

  get waiting(): number {
    return this.#writer.waiting;
  }

  /** How completely what it starts can be found. */
  get tracking(): Tracking {
    return this.#tracking();
  }

  /** Our own processes above it: what it starts and leaves is below it or is a child of theirs. */
  get keepers(): readonly number[] {
    return this.#gone ? [] : this.#keepers;
  }

  /** One that was stopped by what runs below it could not tell the shell's end. */
  wakeKeepers(): void {
    for (const pid of this.keepers) sendSignal(pid, "SIGCONT");
  }

  get atPrompt(): boolean {
    return this.open && shellAtPrompt({ fd: this.fd, shellPid: this.pid });
  }

  /** Nothing typed lies unread: what the shell waits for is still to come. */
  get hasReadAll(): boolean {
    return this.waiting === 0 && (unreadInput(this.#pty.slavePath) ?? 0) === 0;
  }

  /** To be called when input goes in. */
  inputComes(): void {
    this.#waitsAtInput = this.waits;
  }

  /** Whether somebody who has seen it wait so often has seen it wait since the last input. */
  isNewWait(waits: number | undefined): boolean {
    return waits !== this.#waitsAtInput;
  }

  /** It has read what was typed; where its waits can be counted, it has waited anew since. */
  get hasTakenInput(): boolean {
    const { waits } = this;
    return this.hasReadAll && (waits === undefined || this.isNewWait(waits));
  }

  /** How often it has gone to wait; undefined where that can't be read. */
  get waits(): number | undefined {
    const waits = voluntarySwitches(this.pid);
    return waits === 0 ? undefined : waits;
  }

  get modes(): TtyModes | undefined {
    return this.open ? readTtyModes(this.fd) : undefined;
  }

  get #isInFront(): boolean {
    const { foregroundGroup: group } = this;
    return group !== undefined && group === processGroup(this.pid);
  }

  get foregroundGroup(): number | undefined {
    return this.open ? foregroundGroup(this.fd) : undefined;
  }

  /** False once it has given its process to another program. */
  get isItself(): boolean {
    try {
      return readFileSync(`/proc/${this.pid}/cmdline`, "utf8") === this.#commandLine;
    } catch {
      return false; // it is gone
    }
  }

  /** At its prompt it answers an interrupt by telling of a new one; fish draws the old one again. */
  get tellsInterrupts(): boolean {
    return this.family !== "fish" && this.isItself;
  }

  /** By a debugger, which could make it say anything. */
  get isTraced(): boolean {
    return tracerOf(this.pid) !== 0;
  }

  /** Blocked in a read, of a terminal or of anything else. */
  get isReading(): boolean {
    return blockedCallOfMain(this.pid)?.call === "read";
  }

  /** `trap '' INT` */
  get ignoresInterrupt(): boolean {
    return ignoresSignal(this.pid, constants.signals.SIGINT);
  }

  get cwd(): string | undefined {
    try {
      return readlinkSync(`/proc/${this.pid}/cwd`);
    } catch {
      return undefined; // it is gone, or not ours to read
    }
  }

  write(bytes: Uint8Array, covered?: () => boolean): void {
    const interrupts = bytes.at(-1) === CTRL_C && this.waiting === 0 && this.#isInFront;
    const { waits } = this;
    this.#writer.write(bytes, covered);
    if (interrupts) this.#interrupt = { waits, untilMs: performance.now() + this.#heedMs, isWoken: false };
  }

  /**
   * A line editor that is met by a signal and a key at once takes the key for the line that the signal then throws away:
   * of a command typed right after Ctrl+C bash may run all but the first letter. So it waits at its prompt anew first. A
   * bash that the signal met just before it went to wait heeds it only when that wait ends: a signal that says nothing to
   * it, that a child may have ended, ends the wait instead of the key.
   */
  #isInterrupted(): boolean {
    if (this.#interrupt === undefined) return false;
    const { waits, untilMs, isWoken } = this.#interrupt;
    const { waits: now } = this;
    const waitsAnew = (waits === undefined || now !== waits) && this.atPrompt;
    const isInTime = performance.now() < untilMs;
    if (isInTime && waitsAnew && !isWoken && this.family === "bash") {
      this.#interrupt = { waits: now, untilMs, isWoken: true };
      this.signal("SIGCHLD");
      return true;
    }
    if (isInTime && !waitsAnew) return true;
    this.#interrupt = undefined;
    this.inputComes();
    return false;
  }

  resize(size: Size): void {
    this.#pty.resize(size);
  }

  pause(): void {
    this.#pty.pause();
  }

  resume(): void {
    this.#pty.resume();
  }

  /** Drops what is typed and not taken yet. */
  cancelInput(): { readonly inputs: number; readonly bytes: number } {
    const inputs = this.#writer.pieces;
    return { inputs, bytes: this.#writer.cancel() };
  }

  /** Drops what the terminal has taken and nobody has read; answers how many bytes of it are known. */
  flushInput(): number {
    if (!this.open) return 0;
    const unread = unreadInput(this.#pty.slavePath) ?? 0;
    flushInput(this.#pty.slavePath);
    return unread;
  }

  /** Nothing that was written waits to be read by us. */
  get outputIsRead(): boolean {
    return !this.open || unreadOutput(this.fd) === 0;
  }

  /** After this, whatever was written before it has been read. */
  readNow(): void {
    this.#pty.readNow();
  }

  /** Not while a line editor has set its own. */
  restoreLineModes(): void {
    if (this.open && this.#settings !== undefined) restoreLineModes(this.fd, this.#settings);
  }

  get gone(): boolean {
    return this.#gone;
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.#gone) sendSignal(this.pid, signal);
  }

  /** The kernel tells it so, and what runs in front of it, whoever they run as. */
  hangUp(): void {
    this.#pty.close();
  }

  /** It can't be ended: its end is told all the same. */
  leave(): void {
    this.#pty.leave();
  }

  /** Itself and everything that it has started. */
  get tree(): ProcessTree {
    // When it is gone its number may be somebody else's.
    if (this.#gone) return new ProcessTree([]);
    const own = new Set([this.pid, ...this.#keepers]);
    return new ProcessTree([this.pid, ...this.#keepers.flatMap(childrenFinder()).filter((it) => !own.has(it))]);
  }

  /** To the job in front; false when that is the shell itself. */
  signalForeground(signal: NodeJS.Signals): boolean {
    const group = this.foregroundGroup;
    if (group === undefined || group === this.pid || this.#gone) return false;
    sendSignal(-group, signal);
    return true;
  }
}

const CTRL_C = 3;
const BEGINNING_MS = 10_000;

async function removeShell(directory: string): Promise<void> {
  await Promise.all([removeDirectory(directory), removeDirectory(commandsOf(directory))]);
}
