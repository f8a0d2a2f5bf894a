/**
 * Sessions: who asked for one, how it lives, what is typed into it. The desk folds the log's `status` events and
 * hands the work to the driver of the session's kind. Rules in docs/spec/sessions.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { NewEvent, StoredEvent } from "../domain/event.ts";
import {
  applySession,
  decideSession,
  type Session,
  type SessionBirth,
  type SessionCommand,
} from "../domain/session.ts";
import type { Logger } from "../lib/logger.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { ParsedInput } from "../protocol/operations.ts";
import { follow, type Journal } from "./journal.ts";
import type { OutputDesk } from "./output-desk.ts";
import type { DriverSink, SessionDriver } from "./ports.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type SessionDeskParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly workspaces: WorkspaceDesk;
  readonly drivers: readonly SessionDriver[];
  readonly logger: Logger;
  readonly newId: () => string;
};

export class SessionDesk {
  readonly #parts: SessionDeskParts;
  readonly #sessions = new Map<string, Session>();
  /** One birth in a workspace at a time: a limit that all of them pass at once is none. */
  readonly #births = new Turns();
  /** Paused by a person, though that could not be recorded yet. */
  readonly #held = new Set<string>();
  /** Stopped or ended, but not yet recorded as closed: nothing is typed into them any more. */
  readonly #ending = new Set<string>();
  /** What a session is still becoming; commands wait for it, so that create-then-pause is no race. */
  readonly #settling = new Map<string, Promise<unknown>>();

  constructor(parts: SessionDeskParts) {
    this.#parts = parts;
  }

  /** Folds what is stored, then takes up or ends what a former hub left alive. */
  async start(): Promise<void> {
    await follow(this.#parts.journal.log, ["status"], (event) => this.#fold(event));
    const alive = this.list().filter((session) => session.status !== "closed");
    await Promise.all(alive.map((session) => this.#adopt(session)));
  }

  async create(config: ParsedInput<"session.create">, by: Actor): Promise<Session> {
    const workspace = this.#parts.workspaces.get(config.workspaceId);
    const driver = this.#driver(config.kind, workspace.hostId);
    const birth: SessionBirth = { sessionId: this.#parts.newId(), ...birthOf(config, by), hostId: driver.hostId };
    const created = await this.#births.run(config.workspaceId, async () => {
      this.#refuseOverLimit(config.workspaceId, workspace.limits.maxSessions);
      await this.#record(birth.sessionId, by, () => ({ type: "create", birth }));
      return this.get(birth.sessionId);
    });
    this.#settle(birth.sessionId, this.#activate(created, driver));
    return created;
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
    // Stopping takes power away, so it waits for nothing; and `closed` must be the last that is said of a session.
    this.#ending.add(sessionId);
    try {
      await this.#stop(session);
      return await this.#move(sessionId, by, { type: "close", reason });
    } finally {
      this.#ending.delete(sessionId);
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

  async input(sessionId: string, bytes: Uint8Array, by: Actor): Promise<void> {
    const session = await this.#settled(sessionId);
    this.#refuseInput(sessionId, by);
    const driver = this.#driver(session.kind, session.hostId);
    const event: NewEvent = { type: "input", payload: { bytes: bytes.length }, source: by };
    if (by.kind === "person") {
      // A person's input waits for nothing, not even for the disk.
      await this.#type(driver, sessionId, bytes, by);
      this.#parts.journal
        .note(sessionId, "process", [event])
        .catch((error: unknown) => this.#parts.logger.error("input unrecorded", { session: sessionId, error }));
      return;
    }
    await this.#parts.journal.record(sessionId, "process", () => {
      this.#refuseInput(sessionId, by);
      return event;
    });
    // A person may have paused the session while the record was on its way to the disk.
    this.#refuseInput(sessionId, by);
    await this.#type(driver, sessionId, bytes, by);
  }

  async resize(sessionId: string, cols: number, rows: number): Promise<void> {
    const session = await this.#settled(sessionId);
    if (session.status === "closed") throw transitionRefused(session, "resize");
    await this.#driver(session.kind, session.hostId).resize(sessionId, cols, rows);
    const cursor = await this.#parts.output.size(sessionId);
    const source: Actor = { kind: "host", id: session.hostId };
    await this.#parts.journal.note(sessionId, "process", [{ type: "resize", payload: { cols, rows }, source, cursor }]);
  }

  /** Undefined for a session that no longer runs anywhere: its output can still be read. */
  size(sessionId: string): { readonly cols: number; readonly rows: number } | undefined {
    const session = this.get(sessionId);
    return this.isOpen(sessionId) ? this.#driver(session.kind, session.hostId).size(sessionId) : undefined;
  }

  /** Drops closed sessions that retention no longer keeps. */
  forgetClosedBefore(instant: string): void {
    for (const session of this.list()) {
      if (session.status !== "closed" || session.updatedAt >= instant) continue;
      this.#sessions.delete(session.sessionId);
      this.#held.delete(session.sessionId);
      this.#parts.journal.forget(session.sessionId);
    }
  }

  #fold(event: StoredEvent): void {
    const next = applySession(this.#sessions.get(event.sessionId), event);
    if (next !== undefined) this.#sessions.set(event.sessionId, next);
  }

  #driver(kind: Session["kind"], hostId: string): SessionDriver {
    const driver = this.#parts.drivers.find((it) => it.kind === kind && it.hostId === hostId);
    if (driver !== undefined) return driver;
    throw new AppError("kind_unavailable", {
      kind,
      hostId,
      detail: `No driver for ${kind} sessions on host ${hostId}`,
    });
  }

  #refuseOverLimit(workspaceId: string, maxSessions: number): void {
    const open = this.list().filter((it) => it.workspaceId === workspaceId && it.status !== "closed").length;
    if (open >= maxSessions) {
      throw new AppError("limit_reached", { limit: "maxSessions", maxSessions, workspaceId });
    }
  }

  async #activate(session: Session, driver: SessionDriver): Promise<void> {
    try {
      await driver.start(session, await this.#sink(session));
      await this.#record(session.sessionId, { kind: "host", id: driver.hostId }, () => ({ type: "activate" }));
    } catch (error) {
      this.#parts.logger.warn("a session did not start", { session: session.sessionId, error });
      // It may run although that could not be stored; nobody would ever end it.
      await driver.stop(session.sessionId).catch((failure: unknown) => {
        this.#parts.logger.error("a session could not be stopped", { session: session.sessionId, error: failure });
      });
      await this.#end(session, "start_failed");
    }
  }

  /** A driver that fails to take up one session costs that session, not the start of the hub. */
  async #adopt(session: Session): Promise<void> {
    const { sessionId, hostId } = session;
    const driver = this.#parts.drivers.find((it) => it.kind === session.kind && it.hostId === hostId);
    try {
      const alive = driver !== undefined && (await driver.adopt(session, await this.#sink(session)));
      if (!alive) return await this.#end(session, "host_lost");
      if (session.status !== "created") return undefined;
      return await this.#record(sessionId, { kind: "host", id: hostId }, () => ({ type: "activate" }));
    } catch (error) {
      this.#parts.logger.error("a session could not be taken up", { session: sessionId, error });
      return this.#end(session, "host_lost");
    }
  }

  async #sink(session: Session): Promise<DriverSink> {
    const { sessionId } = session;
    await this.#parts.output.begin(sessionId, { kind: "host", id: session.hostId });
    return {
      output: (bytes) => this.#parts.output.write(sessionId, bytes),
      ended: (reason) => this.#settle(sessionId, this.#end(session, reason)),
    };
  }

  /** The end of a session that nobody asked for; already closed is fine. */
  async #end(session: Session, reason: string): Promise<void> {
    const { sessionId } = session;
    const { logger, output } = this.#parts;
    this.#ending.add(sessionId);
    try {
      await output
        .end(sessionId)
        .catch((error: unknown) => logger.error("output unannounced", { session: sessionId, error }));
      await this.#record(sessionId, { kind: "host", id: session.hostId }, () => ({ type: "close", reason }));
    } catch (error) {
      if (isRefusal(error, "invalid_transition")) return;
      logger.error("the end of a session could not be stored", { session: sessionId, error });
    } finally {
      this.#ending.delete(sessionId);
    }
  }

  async #stop({ sessionId, kind, hostId }: Session): Promise<void> {
    const driver = this.#parts.drivers.find((it) => it.kind === kind && it.hostId === hostId);
    await driver?.stop(sessionId);
    await this.#parts.output.end(sessionId);
  }

  async #type(driver: SessionDriver, sessionId: string, bytes: Uint8Array, by: Actor): Promise<void> {
    try {
      await driver.input(sessionId, bytes, by);
    } catch (error) {
      // It ended while the input was on its way: that is a refusal, no fault.
      this.#refuseInput(sessionId, by);
      throw error;
    }
  }

  #refuseInput(sessionId: string, by: Actor): void {
    const session = this.get(sessionId);
    if (this.#ending.has(sessionId)) throw transitionRefused({ ...session, status: "closed" }, "input");
    if (session.status === "closed") throw transitionRefused(session, "input");
    const paused = session.status === "paused" || this.#held.has(sessionId);
    if (paused && by.kind !== "person") throw new AppError("session_paused", { sessionId });
  }

  #settle(sessionId: string, becoming: Promise<unknown>): void {
    const settling = becoming.finally(() => {
      if (this.#settling.get(sessionId) === settling) this.#settling.delete(sessionId);
    });
    this.#settling.set(sessionId, settling);
  }

  async #settled(sessionId: string): Promise<Session> {
    await this.#settling.get(sessionId);
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

function birthOf(config: ParsedInput<"session.create">, by: Actor): Omit<SessionBirth, "sessionId" | "hostId"> {
  const { kind, workspaceId, conversationId, interactive, title = kind } = config;
  const ownerAgentId = ownerOf(config.ownerAgentId, by);
  return {
    kind,
    ...(ownerAgentId === undefined ? {} : { ownerAgentId }),
    workspaceId,
    ...(conversationId === undefined ? {} : { conversationId }),
    interactive,
    containment: "open",
    title,
  };
}

/** A person may start a session for an agent; an agent starts its own. */
function ownerOf(asked: string | undefined, by: Actor): string | undefined {
  if (by.kind !== "agent") return asked;
  if (asked === undefined || asked === by.id) return by.id;
  throw new AppError("forbidden", { detail: "An agent can't start a session for another agent" });
}

function isRefusal(error: unknown, code: string): boolean {
  return error instanceof AppError && error.code === code;
}

function transitionRefused(session: Session | undefined, command: string): AppError {
  const status = session?.status ?? "none";
  return new AppError("invalid_transition", {
    status,
    command,
    detail: `Can't ${command} a session that is ${status}`,
  });
}
