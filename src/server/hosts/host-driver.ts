/**
 * Terminals on one host, reached over its link. Input numbers of a session grow, also over restarts of the hub: the
 * gate takes each once. Rules in docs/spec/host.md.
 */
import type { Actor } from "../../domain/actor.ts";
import { recorded } from "../../domain/control-record.ts";
import type { JsonObject } from "../../domain/event.ts";
import type { Session } from "../../domain/session.ts";
import type { Size } from "../../domain/session-frame.ts";
import type {
  Adoption,
  ControlAnswer,
  DriverInput,
  InputTaken,
  KnownSession,
  SessionIntake,
  StartTerms,
} from "../../hub/ports.ts";
import type {
  BlockBegun,
  BlockRequest,
  Prepared,
  PrepareRequest,
  ScreenText,
  Snapshot,
  TerminalDriver,
  TerminalStatus,
} from "../../hub/terminal-driver.ts";
import type { Logger } from "../../lib/logger.ts";
import { AppError } from "../../protocol/errors.ts";
import { ShellChanges } from "../../protocol/control.ts";
import type { ControlChange, GuardAbility } from "../../protocol/link.ts";
import {
  AdoptReply,
  ControlReply,
  InputReply,
  PreparedReply,
  RunReply,
  ScreenReply,
  SnapshotReply,
  StatusReply,
} from "../../protocol/link-replies.ts";
import { FrameCheck } from "./frame-check.ts";
import { actorOf, foregroundOf, given, read } from "./host-answers.ts";
import type { Ask, FrameMessage, HostLink } from "./host-link.ts";
import type { HostReply } from "./pending-requests.ts";
import { receivedFrame } from "./received-frame.ts";
import { SessionFeed } from "./session-feed.ts";

/** A fast terminal fills the host's memory for a session in about ten times as long. */
const ACKNOWLEDGE_MS = 10;
/** Of every session, before anybody has it. */
const FIRST_EPOCH = 1;

/** What of a host's may wait here to be stored, in all its sessions; below the second it is read from again. */
const WAITING_MOST = 32 * 1024 * 1024;
const WAITING_LEAST = 16 * 1024 * 1024;
/** Sessions whose last frames may still be on their way. */
const LEFT_MAX = 1_000;

export type HostDriverOptions = {
  readonly link: HostLink;
  readonly hostId: string;
  readonly logger: Logger;
  /** On another machine, under another's hands: what it says of who acted is compared with what was asked. */
  readonly isRemote?: boolean;
};

export class HostDriver implements TerminalDriver {
  readonly kind = "terminal";
  readonly hostId: string;
  readonly #link: HostLink;
  readonly #logger: Logger;
  readonly #isRemote: boolean;
  readonly #feeds = new Map<string, SessionFeed>();
  readonly #checks = new Map<string, FrameCheck>();
  readonly #left = new Set<string>();
  #waiting = 0;
  /** The last input number of each session. */
  readonly #inputs = new Map<string, number>();
  /** The newest epoch known of each session. */
  readonly #epochs = new Map<string, number>();
  readonly #returns: (() => void)[] = [];
  readonly #controls: ((sessionId: string, answer: ControlAnswer) => void)[] = [];
  /** Not yet acknowledged. */
  readonly #stored = new Map<string, number>();
  #acknowledging: NodeJS.Timeout | undefined;

  constructor({ link, hostId, logger, isRemote = false }: HostDriverOptions) {
    this.#link = link;
    this.hostId = hostId;
    this.#isRemote = isRemote;
    this.#logger = logger;
    link.listen({
      frame: (message, body, bytes) => this.#receive(message, body, bytes),
      online: () => {
        for (const listener of this.#returns) listener();
      },
      offline: () => this.#wentOffline(),
    });
  }

  get online(): boolean {
    return this.#link.online;
  }

  get hosted(): readonly string[] {
    return this.#link.welcome?.sessions ?? [];
  }

  get guard(): GuardAbility | undefined {
    return this.#link.welcome?.guard;
  }

  get localPid(): number | undefined {
    return this.#isRemote ? undefined : this.#link.welcome?.pid;
  }

  /** Nothing more is taken from the host; what is being stored is waited for. */
  async close(): Promise<void> {
    clearTimeout(this.#acknowledging);
    await Promise.all([...this.#feeds.values()].map((feed) => feed.stop()));
    this.#feeds.clear();
  }

  onReturn(listener: () => void): void {
    this.#returns.push(listener);
  }

  onControl(listener: (sessionId: string, answer: ControlAnswer) => void): void {
    this.#controls.push(listener);
  }

  async start(session: Session, terms: StartTerms, intake: SessionIntake): Promise<void> {
    const { sessionId, ownerAgentId, containment } = session;
    const feed = this.#feed(sessionId, { order: 0, cursor: 0 }, intake);
    const { agentsMayAcquire: agents_may_acquire, ...rest } = terms;
    const rules = { for_agent: ownerAgentId !== undefined, agents_may_acquire, containment };
    const start = { session_id: sessionId, ...rest, ...rules };
    try {
      await this.#link.request({ type: "START_INTERACTIVE_CMD", ...start });
      feed.confirm();
    } catch (error) {
      this.#forget(sessionId);
      throw error;
    }
  }

  async adopt(
    { sessionId }: Pick<Session, "sessionId">,
    known: KnownSession,
    intake: SessionIntake,
  ): Promise<Adoption> {
    const stored = await this.#feeds.get(sessionId)?.stop();
    try {
      return await this.#adoptFrom(sessionId, { ...known, order: Math.max(known.order, stored ?? 0) }, intake);
    } catch (error) {
      const { code } = error as Partial<AppError>;
      if (code === "host_offline" || code === "unknown_outcome") return "away";
      this.#forget(sessionId);
      if (code === "not_found") return "gone";
      throw error;
    }
  }

  async input(sessionId: string, input: DriverInput): Promise<InputTaken> {
    const { bytes, keys, by, ifPrompt, notAtShell, secret, epoch } = input;
    const ask = { type: "SEND_INPUT", ...this.#gated(sessionId, by), class: input.class } as const;
    const rest = {
      keys: keys && [...keys],
      if_prompt: ifPrompt,
      not_at_shell: notAtShell,
      secret,
      ...given({ epoch }),
    };
    const { fields } = await this.#act(sessionId, { ...ask, ...rest }, bytes);
    const { control, ...taken } = read(InputReply, fields);
    this.#tellControl(sessionId, control);
    return taken;
  }

  async control(sessionId: string, command: ControlChange): Promise<ControlAnswer> {
    const ask = { type: "CONTROL", session_id: sessionId, command, at: Date.now() } as const;
    const { fields } = await this.#act(sessionId, ask);
    return this.#controlIn(sessionId, fields);
  }

  async resize(sessionId: string, { cols, rows }: Size, by: Actor): Promise<void> {
    await this.#act(sessionId, { type: "RESIZE", session_id: sessionId, by, cols, rows });
  }

  async stop(sessionId: string): Promise<void> {
    try {
      await this.#link.request({ type: "TERMINATE_CMD", session_id: sessionId });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    }
  }

  async discard(sessionId: string): Promise<void> {
    await this.stop(sessionId);
    await this.adopt({ sessionId }, { order: 0 }, async () => undefined);
  }

  async prepare(sessionId: string, { programs, scripts, cwd, by }: PrepareRequest): Promise<Prepared> {
    const wanted = { programs: [...programs], scripts: [...scripts], cwd };
    const ask = { type: "PREPARE", ...this.#gated(sessionId, by), ...wanted } as const;
    const { fields } = await this.#act(sessionId, ask);
    const { control, ...prepared } = read(PreparedReply, fields);
    this.#tellControl(sessionId, control);
    return prepared;
  }

  async run(sessionId: string, request: BlockRequest): Promise<BlockBegun> {
    const { blockId, runId, command, cwd, by, epoch, bound, lifetimeMs } = request;
    const asked = { ...this.#gated(sessionId, by), block_id: blockId, run_id: runId };
    const ask =
      lifetimeMs === undefined
        ? ({ type: "RUN_BLOCK", ...asked, cwd } as const)
        : ({ type: "RUN_COMMAND", ...asked, lifetime_ms: lifetimeMs } as const);
    const approved = bound && { ...bound, programs: [...bound.programs], scripts: [...bound.scripts] };
    const { fields } = await this.#act(
      sessionId,
      { ...ask, ...given({ epoch, bound: approved }) },
      Buffer.from(command),
    );
    const { began_at: beganAt, control, ...begun } = read(RunReply, fields);
    this.#tellControl(sessionId, control);
    return { ...begun, beganAt };
  }

  async endRun(sessionId: string, runId: string | undefined, by: Actor): Promise<void> {
    await this.#act(sessionId, { type: "END_RUN", ...this.#gated(sessionId, by), run_id: runId });
  }

  async respawn(sessionId: string, by: Actor): Promise<void> {
    await this.#act(sessionId, { type: "RESPAWN", ...this.#gated(sessionId, by) });
  }

  async status(sessionId: string): Promise<TerminalStatus> {
    const { fields } = await this.#ask("STATUS", sessionId);
    const { block_id: blockId, run_id: runId, pid, cwd, directory, cols, rows, ...rest } = read(StatusReply, fields);
    const { foreground: front, home, ...status } = rest;
    const foreground = front && foregroundOf(front);
    return { ...status, size: { cols, rows }, ...given({ blockId, runId, pid, cwd, directory, home, foreground }) };
  }

  async changes(sessionId: string): Promise<ShellChanges> {
    const { fields, body } = await this.#ask("CHANGES", sessionId);
    const changes: unknown = JSON.parse(Buffer.from(body).toString());
    return read(ShellChanges, { ...fields, changes });
  }

  async screen(sessionId: string): Promise<ScreenText> {
    const { fields, body } = await this.#ask("READ_SCREEN", sessionId);
    const { cols, rows, cursor_row, cursor_col, alt_screen, title, cursor } = read(ScreenReply, fields);
    const place = { cursorRow: cursor_row, cursorCol: cursor_col, altScreen: alt_screen };
    return { lines: Buffer.from(body).toString().split("\n"), ...place, title, size: { cols, rows }, cursor };
  }

  async snapshot(sessionId: string): Promise<Snapshot> {
    const { fields, body } = await this.#ask("SNAPSHOT", sessionId);
    const { cols, rows, cursor } = read(SnapshotReply, fields);
    return { ansi: Buffer.from(body).toString(), size: { cols, rows }, cursor };
  }

  /** What was acknowledged is stored, also when the log itself doesn't show how far: then from there. */
  async #adoptFrom(sessionId: string, known: KnownSession, intake: SessionIntake, again = 1): Promise<Adoption> {
    const { order } = known;
    const feed = this.#feed(sessionId, known, intake);
    const { fields } = await this.#link.request({ type: "ADOPT", session_id: sessionId, order });
    const { acknowledged, inputs, order: last } = read(AdoptReply, fields);
    this.#inputs.set(sessionId, Math.max(inputs, this.#inputs.get(sessionId) ?? 0));
    if (acknowledged > order && again === 0) this.#mistrust(`of ${sessionId}: more is acknowledged each time`);
    else if (acknowledged > order)
      return this.#adoptFrom(sessionId, { ...known, order: acknowledged }, intake, again - 1);
    feed.confirm();
    return (await feed.until(last)) ? "running" : "away";
  }

  #ask(type: "STATUS" | "CHANGES" | "READ_SCREEN" | "SNAPSHOT", sessionId: string): Promise<HostReply> {
    return this.#link.request({ type, session_id: sessionId } satisfies Ask);
  }

  /** A refusal may be what paused the agent or ended its lease: that is known from then on. */
  async #act(sessionId: string, ask: Ask, body?: Uint8Array): Promise<HostReply> {
    const by = actorOf(ask);
    if (by !== undefined) this.#checks.get(sessionId)?.acts(by);
    try {
      return await this.#link.request(ask, body);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { control, ...details } = error.details;
      if (control === undefined) throw error;
      this.#tellControl(sessionId, control as JsonObject);
      throw new AppError(error.code, details, { cause: error });
    }
  }

  #gated(sessionId: string, by: Actor) {
    const number = (this.#inputs.get(sessionId) ?? 0) + 1;
    this.#inputs.set(sessionId, number);
    const epoch = by.kind === "agent" ? { epoch: this.#epochs.get(sessionId) ?? FIRST_EPOCH } : {};
    return { session_id: sessionId, by, number, ...epoch };
  }

  #tellControl(sessionId: string, fields: JsonObject | undefined): void {
    if (fields === undefined) return;
    const answer = this.#controlIn(sessionId, fields);
    for (const listener of this.#controls) listener(sessionId, answer);
  }

  #controlIn(sessionId: string, fields: unknown): ControlAnswer {
    const { position, action, ...rest } = read(ControlReply, fields);
    const state = recorded(rest as JsonObject);
    if (state === undefined) throw new AppError("internal", { detail: "The host's answer makes no sense." });
    this.#know(sessionId, state.epoch);
    return { state, position, ...given({ action }) };
  }

  #know(sessionId: string, epoch: unknown): void {
    if (typeof epoch !== "number") return;
    this.#epochs.set(sessionId, Math.max(epoch, this.#epochs.get(sessionId) ?? FIRST_EPOCH));
  }

  #feed(sessionId: string, { order, cursor, actors = [] }: KnownSession, intake: SessionIntake): SessionFeed {
    const check = new FrameCheck({ hostId: this.hostId, sessionId }, { cursor, before: this.#checks.get(sessionId) });
    for (const actor of actors) check.acts(actor);
    this.#checks.set(sessionId, check);
    this.#left.delete(sessionId);
    const feed = new SessionFeed({
      order,
      intake,
      acknowledge: (stored) => this.#acknowledge(sessionId, stored),
      onGap: (expected, came) => this.#link.restart(`frame ${came} of ${sessionId} came instead of ${expected}`),
      onTrouble: (error) => this.#logger.error("frames could not be stored", { session: sessionId, error }),
      onWaiting: (bytes) => this.#wait(bytes),
      onOver: () => this.#feeds.get(sessionId) === feed && this.#forget(sessionId),
    });
    this.#feeds.set(sessionId, feed);
    return feed;
  }

  /** Soon, together with what else is stored by then: the host only waits for it when its memory is full. */
  #acknowledge(sessionId: string, stored: number): void {
    this.#stored.set(sessionId, stored);
    this.#acknowledging ??= setTimeout(() => this.#acknowledgeAll(), ACKNOWLEDGE_MS);
  }

  #acknowledgeAll(): void {
    this.#acknowledging = undefined;
    for (const [sessionId, stored] of this.#stored) this.#link.acknowledge(sessionId, stored);
    this.#stored.clear();
  }

  #forget(sessionId: string): void {
    void this.#feeds.get(sessionId)?.stop();
    this.#feeds.delete(sessionId);
    this.#checks.delete(sessionId);
    if (this.#left.size >= LEFT_MAX) this.#left.clear();
    this.#left.add(sessionId);
    this.#inputs.delete(sessionId);
    this.#epochs.delete(sessionId);
  }

  #receive(message: FrameMessage, body: Uint8Array, bytes: number): void {
    const { session_id: sessionId } = message;
    const feed = this.#feeds.get(sessionId);
    const check = this.#checks.get(sessionId);
    if (feed === undefined || check === undefined) {
      if (this.#isRemote && !this.#left.has(sessionId))
        this.#mistrust(`a frame of ${sessionId}, which was not asked for here`);
      return;
    }
    if (!feed.expects(message.order)) return;
    const frame = receivedFrame(message, body);
    const fault = check.faultOf(frame);
    if (fault !== undefined) return this.#mistrust(`of ${sessionId}: ${fault}`);
    if (frame.kind === "event" && frame.type === "control_handoff") this.#know(sessionId, frame.payload["epoch"]);
    feed.take(this.#isRemote ? check.attributed(frame) : frame, bytes);
  }

  /** No correct host says so: nothing more is taken from this connection. */
  #mistrust(fault: string): void {
    this.#logger.error("a host broke the protocol", { host: this.hostId, fault });
    this.#link.restart(fault);
  }

  #wait(bytes: number): void {
    this.#waiting += bytes;
    if (this.#waiting > WAITING_MOST) this.#link.pause();
    else if (this.#waiting < WAITING_LEAST) this.#link.resume();
  }

  #wentOffline(): void {
    this.#stored.clear();
    for (const feed of this.#feeds.values()) void feed.stop();
  }
}
