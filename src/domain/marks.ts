/**
 * The marks by which our shell integration says where prompts and commands begin and end.
 *
 * A mark is `ESC ] 7717 ; nonce ; kind [; exit code [; cwd]] BEL`. Only the shell knows the nonce, so whatever a program
 * prints passes unchanged. Marks leave the stream; a command starts once and ends once, whatever the shell repeats.
 * Rules BLK-1..BLK-6 in docs/spec/blocks.md.
 */

export type Mark = {
  readonly kind: "prompt_start" | "prompt_end" | "command_start" | "command_done";
  readonly exitCode?: number;
  readonly cwd?: string;
};

/** Byte search, passed in because the engine's own is several times faster than a loop. */
export type ByteSearch = { indexOf(bytes: Uint8Array, needle: Uint8Array | number, from: number): number };

export class MarkFilter {
  readonly #prefix: Uint8Array;
  readonly #search: ByteSearch;
  #held: Uint8Array = NOTHING;
  #running = false;
  /** Where the shell was when it last said so since a prompt. */
  #cwd: string | undefined;

  constructor(nonce: string, tools: ByteSearch) {
    this.#prefix = Uint8Array.from(`\u001B]7717;${nonce};`, (character) => character.charCodeAt(0));
    this.#search = tools;
  }

  /** How many bytes wait for the rest of what may be a mark. */
  get held(): number {
    return this.#held.length;
  }

  /** What may be passed on now, in order. Empty runs are left out. */
  push(bytes: Uint8Array): readonly (Uint8Array | Mark)[] {
    const data = this.#held.length === 0 ? bytes : joined(this.#held, bytes);
    this.#held = NOTHING;
    const out: (Uint8Array | Mark)[] = [];
    let from = 0;
    let next = this.#next(data, 0);
    while (next.kind === "mark") {
      if (next.at > from) out.push(data.subarray(from, next.at));
      out.push(...this.#told(next.body));
      from = next.end;
      next = this.#next(data, from);
    }
    if (next.at > from) out.push(data.subarray(from, next.at));
    // A copy: a few held bytes must not keep a whole chunk alive, nor change under us.
    if (next.at < data.length) this.#held = data.slice(next.at);
    return out;
  }

  /** Lets go of what is held: nothing more came, so it is no mark. */
  release(): Uint8Array {
    const held = this.#held;
    this.#held = NOTHING;
    return held;
  }

  /** The first mark from `from` on, or where the bytes that may still become one begin. */
  #next(data: Uint8Array, from: number): Found {
    let at = this.#search.indexOf(data, this.#prefix, from);
    while (at >= 0) {
      const start = at + this.#prefix.length;
      const end = bodyEnd(data, start);
      if (end === data.length && end - start <= BODY_MAX) return { kind: "held", at };
      const body = data[end] === BEL ? BODY.exec(asciiOf(data, start, end)) : null;
      if (body !== null) return { kind: "mark", at, end: end + 1, body };
      at = this.#search.indexOf(data, this.#prefix, start);
    }
    return { kind: "held", at: partialAt(data, this.#prefix, from) };
  }

  #told([, letter, code, place]: readonly (string | undefined)[]): readonly Mark[] {
    const exitCode = code === undefined ? {} : { exitCode: Number(code) };
    switch (letter) {
      case "A": {
        const cwd = this.#cwd === undefined ? {} : { cwd: this.#cwd };
        this.#cwd = undefined;
        // The prompt is there although nothing said that the command ended: PROMPT_COMMAND was taken away.
        return [...this.#ended(exitCode), { kind: "prompt_start", ...exitCode, ...cwd }];
      }
      case "B":
        return [{ kind: "prompt_end" }];
      case "C": {
        if (this.#running) return [];
        this.#running = true;
        return [{ kind: "command_start" }];
      }
      default: {
        this.#cwd = place === undefined ? undefined : unescaped(place);
        return this.#ended(this.#cwd === undefined ? exitCode : { ...exitCode, cwd: this.#cwd });
      }
    }
  }

  #ended(details: Omit<Mark, "kind">): readonly Mark[] {
    if (!this.#running) return [];
    this.#running = false;
    return [{ kind: "command_done", ...details }];
  }
}

type Found =
  | { readonly kind: "mark"; readonly at: number; readonly end: number; readonly body: readonly (string | undefined)[] }
  | { readonly kind: "held"; readonly at: number };

const NOTHING = new Uint8Array(0);
const BEL = 0x07;
const ESC = 0x1b;
/** A path of PATH_MAX bytes, each written as three characters, and some. */
const BODY_MAX = 3 * 4_096 + 16;
const BODY = /^([ABCD])(?:;(\d{1,3})(?:;([\w%./~-]+))?)?$/;

/** Where the run of characters that a body may have ends. */
function bodyEnd(data: Uint8Array, start: number): number {
  const limit = Math.min(data.length, start + BODY_MAX + 1);
  let end = start;
  while (end < limit && isBodyByte(data[end] ?? 0)) end += 1;
  return end;
}

function isBodyByte(byte: number): boolean {
  const letter = byte | 0x20;
  return (
    (letter >= 0x61 && letter <= 0x7a) ||
    (byte >= 0x2d && byte <= 0x3b) ||
    byte === 0x25 ||
    byte === 0x5f ||
    byte === 0x7e
  );
}

/** Where a beginning of `needle` stands at the very end; the length of `data` if there is none. */
function partialAt(data: Uint8Array, needle: Uint8Array, from: number): number {
  const first = Math.max(from, data.length - needle.length + 1);
  for (let at = data.length - 1; at >= first; at -= 1) {
    // The needle has one ESC, its first byte: only the last ESC can begin it.
    if (data[at] === ESC) return standsAt(data, needle, at) ? at : data.length;
  }
  return data.length;
}

function standsAt(data: Uint8Array, needle: Uint8Array, at: number): boolean {
  for (let index = at; index < data.length; index += 1) if (data[index] !== needle[index - at]) return false;
  return true;
}

function joined(left: Uint8Array, right: Uint8Array): Uint8Array {
  const both = new Uint8Array(left.length + right.length);
  both.set(left);
  both.set(right, left.length);
  return both;
}

function asciiOf(data: Uint8Array, start: number, end: number): string {
  let text = "";
  for (let index = start; index < end; index += 1) text += String.fromCharCode(data[index] ?? 0);
  return text;
}

/** UTF-8 in percent escapes; a byte that is none becomes U+FFFD, so that a strange directory never loses a mark. */
function unescaped(text: string): string {
  return text.replace(/(?:%[\dA-Fa-f]{2})+/g, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run.replace(UTF8_ESCAPE, (character) => {
        try {
          return decodeURIComponent(character);
        } catch {
          return "\uFFFD";
        }
      });
    }
  });
}

const UTF8_ESCAPE = /%[C-D]\w(?:%[89AB]\w)|%E\w(?:%[89AB]\w){2}|%F[0-7](?:%[89AB]\w){3}|%\w\w/gi;
