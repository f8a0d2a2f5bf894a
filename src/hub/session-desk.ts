/**
 * Sessions: who asked for one, how it lives, what is typed into it. The desk folds the log's `status` events and
 * hands the work to the driver of the session's kind. Rules SES-1..SES-12 in docs/spec/sessions.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { StoredEvent } from "../domain/event.ts";
import { applySession, decideSession, type Session, type SessionCommand } from "../domain/session.ts";
import type { Logger } from "../lib/logger.ts";
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
    const sessionId = this.#parts.newId();
    await this.#record(sessionId, by, () => {
      this.#refuseOverLimit(config.workspaceId, workspace.limits.maxSessions);
      return {
        type: "create",
        birth: {
          sessionId,
          kind: config.kind,
          ...(by.kind === "agent" ? { ownerAgentId: by.id } : {}),
          workspaceId: config.workspaceId,
          hostId: driver.hostId,
          ...(config.conversationId === undefined ? {} : { conversationId: config.conversationId }),
          interactive: config.interactive,
          containment: "open",
          title: config.title ?? config.kind,
        },
      };
    });
    const created = this.get(sessionId);
    this.#settle(sessionId, this.#activate(created, driver));
    return created;
  }

  list(): readonly Session[] {
    return [...this.#sessions.values()];
  }

  get(sessionId: string): Session {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new AppError("not_found", { what: "session", id: sessionId });
    return session;
  }

  async pause(sessionId: string, by: Actor): Promise<Session> {
    return this.#move(sessionId, by, { type: "pause" });
  }

  async resume(sessionId: string, by: Actor): Promise<Session> {
    return this.#move(sessionId, by, { type: "resume" });
  }

  async close(sessionId: string, by: Actor, reason = "closed"): Promise<Session> {
    const session = this.get(sessionId);
    if (by.kind === "agent" && session.ownerAgentId !== by.id) {
      throw new AppError("forbidden", { detail: "An agent may close only a session that it started" });
    }
    await this.#move(sessionId, by, { type: "close", reason });
    await this.#stop(session);
    return this.get(sessionId);
  }

  /** Closes what is open; answers how many that were. */
  async closeAll(by: Actor, reason: string): Promise<number> {
    const open = this.list().filter((session) => session.status !== "closed");
    await Promise.all(open.map((session) => this.close(session.sessionId, by, reason)));
    return open.length;
  }

  async input(sessionId: string, bytes: Uint8Array, by: Actor): Promise<void> {
    const session = await this.#settled(sessionId);
    if (session.status === "closed") throw transitionRefused(session, "input");
    if (session.status === "paused" && by.kind !== "person") throw new AppError("session_paused", { sessionId });
    const driver = this.#driver(session.kind, session.hostId);
    const record = () =>
      this.#parts.journal.note(sessionId, "process", [{ type: "input", payload: { bytes: bytes.length }, source: by }]);
    if (by.kind === "person") {
      // A person's input waits for nothing, not even for the disk.
      await driver.input(sessionId, bytes, by);
      await record().catch((error: unknown) =>
        this.#parts.logger.error("input unrecorded", { session: sessionId, error }),
      );
    } else {
      await record();
      await driver.input(sessionId, bytes, by);
    }
  }

  async resize(sessionId: string, cols: number, rows: number): Promise<void> {
    const session = await this.#settled(sessionId);
    if (session.status === "closed") throw transitionRefused(session, "resize");
    await this.#driver(session.kind, session.hostId).resize(sessionId, cols, rows);
  }

  size(sessionId: string): { readonly cols: number; readonly rows: number } {
    const session = this.get(sessionId);
    return this.#driver(session.kind, session.hostId).size(sessionId);
  }

  /** Drops closed sessions that retention no longer keeps. */
  forgetClosedBefore(instant: string): void {
    for (const session of this.list()) {
      if (session.status !== "closed" || session.updatedAt >= instant) continue;
      this.#sessions.delete(session.sessionId);
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
      await driver.start(session, this.#sink(session));
      await this.#record(session.sessionId, { kind: "host", id: driver.hostId }, () => ({ type: "activate" }));
    } catch (error) {
      this.#parts.logger.warn("a session did not start", { session: session.sessionId, error });
      await this.#end(session, "start_failed");
    }
  }

  async #adopt(session: Session): Promise<void> {
    const { sessionId } = session;
    const driver = this.#parts.drivers.find((it) => it.kind === session.kind && it.hostId === session.hostId);
    const alive = driver !== undefined && (await driver.adopt(session, this.#sink(session)));
    if (!alive) return this.#end(session, "host_lost");
    if (session.status !== "created") return undefined;
    await this.#record(sessionId, { kind: "host", id: driver.hostId }, () => ({ type: "activate" }));
    return undefined;
  }

  #sink(session: Session): DriverSink {
    const source: Actor = { kind: "host", id: session.hostId };
    return {
      output: (bytes) => this.#parts.output.write(session.sessionId, source, bytes),
      ended: (reason) => this.#settle(session.sessionId, this.#end(session, reason)),
    };
  }

  /** The end of a session that nobody asked for; already closed is fine. */
  async #end(session: Session, reason: string): Promise<void> {
    try {
      await this.#record(session.sessionId, { kind: "host", id: session.hostId }, () => ({ type: "close", reason }));
      await this.#parts.output.close(session.sessionId);
    } catch (error) {
      if (error instanceof AppError && error.code === "invalid_transition") return;
      this.#parts.logger.error("the end of a session could not be stored", { session: session.sessionId, error });
    }
  }

  async #stop(session: Session): Promise<void> {
    await this.#driver(session.kind, session.hostId).stop(session.sessionId);
    await this.#parts.output.close(session.sessionId);
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

function transitionRefused(session: Session | undefined, command: string): AppError {
  const status = session?.status ?? "none";
  return new AppError("invalid_transition", {
    status,
    command,
    detail: `Can't ${command} a session that is ${status}`,
  });
}
