/**
 * A terminal as the host's link sees it: requests come in, each becomes one call of the terminal, its gate or its
 * screen. Rules in docs/spec/terminal.md.
 */
import { accessSync, constants, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import type { Refusal } from "../../domain/blocks.ts";
import { keyBytes } from "../../domain/keys.ts";
import type { JsonObject } from "../../domain/event.ts";
import { redactText } from "../../domain/redaction/redact-text.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ControlChange } from "../../protocol/link.ts";
import type { Begun } from "../gate.ts";
import type { HostedSession, OpenSession, Reply, SessionRequest, StartMessage } from "../hosted-session.ts";
import type { BlockBegin } from "./block-tracker.ts";
import { endRun, terminate } from "./ending.ts";
import type { Launching } from "./launcher.ts";
import { loginEnvironment } from "./login-environment.ts";
import type { Probe } from "./probe/probe.ts";
import type { Screens } from "./screen/screens.ts";
import { accountOf, passableDirectory, type SessionAccount } from "./session-account.ts";
import { shellReport } from "./shell-report.ts";
import { submissionOf } from "./shells/shell.ts";
import { stopNow } from "./stop.ts";
import type { StopOrder } from "./stop-order.ts";
import { Terminal } from "./terminal.ts";

export type TerminalServices = {
  /** Private to the host; each session has a directory of its own in it while it lives. */
  readonly directory: string;
  /** What of Sidestick a guard hides. */
  readonly ours: readonly string[];
  readonly probe: () => Promise<Probe>;
  readonly screens: () => Promise<Screens>;
  /** Default: as after a fresh login. */
  readonly environment?: () => Promise<Readonly<Record<string, string>>>;
  /** Default: on. Off only where a test compares bytes. */
  readonly redaction?: "on" | "off";
};

/** What opens the terminals of this host. */
export function openTerminal(services: TerminalServices): OpenSession {
  return async (start, emit) => new TerminalSession(start, await startTerminal(services, start, emit));
}

type RunRequest = Extract<SessionRequest, { type: "RUN_BLOCK" }>;
type InputRequest = Extract<SessionRequest, { type: "SEND_INPUT" }>;

class TerminalSession implements HostedSession {
  readonly sessionId: string;
  readonly #terminal: Terminal;
  readonly #shellName: string;

  constructor(start: StartMessage, terminal: { readonly terminal: Terminal; readonly shell: string }) {
    this.sessionId = start.session_id;
    this.#terminal = terminal.terminal;
    this.#shellName = terminal.shell;
  }

  get processId(): number | undefined {
    return this.#terminal.over ? undefined : this.#terminal.shell.pid;
  }

  pause(): void {
    this.#terminal.pause();
  }

  resume(): void {
    this.#terminal.resume();
  }

  async handle(request: SessionRequest, body: Uint8Array): Promise<Reply> {
    const terminal = this.#terminal;
    if (terminal.over && !STILL_ANSWERED.has(request.type)) {
      throw new AppError("invalid_transition", { detail: "The session has ended" });
    }
    switch (request.type) {
      case "SEND_INPUT":
        return this.#input(request, body);
      case "RUN_BLOCK":
        return this.#run(request, body);
      case "END_RUN":
        refuseOtherRun(request.run_id, terminal.blocks.run?.runId);
        await terminal.gate.take(request, () => ({ answer: endRun(terminal, request.by) }));
        return { fields: {} };
      case "RESPAWN":
        await terminal.gate.take(request, () => ({ answer: terminal.respawn(request.by) }));
        return { fields: { pid: terminal.shell.pid } };
      case "CONTROL":
        return this.#control(request.command);
      case "RESIZE":
        terminal.stick.refuseUnlessFree(request.by);
        terminal.resize({ cols: request.cols, rows: request.rows }, request.by);
        return { fields: {} };
      case "READ_SCREEN":
        return this.#screen();
      case "SNAPSHOT":
        return this.#snapshot();
      case "STATUS":
        return { fields: this.#status() };
      case "CHANGES":
        return this.#changes();
      case "TERMINATE_CMD":
        await terminate(terminal);
        return { fields: {} };
    }
  }

  async #input(request: InputRequest, bytes: Uint8Array): Promise<Reply> {
    const admitted = await this.#terminal.gate.input(request, {
      bytes: request.keys === undefined ? bytes : this.#keys(request.keys),
      class: request.class,
      ifPrompt: request.if_prompt,
      notAtShell: request.not_at_shell,
      secret: request.secret,
    });
    return { fields: { ...admitted, ...this.#controlSince(request.epoch) } };
  }

  #control(command: ControlChange): Reply {
    const { stick, work } = this.#terminal;
    const isDriving = stick.state.mode === "AGENT";
    const { action } = stick.command(command);
    if (command.type === "intent" && command.intent === "STOP_NOW") {
      this.#stop({ drivesForeground: isDriving || work.isCommand, scope: command.scope ?? "agent", by: command.by });
    }
    return { fields: { ...stick.describe(), ...(action === undefined ? {} : { action }) } };
  }

  /** The gate is shut. Nobody waits for the rest; the receipt is an event. */
  #stop(order: Pick<StopOrder, "drivesForeground" | "scope" | "by">): void {
    const { stick, work } = this.#terminal;
    const { dropped, times: agentTimes } = work;
    const lost = { droppedInputs: dropped.inputs, droppedBytes: dropped.bytes };
    work.dropped = { inputs: 0, bytes: 0 };
    stopNow(this.#terminal, { ...order, agentTimes, ...lost }).then(
      (receipt) => stick.command({ type: "stopped", receipt: { ...receipt } }),
      (error: unknown) => stick.command({ type: "stopped", receipt: { failed: String(error) } }),
    );
  }

  /** Whoever asked under another epoch is told what it is now. */
  #controlSince(epoch: number | undefined): JsonObject {
    const { stick } = this.#terminal;
    return epoch === stick.epoch ? {} : { control: stick.describe() };
  }

  #keys(names: readonly string[]): Uint8Array {
    const keys = names.map((name) => keyBytes(name, this.#terminal.path.modes));
    if (keys.includes(undefined)) throw new AppError("invalid_request", { detail: "There is no such key" });
    return Buffer.concat(keys as Uint8Array[]);
  }

  async #run(request: RunRequest, bytes: Uint8Array): Promise<Reply> {
    const { gate, blocks } = this.#terminal;
    const text = Buffer.from(bytes).toString("utf8");
    const begun = await gate.take(request, (recheck) => {
      if (blocks.refusal !== "starting") return this.#submit(request, text, recheck);
      // A shell may ask something while it starts: others' input isn't held up.
      return { answer: this.#submitWhenStarted(request, text) };
    });
    return { fields: { ...begun, ...this.#controlSince(request.epoch) } };
  }

  async #submitWhenStarted(request: RunRequest, text: string): Promise<BlockBegin> {
    await this.#terminal.blocks.seenWithin(START_MS);
    return this.#terminal.gate.inTurn(request, (recheck) => this.#submit(request, text, recheck));
  }

  async #submit(request: RunRequest, text: string, recheck: () => void): Promise<Begun<BlockBegin>> {
    const { blocks, path, shell, gate } = this.#terminal;
    refuse(blocks.refusal);
    const seq = blocks.nextSeq;
    const submission = await submissionOf(
      shell.family,
      { text, cwd: request.cwd, seq },
      {
        directory: shell.directory,
        shell: this.#shellName,
        bracketedPaste: path.modes.bracketedPaste,
        integrated: blocks.integration === "marks",
      },
    );
    try {
      // A person may have typed meanwhile.
      recheck();
      refuse(blocks.refusal);
    } catch (error) {
      submission.remove();
      throw error;
    }
    const cwd = request.cwd === undefined ? undefined : resolve(blocks.cwd ?? "/", request.cwd);
    const run = { blockId: request.block_id, seq, runId: request.run_id, command: text, cwd, by: request.by };
    const answer = blocks.submit(run, () => submission.remove());
    path.expectEcho(submission.echo, submission.shown);
    gate.put(submission.typed, request.by);
    return { answer };
  }

  #status(): Reply["fields"] {
    const { blocks, shell, size, gate, stick, frames } = this.#terminal;
    const { run } = blocks;
    return {
      mode: blocks.mode,
      ...(run === undefined ? {} : { block_id: run.blockId }),
      ...(run?.runId === undefined ? {} : { run_id: run.runId }),
      pid: shell.pid,
      shell: this.#shellName,
      integration: blocks.integration,
      ...(blocks.cwd === undefined ? {} : { cwd: blocks.cwd }),
      ...(shell.cwd === undefined || !isDirectory(shell.cwd) ? {} : { directory: shell.cwd }),
      cols: size.cols,
      rows: size.rows,
      epoch: stick.epoch,
      inputs: gate.number,
      order: frames.order,
      waiting: shell.waiting,
    };
  }

  async #changes(): Promise<Reply> {
    const { changes, ...fields } = await shellReport(this.#terminal);
    return { fields, body: Buffer.from(JSON.stringify(changes)) };
  }

  async #screen(): Promise<Reply> {
    const { lines, size, cursorRow, cursorCol, altScreen, title, cursor } = await this.#terminal.screen.read();
    return {
      fields: {
        cols: size.cols,
        rows: size.rows,
        cursor_row: cursorRow,
        cursor_col: cursorCol,
        alt_screen: altScreen,
        title: redactText(title),
        cursor,
      },
      body: Buffer.from(lines.map((line) => redactText(line)).join("\n")),
    };
  }

  async #snapshot(): Promise<Reply> {
    const { ansi, size, cursor } = await this.#terminal.screen.snapshot();
    return { fields: { cols: size.cols, rows: size.rows, cursor }, body: Buffer.from(ansi) };
  }
}

/** What a session that is over still answers. */
const STILL_ANSWERED: ReadonlySet<SessionRequest["type"]> = new Set(["STATUS", "CHANGES", "TERMINATE_CMD"]);

/** How long a shell may take to its first prompt before a command is refused. */
const START_MS = 10_000;

async function startTerminal(
  services: TerminalServices,
  start: StartMessage,
  emit: (frame: SessionFrame) => void,
): Promise<{ readonly terminal: Terminal; readonly shell: string }> {
  const account = start.containment === "user" ? await accountOf(start.user) : undefined;
  const login = account === undefined ? (services.environment ?? loginEnvironment) : () => loginEnvironment(account);
  // The first question must not wait for a thread to start.
  const [env] = await Promise.all([login(), services.probe()]);
  const shell = programIn(env["PATH"] ?? "", start.shell ?? env["SHELL"] ?? "/bin/bash");
  const cwd = start.cwd ?? env["HOME"] ?? homedir();
  if (start.cwd !== undefined && !isDirectory(start.cwd)) {
    throw new AppError("invalid_request", { detail: "cwd is no directory on this host" });
  }
  const directory = account === undefined ? join(services.directory, start.session_id) : await passableDirectory();
  await using untilStarted = new AsyncDisposableStack();
  untilStarted.defer(() => rm(directory, { recursive: true, force: true }));
  const terminal = await Terminal.start({
    sessionId: start.session_id,
    shell,
    cwd,
    env: { ...env, ...TERMINAL_ENV, ...(start.for_agent ? AGENT_ENV : {}) },
    size: { cols: start.cols, rows: start.rows },
    directory,
    redaction: services.redaction ?? "on",
    probe: services.probe,
    screens: services.screens,
    emit,
    launcher: launching(start, services.ours, account),
    attended: start.attended ?? false,
    agentsMayAcquire: start.agents_may_acquire ?? true,
  });
  const { left } = terminal.shell;
  if (left.length > 0) terminal.frames.event("log_line", { event: "guard_incomplete", paths: [...left] });
  const ended = untilStarted.move();
  void terminal.ended.then(() => ended.disposeAsync());
  return { terminal, shell };
}

function launching(
  { containment, guard }: StartMessage,
  ours: readonly string[],
  account: SessionAccount | undefined,
): Launching | undefined {
  if (account !== undefined) return { account };
  return containment === "guard" ? { ours, terms: guard ?? {} } : undefined;
}

function programIn(path: string, name: string): string {
  const files = name.includes("/") ? [resolve(name)] : path.split(delimiter).map((folder) => join(folder, name));
  const found = files.find(isExecutable);
  if (found === undefined) throw new AppError("invalid_request", { detail: "No such shell on this host" });
  return found;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

const TERMINAL_ENV = { TERM: "xterm-256color", COLORTERM: "truecolor" };
const AGENT_ENV = { PAGER: "cat", GIT_PAGER: "cat" };

function refuseOtherRun(asked: string | undefined, active: string | undefined): void {
  if (asked !== undefined && active !== undefined && asked !== active) {
    throw new AppError("not_found", { detail: "Another run is active" });
  }
}

function refuse(refusal: Refusal | undefined): void {
  switch (refusal) {
    case undefined:
      return;
    case "busy":
      throw new AppError("busy");
    case "interactive_active":
      throw new AppError("interactive_active");
    case "starting":
      throw new AppError("busy", { detail: "The shell has not shown its prompt yet" });
    case "half_line":
      throw new AppError("busy", { detail: "Something is typed at the shell's prompt and not entered yet" });
    case "gone":
      throw new AppError("invalid_transition", { detail: "The shell has ended" });
  }
}
