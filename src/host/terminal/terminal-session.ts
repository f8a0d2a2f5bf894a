/**
 * A terminal as the host's link sees it: requests come in, each becomes one call of the terminal, its gate or its
 * screen. Rules in docs/spec/terminal.md.
 */
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { keyBytes } from "../../domain/keys.ts";
import type { JsonObject } from "../../domain/event.ts";
import { redactText } from "../../domain/redaction/redact-text.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { AppError } from "../../protocol/errors.ts";
import type { HostedSession, OpenSession, Reply, SessionRequest, StartMessage } from "../hosted-session.ts";
import type { CommandForm } from "../../domain/session.ts";
import { BlockRunner } from "./block-runner.ts";
import { commandShell } from "./command/command-launch.ts";
import { CommandRunner } from "./command/command-runner.ts";
import { stopCommand } from "./command/command-stop.ts";
import { endRun, terminate } from "./ending.ts";
import type { Launching } from "./launcher.ts";
import { loginEnvironment } from "./login-environment.ts";
import type { TerminalPatience } from "./patience.ts";
import type { Probe } from "./probe/probe.ts";
import { executableOf, groupMembers } from "./probe/processes.ts";
import type { QuietTime } from "./quiet-clock.ts";
import type { Screens } from "./screen/screens.ts";
import { accountOf, passableDirectory, type SessionAccount } from "./session-account.ts";
import { removeDirectory } from "./shared-files.ts";
import { shellReport } from "./shell-report.ts";
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
  readonly patience?: Partial<TerminalPatience> | undefined;
  /** As a stick's. Shorter only in tests. */
  readonly overdueMs?: number | undefined;
  /** Of terminals' silence; default: the machine's. */
  readonly time?: QuietTime | undefined;
};

/** What opens the terminals of this host. */
export function openTerminal(services: TerminalServices): OpenSession {
  return async (start, emit) => new TerminalSession(start, await startTerminal(services, start, emit));
}

type RunRequest = Extract<SessionRequest, { type: "RUN_BLOCK" }>;
type CommandRequest = Extract<SessionRequest, { type: "RUN_COMMAND" }>;
type PrepareRequest = Extract<SessionRequest, { type: "PREPARE" }>;
type ControlRequest = Extract<SessionRequest, { type: "CONTROL" }>;
type InputRequest = Extract<SessionRequest, { type: "SEND_INPUT" }>;

class TerminalSession implements HostedSession {
  readonly sessionId: string;
  readonly #terminal: Terminal;
  readonly #shellName: string;
  readonly #home: string | undefined;
  readonly #runner: BlockRunner;
  readonly #form: CommandForm | undefined;
  readonly #command: CommandRunner | undefined;

  constructor(start: StartMessage, { terminal, shell, home }: StartedTerminal) {
    this.sessionId = start.session_id;
    this.#terminal = terminal;
    this.#shellName = shell;
    this.#home = home;
    this.#runner = new BlockRunner(terminal, shell);
    this.#form = start.command;
    this.#command = start.command && new CommandRunner(terminal, start.command, shell);
  }

  get processIds(): readonly number[] {
    const { over, shell } = this.#terminal;
    return over ? [] : [shell.pid, ...shell.keepers];
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
    refuseOtherForm(this.#form, request.type);
    switch (request.type) {
      case "SEND_INPUT":
        return this.#input(request, body);
      case "PREPARE":
        return this.#prepare(request);
      case "RUN_BLOCK":
        return this.#run(request, body);
      case "RUN_COMMAND":
        return this.#runCommand(request, body);
      case "END_RUN":
        refuseOtherRun(request.run_id, terminal.blocks.run?.runId);
        await terminal.gate.take(request, (recheck) => ({ answer: endRun(terminal, request.by, recheck) }));
        return { fields: {} };
      case "RESPAWN":
        await terminal.gate.take(request, () => ({ answer: terminal.respawn(request.by) }));
        return { fields: { pid: terminal.shell.pid } };
      case "CONTROL":
        return this.#control(request);
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

  #control({ command, at }: ControlRequest): Reply {
    const { stick, work } = this.#terminal;
    const isDriving = stick.state.mode === "AGENT";
    const { action } = stick.command(command, at);
    if (command.type === "intent" && command.intent === "STOP_NOW") {
      this.#stop({ drivesForeground: isDriving || work.isInFront, scope: command.scope ?? "agent", by: command.by });
    }
    return { fields: { ...stick.describe(), ...(action === undefined ? {} : { action }) } };
  }

  /** The gate is shut. Nobody waits for the rest; the receipt is an event. */
  #stop(order: Pick<StopOrder, "drivesForeground" | "scope" | "by">): void {
    const { stick, work } = this.#terminal;
    const { dropped, times: agentTimes } = work;
    const lost = { droppedInputs: dropped.inputs, droppedBytes: dropped.bytes };
    work.dropped = { inputs: 0, bytes: 0 };
    // Another stop may come before this one is done: what is told says whose it is.
    const { epoch: stop_epoch } = stick;
    const tell = (receipt: JsonObject): void =>
      void stick.command({ type: "stopped", receipt: { ...receipt, stop_epoch } });
    if (this.#form !== undefined) {
      void stopCommand(this.#terminal, { ...order, agentTimes, ...lost }, (receipt) => tell({ ...receipt }));
      return;
    }
    stopNow(this.#terminal, { ...order, agentTimes, ...lost }).then(
      (receipt) => tell({ ...receipt }),
      (error: unknown) => tell({ failed: String(error) }),
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
    const begun = await this.#runner.run(request, Buffer.from(bytes).toString("utf8"));
    return { fields: { ...begun, ...this.#controlSince(request.epoch) } };
  }

  async #runCommand(request: CommandRequest, bytes: Uint8Array): Promise<Reply> {
    if (this.#command === undefined) throw new AppError("invalid_request", { detail: "It is for no single command" });
    const begun = await this.#command.run(request, Buffer.from(bytes).toString("utf8"));
    return { fields: { ...begun, ...this.#controlSince(request.epoch) } };
  }

  async #prepare(request: PrepareRequest): Promise<Reply> {
    const runner = this.#command ?? this.#runner;
    const { epoch, digest, cwd, parts, resolved, unbound } = await runner.prepare(request);
    const told = { epoch, digest, cwd, parts, resolved, unbound: unbound.map((it) => ({ ...it })) };
    return { fields: { ...told, ...this.#controlSince(request.epoch) } };
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
      ...(blocks.mode === "idle" ? {} : this.#foreground()),
      ...(this.#home === undefined ? {} : { home: this.#home }),
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

  /** Who would get what is typed now. */
  #foreground(): JsonObject {
    const { shell, prompts, watch, clock } = this.#terminal;
    const { foregroundGroup: group } = shell;
    const members = group === undefined ? [] : groupMembers(group, shell.pid).map(({ pid }) => pid);
    // Its first one is what people know it by.
    const inOrder = members.toSorted((one, other) => Number(other === group) - Number(one === group));
    const nameOf = (pid: number): string | undefined =>
      // It runs what it was given and takes no commands from its terminal.
      this.#form !== undefined && pid === shell.pid && shell.isItself ? undefined : executableOf(pid);
    const others = [...new Set(inOrder.flatMap((pid) => nameOf(pid) ?? []))];
    const programs = others.length === 0 && members.length > 0 ? ["command"] : others;
    if (programs.length === 0) return {};
    const { present } = prompts;
    if (present === undefined) watch.lookOnRequest(clock.silentMs);
    const waits = present && { prompt_id: present.promptId, for: present.waitsFor };
    const [at_empty_prompt, hides_lines] = [present?.isEmptyLine === true, this.#terminal.modes().secretLine];
    return { foreground: { programs, at_empty_prompt, hides_lines, ...(waits && { waits }) } };
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

type StartedTerminal = { readonly terminal: Terminal; readonly shell: string; readonly home: string | undefined };

async function startTerminal(
  services: TerminalServices,
  start: StartMessage,
  emit: (frame: SessionFrame) => void,
): Promise<StartedTerminal> {
  const account = start.containment === "user" ? await accountOf(start.user) : undefined;
  const login = account === undefined ? (services.environment ?? loginEnvironment) : () => loginEnvironment(account);
  // The first question must not wait for a thread to start.
  const [env] = await Promise.all([login(), services.probe()]);
  const usual = programIn(env["PATH"] ?? "", start.shell ?? env["SHELL"] ?? "/bin/bash");
  const shell = start.command === undefined ? usual : commandShell(usual);
  const cwd = start.cwd ?? env["HOME"] ?? homedir();
  if (start.cwd !== undefined && !isDirectory(start.cwd)) {
    throw new AppError("invalid_request", { detail: "cwd is no directory on this host" });
  }
  const directory = account === undefined ? join(services.directory, start.session_id) : await passableDirectory();
  await using untilStarted = new AsyncDisposableStack();
  untilStarted.defer(() => removeDirectory(directory));
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
    time: services.time,
    emit,
    launcher: launching(start, services.ours, account),
    attended: start.attended ?? false,
    agentsMayAcquire: start.agents_may_acquire ?? true,
    overdueMs: services.overdueMs,
    command: start.command,
    patience: services.patience,
  });
  // Before that it has the directory of whoever starts it, and what it is asked would be wrong.
  if (start.command !== undefined) await terminal.shell.whenItself();
  const { left } = terminal.shell;
  if (left.length > 0) terminal.frames.event("log_line", { event: "guard_incomplete", paths: [...left] });
  const ended = untilStarted.move();
  void terminal.ended.then(() => ended.disposeAsync());
  return { terminal, shell, home: env["HOME"] };
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

/** A session for one command has no shell that could be given another, and without a terminal nothing to type into. */
function refuseOtherForm(form: CommandForm | undefined, type: SessionRequest["type"]): void {
  if (form === undefined || (type !== "SEND_INPUT" && !SHELLS_ONLY.has(type))) return;
  if (type === "SEND_INPUT" && form === "interactive") return;
  const detail = type === "SEND_INPUT" ? "The command has no terminal" : "The session is for one command alone";
  throw new AppError("invalid_transition", { detail });
}

const SHELLS_ONLY: ReadonlySet<SessionRequest["type"]> = new Set(["RUN_BLOCK", "END_RUN", "RESPAWN", "CHANGES"]);

function refuseOtherRun(asked: string | undefined, active: string | undefined): void {
  if (asked !== undefined && active !== undefined && asked !== active) {
    throw new AppError("not_found", { detail: "Another run is active" });
  }
}
