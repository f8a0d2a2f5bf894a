/**
 * What happened to a session since its last keyframe and has not reached an emulator: output, resizes, and steps to be
 * taken when everything before them has. Small chunks are gathered into blocks, so that a program that writes byte by
 * byte costs its bytes and not an object for each.
 */
import type { TerminalModes } from "../../../domain/modes.ts";
import type { Size } from "../../../domain/session-frame.ts";
import type { Screen } from "./screens.ts";

export type Step = {
  /** Nobody waits for it: it may be dropped. */
  readonly optional: boolean;
  readonly run: (screen: Screen) => void;
  /** It will never be taken. */
  readonly drop: (error: Error) => void;
};

/** `end` is the cursor just after the bytes; `answer`: they hold queries that nobody answered yet. */
export type Output = {
  readonly kind: "output";
  readonly bytes: Uint8Array;
  readonly end: number;
  readonly answer: boolean;
};

export type Pending =
  | Output
  | { readonly kind: "resize"; readonly size: Size }
  /** Output was skipped here. */
  | { readonly kind: "restart"; readonly size: Size; readonly modes: TerminalModes }
  | { readonly kind: "step"; readonly step: Step };

const GATHERED_MAX = 4_096;
const BLOCK_MIN = 1_024;
const BLOCK_MAX = 32_768;
/** So that a flood of resizes is bounded like one of bytes. */
const RESIZE_COST = 1_024;

/** The last item can still grow. */
type Block = { readonly kind: "output"; bytes: Uint8Array; end: number; answer: boolean; readonly room?: Uint8Array };
type Item = Block | Exclude<Pending, Output>;

export class PendingOutput {
  #items: Item[] = [];
  #head = 0;
  #weight = 0;

  /** Bytes that are held, about. */
  get weight(): number {
    return this.#weight;
  }

  /** Somebody waits for a step or for an answer. */
  get isAwaited(): boolean {
    return this.#rest().some((item) =>
      item.kind === "step" ? !item.step.optional : item.kind === "output" && item.answer,
    );
  }

  /** Keeps `bytes` as they are: the caller must not change them. */
  output(bytes: Uint8Array, end: number, { answer }: { readonly answer: boolean }): void {
    if (bytes.length === 0) return;
    this.#weight += bytes.length;
    const last = this.#items.at(-1);
    const open =
      this.#items.length > this.#head && last?.kind === "output" && last.answer === answer ? last : undefined;
    // A small view would keep the whole buffer behind it alive.
    if (bytes.length >= GATHERED_MAX && bytes.length * 2 >= bytes.buffer.byteLength) {
      this.#items.push({ kind: "output", bytes, end, answer });
    } else if (open?.room !== undefined && open.bytes.length + bytes.length <= open.room.length) {
      open.room.set(bytes, open.bytes.length);
      open.bytes = open.room.subarray(0, open.bytes.length + bytes.length);
      open.end = end;
    } else {
      const grown = Math.min(BLOCK_MAX, Math.max(BLOCK_MIN, 2 * (open?.room?.length ?? 0)));
      const room = new Uint8Array(Math.max(grown, bytes.length));
      room.set(bytes);
      this.#items.push({ kind: "output", bytes: room.subarray(0, bytes.length), end, answer, room });
    }
  }

  resize(size: Size): void {
    this.#weight += RESIZE_COST;
    this.#items.push({ kind: "resize", size });
  }

  step(step: Step): void {
    this.#items.push({ kind: "step", step });
  }

  /** Puts output back in front. */
  unshift(bytes: Uint8Array, end: number): void {
    if (bytes.length === 0) return;
    this.#weight += bytes.length;
    this.#items = [{ kind: "output", bytes, end, answer: false }, ...this.#rest()];
    this.#head = 0;
  }

  /** The next thing; output that belongs together comes in one piece of about `maxBytes`. */
  shift(maxBytes: number): Pending | undefined {
    const item = this.#items[this.#head];
    if (item === undefined) return undefined;
    this.#head += 1;
    const taken = item.kind === "output" ? this.#gather(this.#cut(item, maxBytes), maxBytes) : item;
    if (taken.kind === "output") this.#weight -= taken.bytes.length;
    else if (taken.kind === "resize") this.#weight -= RESIZE_COST;
    this.#trim();
    return taken;
  }

  /**
   * Forgets all output but the last `keepBytes`, and but what holds queries (as much again): those are answered
   * however late. What is left begins with a restart.
   */
  skip(keepBytes: number, size: Size, modes: TerminalModes): void {
    let room = keepBytes;
    let queries = keepBytes;
    const kept: Item[] = [];
    for (const item of this.#rest().toReversed()) {
      if (item.kind === "step") kept.push(item);
      if (item.kind !== "output") continue;
      const whole = room >= item.bytes.length || item.answer;
      if (room > 0) kept.push(whole ? item : fromNextLine(item, item.bytes.length - room));
      else if (item.answer && queries >= item.bytes.length) {
        kept.push(item);
        queries -= item.bytes.length;
      }
      room -= item.bytes.length;
    }
    this.#items = [{ kind: "restart", size, modes }, ...kept.toReversed()];
    this.#head = 0;
    this.#weight = this.#items.reduce((sum, item) => sum + (item.kind === "output" ? item.bytes.length : 0), 0);
  }

  /** Removes the steps for which nobody waits. */
  dropOptional(): void {
    this.#items = this.#rest().filter((item) => item.kind !== "step" || !item.step.optional);
    this.#head = 0;
  }

  /** Drops every step and gives up answering: an answer that comes much later would be typed into something else. */
  abandon(error: Error): void {
    const items = this.#rest();
    this.#items = items.filter((item) => item.kind !== "step");
    this.#head = 0;
    for (const item of items) {
      if (item.kind === "step") item.step.drop(error);
      else if (item.kind === "output") item.answer = false;
    }
  }

  /** The first `maxBytes` of it; the rest is next. */
  #cut(item: Block, maxBytes: number): Block {
    const { bytes, end, answer } = item;
    if (bytes.length <= maxBytes) return item;
    this.#head -= 1;
    this.#items[this.#head] = { kind: "output", bytes: bytes.subarray(maxBytes), end, answer };
    return { kind: "output", bytes: bytes.subarray(0, maxBytes), end: end - bytes.length + maxBytes, answer };
  }

  #gather(first: Block, maxBytes: number): Output {
    const parts = [first.bytes];
    let { end } = first;
    let size = first.bytes.length;
    for (let next = this.#items[this.#head]; next?.kind === "output"; next = this.#items[this.#head]) {
      if (next.answer !== first.answer || size + next.bytes.length > maxBytes) break;
      parts.push(next.bytes);
      size += next.bytes.length;
      end = next.end;
      this.#head += 1;
    }
    return {
      kind: "output",
      bytes: parts.length === 1 ? first.bytes : Buffer.concat(parts, size),
      end,
      answer: first.answer,
    };
  }

  #rest(): Item[] {
    return this.#items.slice(this.#head);
  }

  #trim(): void {
    if (this.#head < this.#items.length && this.#head < 256) return;
    this.#items = this.#rest();
    this.#head = 0;
  }
}

/** From the first line that begins at `from` or later, so that no half sequence is taken for text. */
function fromNextLine(item: Block, from: number): Block {
  const feed = item.bytes.indexOf(0x0a, from);
  return {
    kind: "output",
    bytes: item.bytes.subarray(feed === -1 ? from : feed + 1),
    end: item.end,
    answer: item.answer,
  };
}
