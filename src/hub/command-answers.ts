/** What callers are told of commands: each what is new to it, and how one ended, also long after. Rules RMC-4..RMC-6. */
import type { Actor } from "../domain/actor.ts";
import type { Output } from "../protocol/operations.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { Journal } from "./journal.ts";
import type { OutputReader } from "./output-reader.ts";
import type { SessionDesk } from "./session-desk.ts";
import { waitingOf } from "./terminal-answers.ts";

export type CommandAnswersParts = {
  readonly journal: Journal;
  readonly sessions: SessionDesk;
  readonly blocks: BlockDesk;
  readonly reader: OutputReader;
};

export type Place = { readonly cursor: number; readonly position: number };

export type CommandEnd = {
  readonly exit_code?: number;
  readonly signal?: string;
  readonly reason?: string;
  readonly durationMs?: number;
};

type Answer = Output<"command.wait">;

const TOLD_KEPT = 2_000;

export class CommandAnswers {
  readonly #parts: CommandAnswersParts;
  /** How far each caller was told, the newest last. */
  readonly #told = new Map<string, Place>();

  constructor(parts: CommandAnswersParts) {
    this.#parts = parts;
  }

  toldTo(sessionId: string, by: Actor): Place | undefined {
    return this.#told.get(keyOf(sessionId, by));
  }

  async tell(
    sessionId: string,
    by: Actor,
    { from, maxBytes }: { readonly from: number; readonly maxBytes: number },
  ): Promise<Answer> {
    const { reader, blocks } = this.#parts;
    // In this order: nothing comes after its end, and a question is asked in words that are here.
    const end = await this.endOf(sessionId);
    const { cursor, position } = await reader.here(sessionId);
    const { data, omitted_bytes, redacted } = await reader.read(
      sessionId,
      { from: Math.min(from, cursor), to: cursor },
      { view: "text", maxBytes },
    );
    const question = end === undefined ? blocks.question(sessionId) : undefined;
    this.#remember(keyOf(sessionId, by), { cursor, position });
    const { durationMs: _, ...how } = end ?? {};
    return {
      session_id: sessionId,
      output: data,
      final: end !== undefined,
      ...how,
      ...(question && { waiting: waitingOf(question) }),
      cursor,
      omitted_bytes,
      redacted,
    };
  }

  /** Undefined while it runs. A command that was killed has no place in its session's last event but its reason. */
  async endOf(sessionId: string): Promise<CommandEnd | undefined> {
    const { sessions, blocks, journal } = this.#parts;
    if (sessions.isOpen(sessionId)) return undefined;
    const end = (await blocks.list(sessionId)).at(-1)?.end;
    const { payload = {} } = (await journal.log.last(sessionId, "status")) ?? {};
    const told = payload as { readonly exitCode?: number; readonly signal?: string; readonly reason?: string };
    const exitCode = end?.exitCode ?? told.exitCode;
    const signal = end?.signal ?? told.signal;
    const durationMs = end?.durationMs;
    return {
      ...(exitCode === undefined ? {} : { exit_code: exitCode }),
      ...(signal === undefined ? {} : { signal }),
      ...(told.reason === undefined ? {} : { reason: told.reason }),
      ...(durationMs === undefined ? {} : { durationMs: Math.round(durationMs) }),
    };
  }

  #remember(key: string, place: Place): void {
    this.#told.delete(key);
    this.#told.set(key, place);
    const [oldest = ""] = this.#told.keys();
    if (this.#told.size > TOLD_KEPT) this.#told.delete(oldest);
  }
}

function keyOf(sessionId: string, { kind, id }: Actor): string {
  return `${sessionId} ${kind} ${id}`;
}
