/**
 * One live terminal: a shell, the way of its bytes, its gate, its blocks and prompts, and the clock that tells silence.
 * It outlives its shells: order and cursor go on when a shell is replaced. Rules in docs/spec/terminal.md.
 */
import { existsSync } from "node:fs";
import { type Actor, SYSTEM } from "../../domain/actor.ts";
import type { JsonObject } from "../../domain/event.ts";
import type { Size } from "../../domain/session-frame.ts";
import { Gate, type GateDevice } from "../gate.ts";
import { endOrphans } from "../orphans.ts";
import { Stick } from "../stick.ts";
import { AgentWork } from "./agent-work.ts";
import { BlockTracker } from "./block-tracker.ts";
import { bootTimeMs } from "./boot-clock.ts";
import { PlainOutput } from "./command/plain-output.ts";
import { Frames } from "./frames.ts";
import { ALTERNATE_SCREEN_RESET, MODES_RESET } from "./modes-reset.ts";
import { OutputPath } from "./output-path.ts";
import { PATIENCE, type TerminalPatience } from "./patience.ts";
import type { Look } from "./probe/probe.ts";
import { PromptWatch } from "./prompt-watch.ts";
import { Prompts } from "./prompts.ts";
import type { PtyExit } from "./pty.ts";
import { QuietClock, RUNGS_MS, SETTLE_MS, TOLD_MS } from "./quiet-clock.ts";
import { reserve } from "./reserve.ts";
import { LazyScreen } from "./screen/lazy-screen.ts";
import { SecretLine } from "./secret-line.ts";
import { ShellProcess } from "./shell-process.ts";
import { endOf } from "./survivors.ts";
import type { TerminalOptions } from "./terminal-options.ts";

export class Terminal implements GateDevice {
  readonly stick: Stick;
  readonly gate: Gate;
  readonly frames: Frames;
  readonly path: OutputPath;
  readonly screen: LazyScreen;
  readonly prompts: Prompts;
  readonly blocks: BlockTracker;
  readonly work: AgentWork;
  readonly patience: TerminalPatience;
  readonly watch: PromptWatch;
  readonly clock: QuietClock;
  readonly #options: TerminalOptions;
  readonly #secret = new SecretLine();
  readonly #ended = Promise.withResolvers<void>();
  #shell: ShellProcess | undefined;
  #plain: PlainOutput | undefined;
  #size: Size;
  #paused = false;
  #replacing = false;
  #respawning: Promise<void> | undefined;
  #stops = 0;
  /** Bytes read from its terminals, marks included: the terminal has moved if this has. */
  #received = 0;
  #shellSince = 0;
  #endReason = "exited";
  #endAfter: Promise<void> | undefined;
  #over = false;

  private constructor(options: TerminalOptions) {
    this.#options = options;
    this.#size = options.size;
    this.patience = { ...PATIENCE, ...options.patience };
    this.stick = new Stick({
      attended: options.attended,
      mayAcquire: options.agentsMayAcquire,
      elapsed: bootTimeMs,
      tell: ({ type, payload, by }) => this.frames.event(type, payload, by),
      onAgentLost: () => this.work.lost(),
      overdueMs: options.overdueMs,
    });
    const isIdle = (): boolean => this.shell.atPrompt && !this.blocks.hasBegun;
    this.work = new AgentWork({ shell: () => this.shell, driven: () => this.stick.agentTimes, isIdle });
    this.gate = new Gate(this, this.stick);
    this.frames = new Frames(options.emit);
    this.screen = new LazyScreen({
      screens: options.screens,
      size: options.size,
      modes: () => this.path.modes,
      onReply: (bytes) => this.gate.reply(bytes),
      onKeyframe: ({ cursor, size, data }) => this.frames.event("keyframe", { cursor, ...size, data }),
    });
    this.path = new OutputPath({
      frames: this.frames,
      redaction: options.redaction,
      onMark: (mark) => this.blocks.mark(mark),
      onOutput: (bytes, cursor, queries) => {
        this.screen.feed(bytes, cursor, queries);
        this.blocks.output();
      },
    });
    this.prompts = new Prompts({
      sessionId: options.sessionId,
      frames: this.frames,
      barrier: () => this.path.barrier(),
    });
    this.blocks = this.#makeBlocks();
    this.watch = this.#makeWatch();
    this.clock = new QuietClock(RUNGS_MS, (ms) => this.#quiet(ms), options.time);
  }

  static async start(options: TerminalOptions): Promise<Terminal> {
    reserve.fill();
    const terminal = new Terminal(options);
    // A replay must know the size from the first byte on.
    terminal.frames.event("resize", { cols: options.size.cols, rows: options.size.rows });
    await terminal.#startShell(options.cwd);
    return terminal;
  }

  get shell(): ShellProcess {
    if (this.#shell === undefined) throw new Error("The terminal has no shell yet");
    return this.#shell;
  }

  /** The last shell has ended. */
  get over(): boolean {
    return this.#over;
  }

  /** Resolves after the last frame. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  get size(): Size {
    return this.#size;
  }

  get cursor(): number {
    return this.frames.cursor;
  }

  get waiting(): number {
    return this.shell.waiting;
  }

  get atShell(): boolean {
    return this.blocks.mode === "idle";
  }

  modes(): { readonly hidden: boolean; readonly secretLine: boolean; readonly focus: boolean } {
    const modes = this.shell.modes;
    const { focus } = this.path.modes;
    // Nobody knows: nothing typed is recorded.
    if (modes === undefined) return { hidden: true, secretLine: true, focus };
    return { hidden: !modes.echo, secretLine: !modes.echo && modes.canonical, focus };
  }

  promptStands(promptId: string): Promise<boolean> {
    return this.watch.stands(promptId);
  }

  record(payload: JsonObject, by: Actor): number {
    return this.frames.event("input", payload, by);
  }

  taken({ bytes, secret }: { readonly bytes: Uint8Array; readonly secret: boolean }): void {
    if (secret) {
      // Nothing of it is echoed: what comes next is no value of the question's `Password: `.
      this.path.cut();
      for (const value of this.#secret.type(bytes)) this.path.expectSecret(value);
    } else this.#secret.forget();
    this.blocks.touch(bytes, { isLineRead: this.shell.modes?.canonical === true });
  }

  entered(bytes: Uint8Array, by: Actor): void {
    this.work.entered(bytes, by);
    this.shell.inputComes();
    this.prompts.over();
    this.#stir();
  }

  write(bytes: Uint8Array, covered?: () => boolean): void {
    this.shell.write(bytes, covered);
  }

  async look(): Promise<Look | undefined> {
    const probe = await this.#options.probe();
    const { shell } = this;
    return shell.open ? probe.look({ fd: shell.fd, shellPid: shell.pid, modes: this.path.modes }) : undefined;
  }

  resize(size: Size, by: Actor): void {
    if (size.cols === this.#size.cols && size.rows === this.#size.rows) return;
    this.#size = size;
    this.path.barrier();
    this.frames.event("resize", { cols: size.cols, rows: size.rows }, by);
    this.screen.resize(size);
    this.shell.resize(size);
  }

  pause(): void {
    this.#paused = true;
    this.clock.hold();
    this.#plain?.pause();
    if (this.#stops === 0) this.shell.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#plain?.resume();
    this.shell.resume();
    this.clock.release();
  }

  /**
   * While `stop` works the terminal is read, though it be paused: a shell that can't write comes to no prompt. And a
   * shell that ends is replaced: to stop an agent is not to end the session.
   */
  async whileStopping<T>(stop: () => Promise<T>): Promise<T> {
    this.#stops += 1;
    try {
      const stopped = stop();
      this.shell.resume();
      return await stopped;
    } finally {
      this.#stops -= 1;
      if (this.#stops === 0 && this.#paused) this.shell.pause();
    }
  }

  /** What the programs had set must not stay, for viewers and for the screen. */
  resetModes(modes: Uint8Array): void {
    this.path.insert(this.path.modes.altScreen ? Buffer.concat([ALTERNATE_SCREEN_RESET, modes]) : modes);
    this.prompts.over();
  }

  get received(): number {
    return this.#received;
  }

  /** Kills the shell and all that it started, and starts another one in its place. Asked twice, it happens once. */
  respawn(by: Actor): Promise<void> {
    this.#respawning ??= this.#respawn(by).finally(() => (this.#respawning = undefined));
    return this.#respawning;
  }

  async #respawn(by: Actor): Promise<void> {
    const { shell } = this;
    const cwd = shell.cwd ?? this.blocks.cwd ?? this.#options.cwd;
    this.#replacing = true;
    shell.cancelInput();
    const { tree } = shell;
    tree.signal("SIGKILL");
    const exit = await endOf(shell, tree);
    tree.signal("SIGKILL"); // what was started while they were killed
    this.resetModes(Buffer.concat([MODES_RESET, Buffer.from("\r\n")]));
    this.blocks.respawned(exit);
    try {
      if (this.#endAfter === undefined) await this.#startShell(cwd);
    } finally {
      this.#replacing = false;
      // Nobody is there any more to come to an end by itself.
      if (this.shell === shell) this.#finish(exit);
    }
    if (this.shell === shell) return;
    this.frames.event("log_line", { event: "respawned", pid: this.shell.pid }, by);
    if (this.#endAfter !== undefined) this.shell.tree.signal("SIGKILL");
  }

  /** The end of the shell is told with this reason, and not before `done`. */
  endsAfter(reason: string, done: Promise<void>): void {
    if (this.#endAfter === undefined) this.#endReason = reason;
    this.#endAfter = done;
  }

  #makeBlocks(): BlockTracker {
    return new BlockTracker({
      frames: this.frames,
      prompts: this.prompts,
      atPrompt: () => this.shell.atPrompt,
      hasTakenInput: () => this.shell.hasTakenInput,
      received: () => this.#received,
      shellCwd: () => this.shell.cwd,
      promptKey: () => `shell ${this.shell.pid} ${this.gate.inputs} ${this.#received}`,
      beginMs: this.patience.beginMs,
      onPrompt: () => {
        this.shell.begun();
        this.path.forgetExpected();
        this.work.done();
      },
      onRun: (isRunning, by) => by !== undefined && this.stick.ran(isRunning, by),
    });
  }

  #makeWatch(): PromptWatch {
    return new PromptWatch({
      prompts: this.prompts,
      look: () => this.#lookAfterInput(),
      activity: () => `${this.#received} ${this.gate.inputs}`,
      place: () => ({ cursor: this.frames.cursor, inputs: this.gate.inputs }),
      atKnownPrompt: () =>
        this.atShell && this.prompts.present?.shell === true && (this.path.isAside || this.shell.atPrompt),
      onShell: (syscall) => this.#shellWaits(syscall),
    });
  }

  /**
   * A shell that has not yet woken for what was typed looks as if it were done with it: all must be read before the look,
   * the shell must have waited anew since, and what it wrote before that must be here. Whatever program it is, it waits for
   * nobody while more of what was typed is on its way to it.
   */
  async #lookAfterInput(): Promise<Look | undefined> {
    if (this.screen.owesAnswer || this.waiting > 0) return undefined;
    const { hasReadAll } = this.shell;
    const look = await this.look();
    this.shell.readNow();
    if (look?.waiting !== true || look.kind !== "shell") return look;
    return hasReadAll && this.shell.isNewWait(look.switches) ? look : undefined;
  }

  /**
   * A shell may read keys inside a command (`read -n`, `read -k`, `vared`), which looks like its prompt. The marks of
   * fish, zsh and dash can't get lost but with the shell itself. Those of bash can, by a person's command or by one of
   * ours that was cut off, for at its end ours puts them back; it waits for its prompt in `pselect6`, for `read -n` in `read`.
   */
  #shellWaits(syscall: unknown): "prompt" | "reading" | "starting" {
    if (this.#options.command !== undefined) return "reading";
    // Its marks come with its first prompt; before, it may be asking its terminal something.
    const isYoung = performance.now() - this.#shellSince < this.patience.marksMs;
    if (isYoung && this.blocks.refusal === "starting" && this.shell.family !== "other") return "starting";
    const marksHold = this.blocks.integration === "marks" && this.shell.isItself;
    if (this.#stops > 0 && this.blocks.mustTellPrompt && this.shell.isItself) return "starting"; // STP-22
    const mayBePrompt = this.shell.family === "bash" && syscall !== "read" && !this.blocks.mustTellItsEnd;
    if (marksHold && !mayBePrompt && this.blocks.mode !== "idle") return "reading";
    this.blocks.kernelPrompt();
    return "prompt";
  }

  async #startShell(cwd: string): Promise<void> {
    const { shell, env, directory, launcher, command } = this.#options;
    const { heedMs } = this.patience;
    const place = existsSync(cwd) ? cwd : "/"; // that of the shell before may be gone
    const onNonce = (nonce: string): void => this.path.expectMarks(nonce);
    this.#shell = await ShellProcess.start(
      { shell, cwd: place, env, size: this.#size, directory, onNonce, launcher, command, heedMs },
      { data: (bytes) => this.#data(bytes), exit: (exit) => this.#ending(exit), caughtUp: () => this.#stir() },
    );
    this.#plain = this.#plainOutput(this.#shell);
    this.#shellSince = performance.now();
    if (this.#paused && this.#stops === 0) this.#shell.pause();
    this.#stir();
  }

  #data(bytes: Uint8Array): void {
    this.#received += bytes.length;
    this.#stir();
    this.path.push(bytes);
  }

  #plainOutput({ pipes }: ShellProcess): PlainOutput | undefined {
    const output = pipes?.takeOutput();
    const { frames, screen } = this;
    const onOutput = (bytes: Uint8Array, cursor: number): void => screen.feed(bytes, cursor, 0);
    return output && new PlainOutput({ pipes: output, frames, redaction: this.#options.redaction, onOutput });
  }

  #ending(exit: PtyExit): void {
    if (this.#plain === undefined) this.#exit(exit);
    else void this.#plain.end().then(() => this.#exit(exit));
  }

  #stir(): void {
    this.watch.stir();
    this.clock.stir();
  }

  #quiet(ms: number): void {
    if (ms === SETTLE_MS) return this.path.settle();
    if (TOLD_MS.has(ms)) this.frames.event("quiet", { ms });
    this.watch.quiet(ms);
  }

  #exit(exit: PtyExit): void {
    this.path.end();
    void endOrphans((it) => it.pid === this.#shell?.pid || this.work.hasStarted(it));
    if (this.#replacing) return;
    if (this.#stops === 0 || this.#endAfter !== undefined) return this.#finish(exit);
    // Not before the shell itself knows that it is gone: its number may be somebody else's by now.
    queueMicrotask(() => void this.respawn(SYSTEM).catch(() => undefined));
  }

  #finish(exit: PtyExit): void {
    this.#over = true;
    this.prompts.over();
    this.blocks.exited(exit);
    this.clock.close();
    const before = [this.#endAfter, this.shell.inUse].filter((it) => it !== undefined);
    void (before.length === 0 ? this.#end(exit) : Promise.allSettled(before).then(() => this.#end(exit)));
  }

  #end(exit: PtyExit): void {
    this.screen.close();
    this.stick.close();
    this.frames.exit(this.#endReason, { ...exit, ...(this.#plain !== undefined && { plain: true }) });
    this.#ended.resolve();
  }
}
