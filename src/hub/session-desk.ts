/**
 * Sessions: who asked for one, how it lives, what is typed into it. The desk folds the log's `status` events and
 * hands the work to the driver of the session's kind. Rules in docs/spec/sessions.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { StoredEvent } from "../domain/event.ts";
import { applySession, type CommandForm, decideSession, type Session, type SessionCommand } from "../domain/session.ts";
import type { Size } from "../domain/session-frame.ts";
import type { Logger } from "../lib/logger.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { ParsedInput } from "../protocol/operations.ts";
import type { ControlDesk } from "./control-desk.ts";
import type { DriverTable } from "./driver-table.ts";
import { follow, type Journal } from "./journal.ts";
import type { OutputDesk } from "./output-desk.ts";
import type { DriverInput, InputTaken, SessionDriver } from "./ports.ts";
import type { TerminalDriver } from "./terminal-driver.ts";
import { SessionActors } from "./session-actors.ts";
import { birthOf } from "./session-birth.ts";
import { notStarted, transitionRefused } from "./session-refusals.ts";
import { type OnExit, SessionRunner, type SessionRunnerParts, type StartAsked, startSizeOf } from "./session-runner.ts";
import { Settling } from "./settling.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type SessionDeskParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly workspaces: WorkspaceDesk;
  readonly control: ControlDesk;
  readonly drivers: DriverTable;
  readonly logger: Logger;
  readonly newId: () => string;
  readonly hidden?: SessionRunnerParts["hidden"];
};

export class SessionDesk {
  readonly #parts: SessionDeskParts;
  readonly #runner: SessionRunner;
  readonly #sessions = new Map<string, Session>();
  readonly #sizes = new Map<string, Size>();
  readonly #actors = new SessionActors();
  /** One birth in a workspace at a time: a limit that all of them pass at once is none. */
  readonly #births = new Turns();
  /** Paused by a person, though that could not be recorded yet. */
  readonly #held = new Set<string>();
  /** What agents have on its way into a session. */
  readonly #acting = new Map<string, Set<Promise<unknown>>>();
  /** Stopped or ended, but not yet recorded as closed: nothing is typed into them any more. */
  readonly #ending = new Set<string>();
  /** By a former hub, and not yet taken up. */
  readonly #left = new Set<string>();
  readonly #takenUp: ((session: Session) => void)[] = [];
  readonly #settling = new Settling();

  constructor(parts: SessionDeskParts) {
    this.#parts = parts;
    this.#runner = new SessionRunner(parts, (session, frame) => this.#exited(session, frame));
  }

  /** Folds what is stored, then takes up or ends what a former hub left alive. */
  async start(): Promise<void> {
    await follow(this.#parts.journal.log, ["status", "resize", "control_handoff"], (event) => this.#fold(event));
    for (const { sessionId } of this.list()) if (this.isOpen(sessionId)) this.#left.add(sessionId);
    await this.#adoptAll(this.list());
    this.#parts.drivers.forEach((driver) => {
      this.#stopStrays(driver);
      driver.onReturn(() => {
        this.#stopStrays(driver);
        void this.#adoptAll(this.#on(driver));
      });
    });
    this.#parts.drivers.onRemove((driver) => {
      const alive = this.#on(driver).filter((it) => this.isOpen(it.sessionId));
      for (const session of alive)
        this.#settling.add(session.sessionId, this.#end(session, { reason: "host_removed" }));
    });
  }

  async create(config: ParsedInput<"session.create">, by: Actor, terms: BirthTerms = {}): Promise<Session> {
    const workspace = this.#parts.workspaces.get(config.workspaceId);
    const driver = this.#runner.driver(config.kind, workspace.hostId, workspace.workspaceId);
    if (!driver.online) throw new AppError("host_offline", { hostId: driver.hostId });
    const { sessionId = this.#parts.newId(), beside, command } = terms;
    const besideSessionId = beside === undefined ? {} : { besideSessionId: beside };
    const form = command === undefined ? {} : { command };
    const birth = { ...birthOf(config, by, { sessionId, workspace, driver }), ...besideSessionId, ...form };
    const created = await this.#births.run(config.workspaceId, async () => {
      this.#refuseOverLimit(config.workspaceId, workspace.limits.maxSessions);
      await this.#record(sessionId, by, () => ({ type: "create", birth }));
      return this.get(sessionId);
    });
    this.#settling.add(sessionId, this.#activate(created, terms));
    return created;
  }

  /** Called for each session that runs on and is heard of again, when its host has come back. */
  onTakenUp(listener: (session: Session) => void): void {
    this.#takenUp.push(listener);
  }

  list(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  find(sessionId: string): Session | undefined {
    return this.#sessions.get(sessionId);
  }

  get(sessionId: string): Session {
    const session = this.find(sessionId);
    if (session === undefined) throw new AppError("not_found", { what: "session", id: sessionId });
    return session;
  }

  isOpen(sessionId: string): boolean {
    return (this.#sessions.get(sessionId)?.status ?? "closed") !== "closed";
  }

  /** Holds agents off at once; the record follows. */
  async pause(sessionId: string, by: Actor): Promise<Session> {
    await this.#settled(sessionId);
    this.#held.add(sessionId);
    try {
      const paused = await this.#move(sessionId, by, { type: "pause" });
      // What was on its way to the gate before is there now: after the answer nothing more gets in.
      const acting: ReadonlySet<Promise<unknown>> = this.#acting.get(sessionId) ?? new Set();
      await Promise.allSettled(acting);
      this.#held.delete(sessionId);
      return paused;
    } catch (error) {
      if (!isRefusal(error, "storage_unavailable")) this.#held.delete(sessionId);
      throw error;
    }
  }

  async resume(sessionId: string, by: Actor): Promise<Session> {
    const heldOnly = this.#held.delete(sessionId) && this.get(sessionId).status === "active";
    return heldOnly ? this.get(sessionId) : this.#move(sessionId, by, { type: "resume" });
  }

  async close(sessionId: string, by: Actor, reason = "closed"): Promise<Session> {
    const session = this.get(sessionId);
    if (by.kind === "agent" && session.ownerAgentId !== by.id) {
      throw new AppError("forbidden", { detail: "An agent may close only a session that it started" });
    }
    await this.#settled(sessionId);
    if (!this.isOpen(sessionId)) throw transitionRefused(this.get(sessionId), "close");
    await this.#parts.control.refuseUnlessGoingOn(sessionId, by, "close");
    // Stopping takes power away, so it waits for nothing; and `closed` must be the last that is said of a session.
    this.#ending.add(sessionId);
    try {
      await this.#runner.stop(session);
      await this.#parts.output.announce(sessionId);
      await this.#record(sessionId, by, () => ({ type: "close", reason }));
      return this.get(sessionId);
    } finally {
      this.#ending.delete(sessionId);
      if (!this.isOpen(sessionId)) this.#release(sessionId);
    }
  }

  /** Closes what is open; answers how many that were. One that ends by itself meanwhile is fine. */
  async closeAll(by: Actor, reason: string): Promise<number> {
    let closed = 0;
    // Again for those that began meanwhile; not for ever, or somebody who starts them in a loop would hold us here.
    for (let round = 0; round < 5; round += 1) {
      const open = this.list().filter((session) => session.status !== "closed");
      if (open.length === 0) break;
      const ends = await Promise.allSettled(open.map((session) => this.close(session.sessionId, by, reason)));
      const failure = ends.find((it) => it.status === "rejected" && !isRefusal(it.reason, "invalid_transition"));
      if (failure?.status === "rejected") throw failure.reason;
      closed += ends.filter((it) => it.status === "fulfilled").length;
    }
    return closed;
  }

  /** Answers the place at which the session's gate took it. The gate records it, in the order of its output. */
  input(sessionId: string, input: DriverInput): Promise<InputTaken> {
    const act = (session: Session) => this.#runner.driverOf(session).input(sessionId, input);
    return this.#act(sessionId, input.by, act);
  }

  /** Something that this actor does in a terminal. */
  async inTerminal<T>(sessionId: string, by: Actor, act: (driver: TerminalDriver) => Promise<T>): Promise<T> {
    return this.#act(sessionId, by, (session) => act(this.#runner.terminal(session)));
  }

  /** For looking only; undefined when it no longer runs. */
  async running(sessionId: string): Promise<TerminalDriver | undefined> {
    const session = await this.#settled(sessionId);
    return this.isOpen(sessionId) ? this.#runner.terminal(session) : undefined;
  }

  async resize(sessionId: string, size: Size, by: Actor): Promise<void> {
    const session = await this.#settled(sessionId);
    if (session.status === "closed") throw transitionRefused(session, "resize");
    await this.#runner.driverOf(session).resize(sessionId, size, by);
  }

  size(sessionId: string): Size {
    return this.#sizes.get(sessionId) ?? startSizeOf(this.get(sessionId));
  }

  /** Drops closed sessions that retention no longer keeps. */
  forgetClosedBefore(instant: string): void {
    for (const session of this.list()) {
      if (session.status !== "closed" || session.updatedAt >= instant) continue;
      this.#sessions.delete(session.sessionId);
      this.#held.delete(session.sessionId);
      this.#sizes.delete(session.sessionId);
      this.#parts.journal.forget(session.sessionId);
      this.#parts.control.forget(session.sessionId);
    }
  }

  #fold(event: StoredEvent): void {
    const { cols, rows } = event.payload as Partial<Size>;
    if (event.type === "resize" && cols !== undefined && rows !== undefined) {
      this.#sizes.set(event.sessionId, { cols, rows });
    }
    if (event.type !== "resize") this.#actors.note(event);
    const next = applySession(this.#sessions.get(event.sessionId), event);
    if (next !== undefined) this.#sessions.set(event.sessionId, next);
    if (next?.status === "closed") this.#actors.forget(event.sessionId);
  }

  #refuseOverLimit(workspaceId: string, maxSessions: number): void {
    const open = this.list().filter((it) => it.workspaceId === workspaceId && it.status !== "closed").length;
    if (open >= maxSessions) {
      throw new AppError("limit_reached", { limit: "maxSessions", maxSessions, workspaceId });
    }
  }

  async #activate(session: Session, asked: StartAsked): Promise<void> {
    const host: Actor = { kind: "host", id: session.hostId };
    try {
      await this.#runner.start(session, asked);
      await this.#record(session.sessionId, host, () => ({ type: "activate" }));
    } catch (error) {
      this.#parts.logger.warn("a session did not start", { session: session.sessionId, error });
      const detail = error instanceof AppError ? error.message : undefined;
      await this.#end(session, { reason: "start_failed", detail });
    }
  }

  #on({ kind, hostId }: SessionDriver): readonly Session[] {
    return this.list().filter((it) => it.kind === kind && it.hostId === hostId);
  }

  async #adoptAll(sessions: readonly Session[]): Promise<void> {
    const alive = sessions.filter((it) => this.isOpen(it.sessionId) && !this.#ending.has(it.sessionId));
    const adopt = (session: Session): Promise<unknown> => {
      const adoption = this.#adopt(session);
      // Nothing is typed meanwhile: a grant from before may still stand, and which numbers were used isn't known.
      if (this.#left.has(session.sessionId)) this.#settling.add(session.sessionId, adoption);
      return adoption;
    };
    await Promise.all(alive.map(adopt));
  }

  /** What a host has though nobody knows it: its start was answered to a hub that is gone, or its end was acknowledged to nobody. */
  #stopStrays(driver: SessionDriver): void {
    for (const sessionId of driver.hosted.filter((id) => !this.isOpen(id))) {
      this.#parts.logger.warn("a session that nobody knows is stopped", { session: sessionId });
      driver.discard(sessionId).catch((error: unknown) => {
        this.#parts.logger.error("a session could not be stopped", { session: sessionId, error });
      });
    }
  }

  /** A driver that fails to take up one session costs that session, not the start of the hub. */
  async #adopt(session: Session): Promise<void> {
    const { sessionId, hostId } = session;
    try {
      const adoption = await this.#runner.adopt(session, this.#actors.of(session));
      if (adoption === "gone") return await this.#end(session, { reason: "host_lost" });
      if (adoption === "away") return undefined;
      await this.#parts.control.adopted(session);
      this.#left.delete(sessionId);
      if (session.status === "created") {
        await this.#record(sessionId, { kind: "host", id: hostId }, () => ({ type: "activate" }));
      }
      for (const listener of this.#takenUp) listener(session);
      return undefined;
    } catch (error) {
      // The link broke again: the session runs on, and is taken up when its host is back.
      if (isRefusal(error, "host_offline") || isRefusal(error, "unknown_outcome")) return undefined;
      // It ended while no hub was there: what it said, and its end, come as its frames.
      if (isRefusal(error, "invalid_transition")) return undefined;
      this.#parts.logger.error("a session could not be taken up", { session: sessionId, error });
      return this.#end(session, { reason: "host_lost" });
    }
  }

  async #exited(session: Session, how: Parameters<OnExit>[1]): Promise<void> {
    if (this.#ending.has(session.sessionId)) return;
    const ended = this.#end(session, how);
    this.#settling.add(session.sessionId, ended);
    await ended;
  }

  /** The end of a session that nobody asked for; already closed is fine. */
  async #end(session: Session, how: Parameters<OnExit>[1] & { readonly detail?: string | undefined }): Promise<void> {
    const { sessionId } = session;
    const { logger, output } = this.#parts;
    const { reason, detail, exitCode, signal } = how;
    this.#ending.add(sessionId);
    try {
      await output
        .announce(sessionId)
        .catch((error: unknown) => logger.error("output unannounced", { session: sessionId, error }));
      const close = { type: "close", reason, detail, exitCode, signal } as const;
      await this.#record(sessionId, { kind: "host", id: session.hostId }, () => close);
    } catch (error) {
      if (!isRefusal(error, "invalid_transition"))
        logger.error("the end of a session could not be stored", { session: sessionId, error });
    } finally {
      this.#ending.delete(sessionId);
      this.#release(sessionId);
    }
  }

  /** Readers come to their end only now: `closed` is the last thing they see. */
  #release(sessionId: string): void {
    this.#parts.output.release(sessionId);
    this.#runner.forget(sessionId);
  }

  async #act<T>(sessionId: string, by: Actor, act: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#settled(sessionId);
    this.#refuseInput(sessionId, by);
    const acting = this.#acting.get(sessionId) ?? new Set();
    this.#acting.set(sessionId, acting);
    const action = act(session);
    if (by.kind !== "person") acting.add(action);
    try {
      return await action;
    } catch (error) {
      // It ended while the input was on its way: that is a refusal, no fault.
      this.#refuseInput(sessionId, by);
      throw error;
    } finally {
      acting.delete(action);
      if (acting.size === 0) this.#acting.delete(sessionId);
    }
  }

  #refuseInput(sessionId: string, by: Actor): void {
    const session = this.get(sessionId);
    if (this.#ending.has(sessionId)) throw transitionRefused({ ...session, status: "closed" }, "input");
    if (session.status === "closed")
      throw session.detail === undefined ? transitionRefused(session, "input") : notStarted(session);
    const paused = session.status === "paused" || this.#held.has(sessionId);
    if (paused && by.kind !== "person") throw new AppError("session_paused", { sessionId });
  }

  async #settled(sessionId: string): Promise<Session> {
    await this.#settling.done(sessionId);
    return this.get(sessionId);
  }

  async #move(sessionId: string, by: Actor, command: SessionCommand): Promise<Session> {
    await this.#settled(sessionId);
    await this.#record(sessionId, by, () => command);
    return this.get(sessionId);
  }

  async #record(sessionId: string, by: Actor, command: () => SessionCommand): Promise<void> {
    await this.#parts.journal.record(sessionId, "process", () => {
      const state = this.#sessions.get(sessionId);
      const wanted = command();
      const decision = decideSession(state, wanted);
      if (!decision.ok) throw transitionRefused(state, wanted.type);
      return { type: "status", payload: decision.payload, source: by };
    });
  }
}

export type BirthTerms = StartAsked & {
  /** Where it was settled before. */
  readonly sessionId?: string | undefined;
  /** Of a fresh shell: the session that it was opened for. */
  readonly beside?: string | undefined;
  /** It is for one command alone. */
  readonly command?: CommandForm | undefined;
};

function isRefusal(error: unknown, code: string): boolean {
  return error instanceof AppError && error.code === code;
}
