/**
 * Sessions and their drivers: starts them, takes them up again after a restart of the hub or a return of the host, and
 * brings what they tell into the log. Decides nothing about a session's life; that is the session desk's.
 */
import type { Actor } from "../domain/actor.ts";
import type { Session } from "../domain/session.ts";
import type { SessionFrame, Size } from "../domain/session-frame.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { DriverTable } from "./driver-table.ts";
import { openIntake } from "./intake.ts";
import type { Journal } from "./journal.ts";
import { type OutputDesk, OutputHole } from "./output-desk.ts";
import type { Adoption, SessionDriver, SessionIntake, StartTerms } from "./ports.ts";
import type { TerminalDriver } from "./terminal-driver.ts";
import { agentsMayAcquire, guardTerms } from "./session-birth.ts";
import { hostRemoved } from "./session-refusals.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type ExitFrame = Extract<SessionFrame, { kind: "exit" }>;

export type SessionRunnerParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly drivers: DriverTable;
  readonly workspaces: WorkspaceDesk;
  readonly logger: Logger;
  /** What of ours a guard hides that its host may not know of: it may have been started for a hub of other settings. */
  readonly hidden?: readonly string[] | undefined;
};

/** Resolves when the end is recorded. */
export type OnExit = (session: Session, end: Pick<ExitFrame, "reason" | "exitCode" | "signal">) => Promise<void>;

/** Where whoever made it has a wish. */
export type StartAsked = { readonly cwd?: string | undefined; readonly size?: Size | undefined };

const AGENT_SIZE: Size = { cols: 120, rows: 40 };
const USUAL_SIZE: Size = { cols: 80, rows: 24 };
/** Last words of what was stopped; a host that doesn't give them in time is not waited for. */
const LAST_WORDS_MS = 5_000;
const START_MS = 15_000;
/** A host needs about four seconds for what it can't end; callers' own patience is ten. */
const STOP_MS = 8_000;

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

  /** `workspaceId`: whose host it is to be, for a session that isn't there yet. */
  driver(kind: Session["kind"], hostId: string, workspaceId?: string): SessionDriver {
    const driver = this.#find(kind, hostId);
    if (driver !== undefined) return driver;
    const isHostKnown = this.#parts.drivers.all.some((it) => it.hostId === hostId);
    if (!isHostKnown && workspaceId !== undefined) throw hostRemoved(kind, hostId, workspaceId);
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
  async start(session: Session, asked: StartAsked = {}): Promise<void> {
    const driver = this.driverOf(session);
    try {
      const { intake } = await this.#intake(session);
      await withinMs(
        driver.start(session, { ...this.#termsOf(session), ...asked.size, ...cwdIn(asked) }, intake),
        START_MS,
        new Error("the host did not start it in time"),
      );
    } catch (error) {
      // It may run although nobody heard of it; nobody would ever end it.
      await stopped(driver, session).catch((failure: unknown) => {
        this.#parts.logger.error("a session could not be stopped", { session: session.sessionId, error: failure });
      });
      throw error;
    }
  }

  async adopt(session: Session, actors: readonly Actor[]): Promise<Adoption> {
    const driver = this.#find(session.kind, session.hostId);
    if (driver === undefined) return "gone";
    const { order, intake } = await this.#intake(session);
    const cursor = await this.#parts.output.size(session.sessionId);
    const adoption = await driver.adopt(session, { order, cursor, actors }, intake);
    if (adoption === "running") this.#parts.output.settle(session.sessionId, order);
    return adoption;
  }

  /** Stops what runs and waits for what it still had to say. */
  async stop(session: Session): Promise<void> {
    const driver = this.#find(session.kind, session.hostId);
    if (driver === undefined) return;
    await stopped(driver, session);
    const exit = this.#exits.get(session.sessionId)?.promise;
    if (exit !== undefined) await withinMs(exit, LAST_WORDS_MS, new Error("no last words")).catch(() => undefined);
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
    const { containment, user, interactive, command } = session;
    return {
      ...startSizeOf(session),
      attended: interactive,
      agentsMayAcquire: agentsMayAcquire(settings, session),
      ...(user === undefined ? {} : { user }),
      ...(command === undefined ? {} : { command }),
      ...(containment === "guard" ? { guard: guardTerms(settings, this.#parts.hidden ?? []) } : {}),
    };
  }

  #find(kind: Session["kind"], hostId: string): SessionDriver | undefined {
    return this.#parts.drivers.find(kind, hostId);
  }
}

function cwdIn({ cwd }: StartAsked): Pick<StartTerms, "cwd"> {
  return cwd === undefined ? {} : { cwd };
}

function isTerminal(driver: SessionDriver): driver is TerminalDriver {
  return driver.kind === "terminal" && "run" in driver;
}

/** A host that lives and doesn't answer must not hold whoever closes a session, or all of them. */
function stopped(driver: SessionDriver, { sessionId }: Session): Promise<void> {
  const detail = "The host did not say in time that it has ended it.";
  return withinMs(driver.stop(sessionId), STOP_MS, new AppError("unknown_outcome", { detail }));
}

async function withinMs<T>(work: Promise<T>, limitMs: number, otherwise: Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(otherwise), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
