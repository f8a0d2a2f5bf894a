/** Keeps the log and the output within their limits. What still lives keeps its decisions (LOG-9). */
import { WORKSPACE_STREAM } from "../domain/event.ts";
import type { Logger } from "../lib/logger.ts";
import type { ApprovalDesk } from "./approval-desk.ts";
import type { AuditWriter } from "./audit-writer.ts";
import type { PromptDesk } from "./prompt-desk.ts";
import type { AnswerStore, ByteStore, Clock, EventLog, Retention } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";

export type RetentionLimits = Omit<Retention, "keep" | "keepEvents" | "written"> & { readonly outputMaxBytes: number };

export type RetentionDeskParts = {
  readonly log: EventLog;
  readonly bytes: ByteStore;
  readonly answers: AnswerStore;
  readonly audit: AuditWriter;
  readonly sessions: SessionDesk;
  readonly approvals: ApprovalDesk;
  readonly prompts: PromptDesk;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: RetentionLimits;
};

/** A hub that is restarted often must come to it too, but not while people wait for its start. */
const SOON_MS = 30_000;
const EVERY_MS = 10 * 60_000;
const ANSWERS_KEPT_MS = 24 * 60 * 60_000;

export class RetentionDesk {
  readonly #parts: RetentionDeskParts;
  #first: NodeJS.Timeout | undefined;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(parts: RetentionDeskParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#first = setTimeout(() => void this.run(), SOON_MS);
    this.#timer = setInterval(() => void this.run(), EVERY_MS);
    this.#first.unref();
    this.#timer.unref();
  }

  async stop(): Promise<void> {
    clearTimeout(this.#first);
    clearInterval(this.#timer);
    await this.#running;
  }

  run(): Promise<void> {
    this.#running = this.#running
      .then(() => this.#sweep())
      .catch((error: unknown) => this.#parts.logger.error("retention failed", { error }));
    return this.#running;
  }

  async #sweep(): Promise<void> {
    const { answers, approvals, audit, bytes, clock, limits, log, logger, prompts, sessions } = this.#parts;
    const live = sessions.list().filter((it) => it.status !== "closed");
    const keep = new Set([WORKSPACE_STREAM, ...live.map((it) => it.sessionId)]);
    await audit.catchUp();
    const { written } = audit;
    const keepEvents = new Set([...approvals.pendingSequences(), ...prompts.pendingSequences()]);
    const pruned = await log.prune({ ...limits, keep, keepEvents, written });
    audit.wake(); // removing leaves a record too
    if (pruned.activity + pruned.audit > 0) logger.info("old events removed", { ...pruned });

    const auditFrom = new Date(clock.now() - limits.auditMaxAgeMs).toISOString();
    sessions.forgetClosedBefore(auditFrom);
    approvals.forgetDecidedBefore(auditFrom);

    const outputFrom = new Date(clock.now() - limits.activityMaxAgeMs).toISOString();
    for (const stream of await bytes.streams()) {
      // Looked up at its turn: a session may have begun since the list was made.
      const session = sessions.find(stream);
      const over = session === undefined || (session.status === "closed" && session.updatedAt < outputFrom);
      if (over) await bytes.remove(stream);
      else await bytes.prune(stream, limits.outputMaxBytes);
    }
    await answers.prune(ANSWERS_KEPT_MS);
  }
}
