/**
 * Sessions and their drivers: starts them, takes them up again after a restart of the hub or a return of the host, and
 * brings what they tell into the log. Decides nothing about a session's life; that is the session desk's.
 */
import type { Actor } from "../domain/actor.ts";
import type { Session } from "../domain/session.ts";
import type { SessionFrame, Size } from "../domain/session-frame.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import { openIntake } from "./intake.ts";
import type { Journal } from "./journal.ts";
import { type OutputDesk, OutputHole } from "./output-desk.ts";
import type { Adoption, SessionDriver, SessionIntake, StartTerms, TerminalDriver } from "./ports.ts";
import { agentsMayAcquire, guardTerms } from "./session-birth.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type ExitFrame = Extract<SessionFrame, { kind: "exit" }>;

export type SessionRunnerParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly drivers: readonly SessionDriver[];
  readonly workspaces: WorkspaceDesk;
  readonly logger: Logger;
};

/** Resolves when the end is recorded. */
export type OnExit = (session: Session, end: Pick<ExitFrame, "reason" | "exitCode" | "signal">) => Promise<void>;

const AGENT_SIZE: Size = { cols: 120, rows: 40 };
const USUAL_SIZE: Size = { cols: 80, rows: 24 };
/** Last words of what was stopped; a host that doesn't give them in time is not waited for. */
const LAST_WORDS_MS = 5_000;
const START_MS = 15_000;

export function startSizeOf(session: Pick<Session, "ownerAgentId">): Size {
  return session.ownerAgentId === undefined ? USUAL_SIZE : AGENT_SIZE;
}

export class SessionRunner {
  readonly #parts: SessionRunnerParts;
  readonly #onExit: OnExit;
  readonly #order = new Map<string, number>();
  readonly #exits = new Map<string, PromiseWithResolvers<void>>();

  constructor(parts: SessionRunnerParts, onExit: OnExit) {
    this.#parts = parts;
    this.#onExit = onExit;
  }

  get drivers(): readonly SessionDriver[] {
    return this.#parts.drivers;
  }

  driver(kind: Session["kind"], hostId: string): SessionDriver {
    const driver = this.#find(kind, hostId);
    if (driver !== undefined) return driver;
    throw new AppError("kind_unavailable", {
      kind,
      hostId,
      detail: `No driver for ${kind} sessions on host ${hostId}`,
    });
  }

  driverOf(session: Session): SessionDriver {
    return this.driver(session.kind, session.hostId);
  }

  terminal(session: Session): TerminalDriver {
    const driver = this.driverOf(session);
    if (isTerminal(driver)) return driver;
    throw new AppError("kind_unavailable", { kind: session.kind, detail: `${session.sessionId} is no terminal` });
  }

  /** Rejects when it did not start; then it doesn't run. */
  async start(session: Session, cwd?: string): Promise<void> {
    const driver = this.driverOf(session);
    try {
      const { intake } = await this.#intake(session);
      await withinMs(
        driver.start(session, { ...this.#termsOf(session), ...(cwd === undefined ? {} : { cwd }) }, intake),
        START_MS,
        "the host did not start it in time",
      );
    } catch (error) {
      // It may run although nobody heard of it; nobody would ever end it.
      await driver.stop(session.sessionId).catch((failure: unknown) => {
        this.#parts.logger.error("a session could not be stopped", { session: session.sessionId, error: failure });
      });
      throw error;
    }
  }

  async adopt(session: Session): Promise<Adoption> {
    const driver = this.#find(session.kind, session.hostId);
    if (driver === undefined) return "gone";
    const { order, intake } = await this.#intake(session);
    const cursor = await this.#parts.output.size(session.sessionId);
    const adoption = await driver.adopt(session, { order, cursor }, intake);
    if (adoption === "running") this.#parts.output.settle(session.sessionId, order);
    return adoption;
  }

  /** Stops what runs and waits for what it still had to say. */
  async stop(session: Session): Promise<void> {
    const driver = this.#find(session.kind, session.hostId);
    if (driver === undefined) return;
    await driver.stop(session.sessionId);
    const exit = this.#exits.get(session.sessionId)?.promise;
    if (exit !== undefined) await withinMs(exit, LAST_WORDS_MS, "no last words").catch(() => undefined);
  }

  /** Nothing more is taken from it. */
  forget(sessionId: string): void {
    this.#order.delete(sessionId);
    this.#exits.delete(sessionId);
  }

  async #intake(session: Session): Promise<{ readonly order: number; readonly intake: SessionIntake }> {
    const { journal, output } = this.#parts;
    const { sessionId } = session;
    const source: Actor = { kind: "host", id: session.hostId };
    const known = this.#order.get(sessionId);
    const order = known ?? (await output.begin(sessionId, source)).order;
    this.#exits.set(sessionId, Promise.withResolvers());
    const take = openIntake({
      journal,
      output,
      sessionId,
      source,
      order,
      onExit: (frame) => this.#exited(session, frame),
    });
    const intake: SessionIntake = async (frames) => {
      await take(frames).catch((error: unknown) => this.#broken(session, error));
      this.#order.set(sessionId, Math.max(this.#order.get(sessionId) ?? 0, frames.at(-1)?.order ?? 0));
    };
    this.#order.set(sessionId, order);
    return { order, intake };
  }

  async #exited(session: Session, frame: ExitFrame): Promise<void> {
    this.#exits.get(session.sessionId)?.resolve();
    await this.#onExit(session, frame);
  }

  /** A session whose record can't be true any more costs itself, not the hub's start. Anything else is tried again. */
  async #broken(session: Session, error: unknown): Promise<void> {
    if (!(error instanceof OutputHole)) throw error;
    this.#parts.logger.error("output got lost", { session: session.sessionId, error });
    this.#find(session.kind, session.hostId)
      ?.stop(session.sessionId)
      .catch(() => undefined);
    await this.#onExit(session, { reason: "output_lost" });
  }

  #termsOf(session: Session): StartTerms {
    const { settings } = this.#parts.workspaces.get(session.workspaceId);
    const { containment, user, interactive } = session;
    return {
      ...startSizeOf(session),
      attended: interactive,
      agentsMayAcquire: agentsMayAcquire(settings, session),
      ...(user === undefined ? {} : { user }),
      ...(containment === "guard" ? { guard: guardTerms(settings) } : {}),
    };
  }

  #find(kind: Session["kind"], hostId: string): SessionDriver | undefined {
    return this.#parts.drivers.find((it) => it.kind === kind && it.hostId === hostId);
  }
}

function isTerminal(driver: SessionDriver): driver is TerminalDriver {
  return driver.kind === "terminal" && "run" in driver;
}

async function withinMs<T>(work: Promise<T>, limitMs: number, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
