/**
 * Where a host's frames enter: bytes are stored before any event that stands behind them, events keep the gate's
 * position, and what a resumed link tells again changes nothing (HST-1). A frame is acknowledged when its batch is stored.
 */
import type { Actor } from "../domain/actor.ts";
import type { NewEvent } from "../domain/event.ts";
import type { SessionFrame } from "../domain/session-frame.ts";
import type { Journal } from "./journal.ts";
import type { OutputDesk } from "./output-desk.ts";
import type { SessionIntake } from "./ports.ts";

type ExitFrame = Extract<SessionFrame, { kind: "exit" }>;

export type IntakeParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly sessionId: string;
  readonly source: Actor;
  /** What is stored already. */
  readonly order: number;
  /** Its promise is waited for: an exit is acknowledged only once it is recorded. */
  readonly onExit: (frame: ExitFrame) => Promise<void>;
};

export function openIntake(parts: IntakeParts): SessionIntake {
  const { journal, output, sessionId, source, onExit } = parts;
  let known = parts.order;
  return async (frames) => {
    for (const { cursor, bytes } of joined(frames)) await output.store(sessionId, cursor, bytes);
    const events = frames.filter((it) => it.kind === "event" && it.order > known).map((it) => eventOf(it, source));
    if (events.length > 0) await journal.note(sessionId, "process", events);
    known = Math.max(known, frames.at(-1)?.order ?? 0);
    output.settle(sessionId, known);
    const last = frames.at(-1);
    if (last?.kind === "exit") await onExit(last);
  };
}

function eventOf(frame: SessionFrame, source: Actor): NewEvent {
  if (frame.kind !== "event") throw new Error("not an event");
  const { type, payload, order, cursor, by = source } = frame;
  return { type, payload, source: by, position: order, cursor };
}

/** One write for bytes that follow one another. */
function joined(frames: readonly SessionFrame[]): { readonly cursor: number; readonly bytes: Uint8Array }[] {
  const chunks = frames.filter((it) => it.kind === "bytes");
  const first = chunks[0];
  if (first === undefined || chunks.length === 1) return chunks;
  const bytes = Buffer.concat(chunks.map((it) => it.bytes));
  const last = chunks.at(-1)!;
  const contiguous = last.cursor + last.bytes.length - first.cursor === bytes.length;
  return contiguous ? [{ cursor: first.cursor, bytes }] : chunks;
}
