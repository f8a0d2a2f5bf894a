/** The two streams of a command without a terminal, told apart again, each within a budget. Rule RMC-12. */
import type { EventLog } from "./ports.ts";
import type { OutputDesk } from "./output-desk.ts";

export type PlainStreams = { readonly stdout: string; readonly stderr: string; readonly truncated: boolean };

type Range = readonly [number, number];

/** More is not looked at for one answer: its beginning and its end. */
const LOOKED_MAX = 16 * 1024 * 1024;
const CHUNK = 256 * 1024;
const PAGE = 1000;

export class PlainResults {
  readonly #log: EventLog;
  readonly #output: OutputDesk;

  constructor(log: EventLog, output: OutputDesk) {
    this.#log = log;
    this.#output = output;
  }

  async read(sessionId: string, maxBytes: number): Promise<PlainStreams> {
    const size = await this.#output.size(sessionId);
    const errors = await this.#errors(sessionId);
    const [stdout, stderr] = [new HeadAndTail(maxBytes), new HeadAndTail(maxBytes)];
    const half = LOOKED_MAX / 2;
    const looked: readonly Range[] =
      size <= LOOKED_MAX
        ? [[0, size]]
        : [
            [0, half],
            [size - half, size],
          ];
    for (const [from, to] of looked) {
      for (let at = from; at < to; at += CHUNK) {
        const bytes = await this.#output.all(sessionId, at, Math.min(to, at + CHUNK));
        for (const { isError, part } of parted(bytes, at, errors)) (isError ? stderr : stdout).push(part);
      }
    }
    const truncated = size > LOOKED_MAX || stdout.omitted + stderr.omitted > 0;
    return { stdout: stdout.text, stderr: stderr.text, truncated };
  }

  async #errors(sessionId: string): Promise<readonly Range[]> {
    const ranges: Range[] = [];
    for (let after: number | undefined; ;) {
      const page = await this.#log.read({ sessionId, types: ["stderr"], after, limit: PAGE });
      for (const { payload } of page) {
        const { cursor = 0, length = 0 } = payload as { readonly cursor?: number; readonly length?: number };
        ranges.push([cursor, cursor + length]);
      }
      if (page.length === 0) return ranges;
      after = page.at(-1)!.sequence;
    }
  }
}

type Part = { readonly isError: boolean; readonly part: Uint8Array };

/** `errors` are in order and don't overlap. */
function parted(bytes: Uint8Array, from: number, errors: readonly Range[]): readonly Part[] {
  const parts: Part[] = [];
  const to = from + bytes.length;
  let at = from;
  for (const [begin, end] of errors.filter((it) => it[1] > from && it[0] < to)) {
    if (begin > at) parts.push({ isError: false, part: bytes.subarray(at - from, begin - from) });
    const until = Math.min(end, to);
    parts.push({ isError: true, part: bytes.subarray(Math.max(begin, at) - from, until - from) });
    at = until;
  }
  if (at < to) parts.push({ isError: false, part: bytes.subarray(at - from) });
  return parts;
}

class HeadAndTail {
  readonly #half: number;
  #head: Buffer = Buffer.alloc(0);
  #tail: Buffer = Buffer.alloc(0);
  omitted = 0;

  constructor(maxBytes: number) {
    this.#half = Math.floor(maxBytes / 2);
  }

  push(bytes: Uint8Array): void {
    const room = this.#half - this.#head.length;
    if (room > 0) this.#head = Buffer.concat([this.#head, bytes.subarray(0, room)]);
    const tail = Buffer.concat([this.#tail, bytes.subarray(Math.max(0, room))]);
    const over = Math.max(0, tail.length - this.#half);
    this.omitted += over;
    this.#tail = tail.subarray(over);
  }

  get text(): string {
    if (this.omitted === 0) return Buffer.concat([this.#head, this.#tail]).toString();
    return `${this.#head.toString()}\n… ${this.omitted} bytes left out …\n${this.#tail.toString()}`;
  }
}
