/** How much is kept for chats (CHN-15, CHN-16): what nobody has to decide can be left out, oldest first, and is counted where it would have stood. */
import { isDecided, noticeCard } from "../../domain/channels/cards.ts";
import { isThread, type Thread, threadKey } from "../../domain/conversation.ts";
import type { OutboxChange, OutboxRow } from "./outbox-port.ts";

/** Rows of a thread that wait. */
export const WAITING_MAX = 1_000;
/** Shown rows of a channel that can still be decided. */
export const SHOWN_MAX = 2_000;
const LEFT_OUT = "left out";

type RowsIn = (thread: Thread) => Iterable<OutboxRow>;

export function isWaiting({ state }: OutboxRow): boolean {
  return state === "queued" || state === "edit";
}

/** Something may still change it. */
export function isKept({ about }: OutboxRow): boolean {
  return about !== undefined && about !== LEFT_OUT;
}

/** The same change, with room made for what it adds. */
export function bounded(rowsIn: RowsIn, change: OutboxChange): OutboxChange {
  const threads = new Map((change.add ?? []).map((it) => [threadKey(it), it]));
  return [...threads.values()].reduce((made, thread) => withRoom(rowsIn, made, thread), change);
}

/** The oldest beyond what is kept. */
export function surplus(rows: readonly OutboxRow[], channel: string): readonly number[] {
  const shown = rows.filter((it) => it.channel === channel && !isWaiting(it));
  return shown.slice(0, Math.max(0, shown.length + 1 - SHOWN_MAX)).map(({ id }) => id);
}

function withRoom(rowsIn: RowsIn, change: OutboxChange, thread: Thread): OutboxChange {
  const { add = [], put = [], drop = [] } = change;
  const gone = new Set([...drop, ...put.map(({ id }) => id)]);
  const here = [...rowsIn(thread)].filter((it) => isWaiting(it) && !gone.has(it.id));
  const excess = here.length + add.filter((it) => isThread(it, thread)).length - WAITING_MAX;
  const [first, ...others] = excess > 0 ? here.filter(isBulk).slice(0, excess + 1) : [];
  if (first === undefined || others.length === 0) return change;
  const count = [first, ...others].reduce((sum, it) => sum + leftOutIn(it), 0);
  return { ...change, put: [...put, leftOut(first, count)], drop: [...drop, ...others.map(({ id }) => id)] };
}

/** Never a question, an approval or a request that stands: of those there are only so many. Plans a program can print without end. */
function isBulk({ about, card, state, ref }: OutboxRow): boolean {
  if (state !== "queued" || ref !== undefined) return false;
  return about === undefined || about === LEFT_OUT || card.kind === "plan" || isDecided(card);
}

function leftOutIn({ about, card }: OutboxRow): number {
  return about === LEFT_OUT ? Number.parseInt(card.text, 10) : 1;
}

/** In the place of the first that is missing. */
function leftOut(row: OutboxRow, count: number): OutboxRow {
  const { card, actions } = noticeCard(row.card.title, `${count} messages were left out here.`);
  return { ...row, about: LEFT_OUT, card, actions };
}
