/**
 * Terminals on one host, reached over its link. Input numbers of a session grow, also over restarts of the hub: the
 * gate takes each once. Rules in docs/spec/host.md.
 */
import type { z } from "zod";
import type { Actor } from "../../domain/actor.ts";
import { recorded } from "../../domain/control-record.ts";
import type { JsonObject } from "../../domain/event.ts";
import type { Session } from "../../domain/session.ts";
import type { Size } from "../../domain/session-frame.ts";
import type {
  Adoption,
  BlockBegun,
  BlockRequest,
  ControlAnswer,
  DriverInput,
  InputTaken,
  ScreenText,
  SessionIntake,
  Snapshot,
  StartTerms,
  TerminalDriver,
  TerminalStatus,
} from "../../hub/ports.ts";
import type { Logger } from "../../lib/logger.ts";
import { AppError } from "../../protocol/errors.ts";
import { ShellChanges } from "../../protocol/control.ts";
import type { ControlChange, GuardAbility } from "../../protocol/link.ts";
import {
  AdoptReply,
  ControlReply,
  InputReply,
  RunReply,
  ScreenReply,
  SnapshotReply,
  StatusReply,
} from "../../protocol/link-replies.ts";
import type { Ask, FrameMessage, HostLink } from "./host-link.ts";
import type { HostReply } from "./pending-requests.ts";
import { receivedFrame } from "./received-frame.ts";
import { SessionFeed } from "./session-feed.ts";

/** A fast terminal fills the host's memory for a session in about ten times as long. */
const ACKNOWLEDGE_MS = 10;
/** Of every session, before anybody has it. */
const FIRST_EPOCH = 1;

export class HostDriver implements TerminalDriver {
  readonly kind = "terminal";
  readonly hostId: string;
  readonly #link: HostLink;
  readonly #logger: Logger;
  readonly #feeds = new Map<string, SessionFeed>();
  /** The last input number of each session. */
  readonly #inputs = new Map<string, number>();
  /** The newest epoch known of each session. */
  readonly #epochs = new Map<string, number>();
  readonly #returns: (() => void)[] = [];
  readonly #controls: ((sessionId: string, answer: ControlAnswer) => void)[] = [];
  /** Not yet acknowledged. */
  readonly #stored = new Map<string, number>();
  #acknowledging: NodeJS.Timeout | undefined;

  constructor({ link, hostId, logger }: { readonly link: HostLink; readonly hostId: string; readonly logger: Logger }) {
    this.#link = link;
    this.hostId = hostId;
    this.#logger = logger;
    link.listen({
      frame: (message, body) => this.#receive(message, body),
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
    return this.#link.welcome?.pid;
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
    const feed = this.#feed(sessionId, 0, intake);
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

  async adopt({ sessionId }: Session, { order }: { readonly order: number }, intake: SessionIntake): Promise<Adoption> {
    const stored = await this.#feeds.get(sessionId)?.stop();
    try {
      return await this.#adoptFrom(sessionId, Math.max(order, stored ?? 0), intake);
    } catch (error) {
      const { code } = error as Partial<AppError>;
      if (code === "host_offline" || code === "unknown_outcome") return "away";
      this.#forget(sessionId);
      if (code === "not_found") return "gone";
      throw error;
    }
  }

  async input(sessionId: string, input: DriverInput): Promise<InputTaken> {
    const { bytes, keys, by, ifPrompt, notAtShell, secret } = input;
    const ask = { type: "SEND_INPUT", ...this.#gated(sessionId, by), class: input.class } as const;
    const rest = { keys: keys && [...keys], if_prompt: ifPrompt, not_at_shell: notAtShell, secret };
    const { fields } = await this.#act(sessionId, { ...ask, ...rest }, bytes);
    const { control, ...taken } = read(InputReply, fields);
    this.#tellControl(sessionId, control);
    return taken;
  }

  async control(sessionId: string, command: ControlChange): Promise<ControlAnswer> {
    const { fields } = await this.#act(sessionId, { type: "CONTROL", session_id: sessionId, command });
    return this.#controlIn(sessionId, fields);
  }

  async resize(sessionId: string, { cols, rows }: Size, by: Actor): Promise<void> {
    await this.#link.request({ type: "RESIZE", session_id: sessionId, by, cols, rows });
  }

  async stop(sessionId: string): Promise<void> {
    try {
      await this.#link.request({ type: "TERMINATE_CMD", session_id: sessionId });
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    }
  }

  async run(sessionId: string, { blockId, runId, command, cwd, by }: BlockRequest): Promise<BlockBegun> {
    const ask = { type: "RUN_BLOCK", ...this.#gated(sessionId, by), block_id: blockId, run_id: runId, cwd } as const;
    const { fields } = await this.#act(sessionId, ask, Buffer.from(command));
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
    const { block_id: blockId, run_id: runId, pid, cwd, directory, cols, rows, ...status } = read(StatusReply, fields);
    return { ...status, size: { cols, rows }, ...given({ blockId, runId, pid, cwd, directory }) };
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
  async #adoptFrom(sessionId: string, order: number, intake: SessionIntake): Promise<Adoption> {
    const feed = this.#feed(sessionId, order, intake);
    const { fields } = await this.#link.request({ type: "ADOPT", session_id: sessionId, order });
    const { acknowledged, inputs, order: last } = read(AdoptReply, fields);
    this.#inputs.set(sessionId, Math.max(inputs, this.#inputs.get(sessionId) ?? 0));
    if (acknowledged > order) return this.#adoptFrom(sessionId, acknowledged, intake);
    feed.confirm();
    return (await feed.until(last)) ? "running" : "away";
  }

  #ask(type: "STATUS" | "CHANGES" | "READ_SCREEN" | "SNAPSHOT", sessionId: string): Promise<HostReply> {
    return this.#link.request({ type, session_id: sessionId } satisfies Ask);
  }

  /** A refusal may be what paused the agent or ended its lease: that is known from then on. */
  async #act(sessionId: string, ask: Ask, body?: Uint8Array): Promise<HostReply> {
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

  #feed(sessionId: string, order: number, intake: SessionIntake): SessionFeed {
    const feed = new SessionFeed({
      order,
      intake,
      acknowledge: (stored) => this.#acknowledge(sessionId, stored),
      onGap: (expected, came) => this.#link.restart(`frame ${came} of ${sessionId} came instead of ${expected}`),
      onTrouble: (error) => this.#logger.error("frames could not be stored", { session: sessionId, error }),
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
    this.#inputs.delete(sessionId);
    this.#epochs.delete(sessionId);
  }

  #receive(message: FrameMessage, body: Uint8Array): void {
    if (message.type === "SESSION_EVENT" && message.event === "control_handoff") {
      this.#know(message.session_id, message.payload["epoch"]);
    }
    this.#feeds.get(message.session_id)?.take(receivedFrame(message, body));
  }

  #wentOffline(): void {
    this.#stored.clear();
    for (const feed of this.#feeds.values()) void feed.stop();
  }
}

function read<Schema extends z.ZodType>(schema: Schema, fields: unknown): z.output<Schema> {
  const { success, data, error } = schema.safeParse(fields);
  if (!success) throw new AppError("internal", { detail: "The host's answer makes no sense." }, { cause: error });
  return data;
}

function given<Fields extends object>(fields: Fields): { [K in keyof Fields]?: NonNullable<Fields[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as ReturnType<
    typeof given<Fields>
  >;
}
