/**
 * A session's messages from the moment the gate numbered them until the hub has stored them. The oldest are in memory,
 * then come those in the file, then a tail that waits to be written there; each keeps the order of the gate, so what is
 * taken out is dense. Nothing is dropped: when there is no room, the session is asked to pause. HST-5..HST-8.
 */
import { SpoolFile } from "./spool-file.ts";

export type SpoolLimits = { readonly memoryBytes: number; readonly fileBytes: number };

export const SPOOL_LIMITS: SpoolLimits = { memoryBytes: 4 * 1024 * 1024, fileBytes: 64 * 1024 * 1024 };

export type SpoolOptions = {
  readonly path: string;
  readonly limits?: SpoolLimits | undefined;
  /** Called when it became full, and when there is room again. */
  readonly onFull: () => void;
  readonly onRoom: () => void;
};

type Entry = { readonly parts: readonly Uint8Array[]; readonly bytes: number };

/** What an entry costs beside its bytes: a million tiny frames are not small. */
const ENTRY_BYTES = 200;
const RETRY_MS = 1000;

export class Spool {
  readonly #options: SpoolOptions;
  readonly #limits: SpoolLimits;
  readonly #file: SpoolFile;
  /** From `#begin` on: the entries after `#acknowledged`. */
  #memory: Entry[] = [];
  #begin = 0;
  #memoryBytes = 0;
  #tail: Entry[] = [];
  #tailBytes = 0;
  #acknowledged = 0;
  #sent = 0;
  #last = 0;
  #attached = false;
  #full = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(options: SpoolOptions) {
    this.#options = options;
    this.#limits = options.limits ?? SPOOL_LIMITS;
    this.#file = new SpoolFile(options.path);
  }

  /** Order of the newest entry. */
  get last(): number {
    return this.#last;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  /** Takes the message of order `last + 1`. */
  push(parts: readonly Uint8Array[]): void {
    const entry = entryOf(parts);
    this.#last += 1;
    if (this.#isSpilled || (!this.#attached && this.#memoryBytes >= this.#limits.memoryBytes)) this.#spill(entry);
    else this.#keep(entry);
    this.#consider();
  }

  /** Somebody takes what is here: from after `order`, or after what was acknowledged if that is more. */
  attach(order: number): void {
    this.#attached = true;
    this.acknowledge(order);
    this.#sent = this.#acknowledged;
    this.#consider();
  }

  detach(): void {
    this.#attached = false;
    this.#consider();
  }

  /** The next to be sent, at most about `maxBytes`; none when nobody is attached or all is sent. */
  take(maxBytes: number): Uint8Array[] {
    const taken: Uint8Array[] = [];
    for (let bytes = 0; this.#attached && bytes < maxBytes;) {
      const next = this.#memory[this.#begin + this.#sent - this.#acknowledged];
      if (next === undefined) {
        if (!this.#refill()) break;
        continue;
      }
      taken.push(...next.parts);
      bytes += next.bytes;
      this.#sent += 1;
    }
    return taken;
  }

  /** Everything up to `order` is stored; what was never sent can't have been. */
  acknowledge(order: number): void {
    const upTo = Math.min(order, this.#acknowledged + this.#memory.length - this.#begin);
    for (; this.#acknowledged < upTo; this.#acknowledged += 1) {
      this.#memoryBytes -= this.#memory[this.#begin]!.bytes;
      this.#memory[this.#begin++] = NOTHING;
    }
    this.#sent = Math.max(this.#sent, this.#acknowledged);
    if (this.#begin > 1024 && this.#begin * 2 > this.#memory.length) {
      this.#memory = this.#memory.slice(this.#begin);
      this.#begin = 0;
    }
    this.#consider();
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#attached = false;
    this.#file.close();
  }

  get #isSpilled(): boolean {
    return !this.#file.isEmpty || this.#tail.length > 0;
  }

  #keep(entry: Entry): void {
    this.#memory.push(entry);
    this.#memoryBytes += entry.bytes;
  }

  #spill(entry: Entry): void {
    this.#tail.push(entry);
    this.#tailBytes += entry.bytes;
    if (this.#tailBytes >= this.#limits.memoryBytes / 16 && this.#retry === undefined) this.#writeTail();
  }

  #writeTail(): void {
    try {
      this.#file.append(Buffer.concat(this.#tail.flatMap((it) => it.parts)));
      this.#tail = [];
      this.#tailBytes = 0;
    } catch {
      // No room on the disk: the tail stays in memory and the session pauses until it could be written or sent.
      this.#retry = setTimeout(() => {
        this.#retry = undefined;
        this.#writeTail();
        this.#consider();
      }, RETRY_MS).unref();
    }
  }

  /** Moves what comes next into memory; false when there is nothing, or no room for it yet. */
  #refill(): boolean {
    if (!this.#isSpilled || this.#memoryBytes >= this.#limits.memoryBytes) return false;
    if (!this.#file.isEmpty) {
      for (const message of this.#file.take()) this.#keep(entryOf([message]));
    } else {
      for (const entry of this.#tail) this.#keep(entry);
      this.#tail = [];
      this.#tailBytes = 0;
    }
    this.#consider();
    return true;
  }

  #consider(): void {
    const isFull = this.#isFull(this.#full ? 0.5 : 1);
    if (isFull === this.#full) return;
    this.#full = isFull;
    if (isFull) this.#options.onFull();
    else this.#options.onRoom();
  }

  /** `share` of the limits: once full, half of it has to be free again. */
  #isFull(share: number): boolean {
    if (this.#attached && !this.#isSpilled) return this.#memoryBytes >= this.#limits.memoryBytes * share;
    return this.#retry !== undefined || this.#file.bytes + this.#tailBytes >= this.#limits.fileBytes * share;
  }
}

const NOTHING: Entry = { parts: [], bytes: 0 };

function entryOf(parts: readonly Uint8Array[]): Entry {
  return { parts, bytes: parts.reduce((bytes, part) => bytes + part.length, ENTRY_BYTES) };
}
