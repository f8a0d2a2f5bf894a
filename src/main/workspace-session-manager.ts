/**
 * Seed 004's `WorkspaceSessionManager`: its ten methods and `closeSession`, in process, over the same desks and the
 * same stores as the hub.
 */
import { SYSTEM, type Actor } from "../domain/actor.ts";
import type { SessionDriver } from "../hub/ports.ts";
import { createLogger } from "../lib/logger.ts";
import type { ApprovalRequest } from "../protocol/approvals.ts";
import type { WorkspaceEvent, WorkspaceSnapshot } from "../protocol/events.ts";
import { type CallName, type Input, operation, type Output, type ParsedInput } from "../protocol/operations.ts";
import { parseInput } from "../protocol/parse.ts";
import type { WorkspaceSession } from "../protocol/sessions.ts";
import { openDesks, type OpenDesks } from "./desks.ts";

export type ManagerOptions = {
  readonly dataDir: string;
  readonly drivers: readonly SessionDriver[];
  /** In whose name the methods act. */
  readonly actor?: Actor;
};

type Decision = {
  readonly requestId: string;
  readonly status: "approved" | "rejected";
  readonly approved?: boolean;
  readonly reason?: string;
};

const KEEP_ALL = {
  activityMaxAgeMs: Number.MAX_SAFE_INTEGER,
  activityMaxBytes: Number.MAX_SAFE_INTEGER,
  auditMaxAgeMs: Number.MAX_SAFE_INTEGER,
  auditMaxBytes: Number.MAX_SAFE_INTEGER,
  outputMaxBytes: Number.MAX_SAFE_INTEGER,
};

export class WorkspaceSessionManager {
  readonly #desks: OpenDesks;
  readonly #actor: Actor;

  private constructor(desks: OpenDesks, actor: Actor) {
    this.#desks = desks;
    this.#actor = actor;
  }

  static async open({
    dataDir,
    drivers,
    actor = { kind: "person", id: "local" },
  }: ManagerOptions): Promise<WorkspaceSessionManager> {
    const logger = createLogger("warn", (line) => process.stderr.write(line));
    const clock = { now: () => Date.now() };
    const openDrivers = async () => drivers;
    return new WorkspaceSessionManager(
      await openDesks({ dataDir, openDrivers, logger, clock, limits: KEEP_ALL }),
      actor,
    );
  }

  async createSession(config: Input<"session.create">): Promise<WorkspaceSession> {
    return this.#desks.sessions.create(parse("session.create", config), this.#actor);
  }

  async pauseSession(sessionId: string): Promise<WorkspaceSession> {
    return this.#desks.sessions.pause(sessionId, this.#actor);
  }

  async resumeSession(sessionId: string): Promise<WorkspaceSession> {
    return this.#desks.sessions.resume(sessionId, this.#actor);
  }

  async closeSession(sessionId: string): Promise<WorkspaceSession> {
    return this.#desks.sessions.close(sessionId, this.#actor);
  }

  async sendInput(sessionId: string, payload: { data?: string; data_b64?: string }): Promise<void> {
    const { data, data_b64 } = parse("session.input", { sessionId, ...payload });
    const bytes = data === undefined ? Buffer.from(data_b64 ?? "", "base64") : Buffer.from(data);
    await this.#desks.sessions.input(sessionId, { bytes, by: this.#actor, class: "drive" });
  }

  /** Events with `sequence > after`, oldest first. */
  async drainEvents(after?: number, limit?: number): Promise<WorkspaceEvent[]> {
    const query = parse("event.list", { after, limit });
    return (await this.#desks.log.read({ after: query.after, limit: query.limit })) as WorkspaceEvent[];
  }

  async listSessions(): Promise<WorkspaceSession[]> {
    return [...this.#desks.sessions.list()];
  }

  async requestApproval(request: Input<"approval.request">): Promise<ApprovalRequest> {
    return this.#desks.approvals.request(parse("approval.request", request), this.#actor);
  }

  async resolveApproval(decision: Decision): Promise<Output<"approval.resolve">> {
    const { requestId, status, reason, edit } = parse("approval.resolve", decision);
    return this.#desks.approvals.resolve(requestId, { status, reason, edit }, this.#actor);
  }

  async getSnapshot(): Promise<WorkspaceSnapshot> {
    return { sessions: await this.listSessions(), eventCursor: this.#desks.log.head };
  }

  /** Closes every session and ends every approval; the log stays and its sequence goes on. */
  async reset(): Promise<void> {
    await this.#desks.approvals.endAll("reset");
    await this.#desks.sessions.closeAll(SYSTEM, "reset");
  }

  async close(): Promise<void> {
    await this.#desks.close();
  }
}

/** As strict as the doors. */
function parse<N extends CallName>(name: N, value: unknown): ParsedInput<N> {
  return parseInput(operation(name), value) as ParsedInput<N>;
}
