/**
 * Waiting for what a session does. An answer is a function of the recorded history and the place from which it is
 * read, so it is the same live, after a restart, on replay and over any chunking. Rules in docs/spec/waiting.md.
 */
import { setImmediate } from "node:timers/promises";
import type { StoredEvent } from "../domain/event.ts";
import { AppError } from "../protocol/errors.ts";
import { Patience } from "./wait-patience.ts";
import { WaitRun } from "./wait-run.ts";
import { ScreenWatch } from "./wait-screen.ts";
import { TextWatch } from "./wait-text.ts";

export type TapeItem =
  | { readonly kind: "bytes"; readonly cursor: number; readonly bytes: Uint8Array }
  | { readonly kind: "fact"; readonly event: StoredEvent };

/**
 * A session's recorded history in order, stored then live: a fact comes after every byte before its cursor and before
 * every byte at or after it. Facts after `position`, bytes from `cursor`. Ends when the session is over or `signal` is
 * aborted.
 */
export interface TapeReader {
  read(
    sessionId: string,
    from: { readonly cursor: number; readonly position: number },
    signal: AbortSignal,
  ): AsyncIterable<readonly TapeItem[]>;
}

/** Patterns in linear time, `^` and `$` at lines; a refusal is an error named `PatternRefused`. */
export interface PatternEngine {
  compile(pattern: string): Promise<{ readonly crossesLines: boolean }>;
  /** The leftmost match at or after `from`. */
  find(pattern: string, text: string, from: number): Promise<readonly [number, number] | undefined>;
}

export interface ScreenRenderer {
  open(options: { readonly keyframe?: string; readonly cols: number; readonly rows: number }): RenderedScreen;
}

export interface RenderedScreen {
  feed(bytes: Uint8Array): void;
  resize(cols: number, rows: number): void;
  text(): Promise<string>;
  close(): void;
}

export type Condition =
  | { readonly type: "substring" | "regex"; readonly match: string }
  | { readonly type: "token"; readonly token: "PROMPT" | "EOF" | "INPUT" }
  | { readonly type: "token"; readonly token: "IDLE"; readonly idleMs: number }
  | { readonly type: "screen"; readonly match: string };

export type WaitRequest = {
  readonly sessionId: string;
  readonly conditions: readonly Condition[];
  readonly fromCursor: number;
  readonly fromPosition: number;
  readonly timeoutMs: number;
  /** How long the caller can wait for an answer. */
  readonly budgetMs: number;
  /** Of new output to look at. */
  readonly maxBytes?: number;
  /** The interactive run whose end is `EOF`. Absent: any interactive run's. */
  readonly runId?: string;
};

export type WaitReason = "match" | "timeout" | "max_bytes" | "pending" | "revoked" | "closed";

export type WaitAnswer = {
  readonly matched: boolean;
  readonly which?: number;
  readonly reason: WaitReason;
  readonly matchText?: string;
  readonly matchBegin?: number;
  /** Just after the match; else the largest from which a resumed wait answers as this one would have. */
  readonly cursor: number;
  readonly position: number;
  /** The event that a token is. */
  readonly fact?: StoredEvent;
};

export type WaitParts = {
  readonly tape: TapeReader;
  readonly patterns: PatternEngine;
  readonly screens: ScreenRenderer;
  /** The newest `keyframe` event at or before a cursor; without one, screens are drawn from the stream's begin. */
  readonly keyframe?: (sessionId: string, cursor: number) => Promise<StoredEvent | undefined>;
  /** Bytes of a window of regexes, other than usual. */
  readonly segmentBytes?: number;
};

const LITERAL_MAX = 4096;
const IDLE_MAX_MS = 60_000;
/** A wait that reads much history lets others run in between. */
const STINT_MS = 8;

export class WaitDesk {
  readonly #parts: WaitParts;

  constructor(parts: WaitParts) {
    this.#parts = parts;
  }

  /** Throws `pattern_refused` and `invalid_request`. When `signal` is aborted it answers `revoked`. */
  async wait(request: WaitRequest, signal: AbortSignal): Promise<WaitAnswer> {
    for (const condition of request.conditions) check(condition);
    const { tape, patterns, segmentBytes } = this.#parts;
    const text = await TextWatch.open(request, patterns, segmentBytes);
    using screen = await this.#screen(request);
    using patience = new Patience(Math.min(request.timeoutMs, request.budgetMs), signal);
    const run = new WaitRun(request, { text, screen });
    let stintFrom = performance.now();
    for await (const items of tape.read(request.sessionId, screen?.from ?? placeOf(request), patience.signal)) {
      patience.fed();
      for (const item of items) {
        const answer = await run.take(item);
        if (answer !== undefined) return answer;
        if (patience.signal.aborted) break;
        if (performance.now() - stintFrom > STINT_MS) {
          await setImmediate();
          stintFrom = performance.now();
        }
      }
      if (patience.signal.aborted) break;
      patience.hungry();
    }
    if (signal.aborted) return run.unmatched("revoked");
    if (!patience.over) return run.unmatched("closed");
    return run.unmatched(request.timeoutMs <= request.budgetMs ? "timeout" : "pending");
  }

  async #screen(request: WaitRequest): Promise<ScreenWatch | undefined> {
    const { screens, keyframe } = this.#parts;
    if (!request.conditions.some((it) => it.type === "screen")) return undefined;
    return new ScreenWatch(request, screens, await keyframe?.(request.sessionId, request.fromCursor));
  }
}

function placeOf({ fromCursor, fromPosition }: WaitRequest): { readonly cursor: number; readonly position: number } {
  return { cursor: fromCursor, position: fromPosition };
}

function check(condition: Condition): void {
  if (condition.type === "token") {
    if (condition.token !== "IDLE" || condition.idleMs <= IDLE_MAX_MS) return;
    throw new AppError("invalid_request", { detail: `Silence is recorded up to ${IDLE_MAX_MS} ms` });
  }
  if (condition.match.length >= 1 && condition.match.length <= LITERAL_MAX) return;
  throw new AppError("invalid_request", { detail: `What to wait for has 1 to ${LITERAL_MAX} characters` });
}
