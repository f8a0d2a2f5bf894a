/**
 * Which private modes a program has set in its terminal, and whether it asks the terminal something, told from its
 * output without an emulator. Follows the emulator's parser (VT500, UTF-8, C1 as U+0080–9F), so that whatever the
 * emulator would answer is counted here in the same chunk. Rules SCR-1..SCR-7 in docs/spec/screen.md.
 */
export type TerminalModes = {
  readonly altScreen: boolean;
  readonly bracketedPaste: boolean;
  readonly mouse: boolean;
  readonly applicationCursor: boolean;
  readonly focus: boolean;
};

export const NO_MODES: TerminalModes = {
  altScreen: false,
  bracketedPaste: false,
  mouse: false,
  applicationCursor: false,
  focus: false,
};

/** Fast byte search is the caller's: `Buffer.indexOf` is three times a loop. */
export type ByteSearch = { indexOf(bytes: Uint8Array, needle: Uint8Array | number, from: number): number };

/** Which parts of a colour sequence (`OSC 4`, `10`, `11`, `12`) ask: the colour index for 4, the OSC number else. */
export function colourQueries(osc: number, payload: string): readonly number[] {
  const parts = payload.split(";");
  if (osc === 4) return parts.flatMap((part, at) => (at % 2 === 1 && part === "?" ? [Number(parts[at - 1])] : []));
  return parts.flatMap((part, at) => (part === "?" && osc + at <= 12 ? [osc + at] : []));
}

/** Window reports (`CSI … t`) that are answered. */
export const WINDOW_REPORTS: ReadonlySet<number> = new Set([11, 13, 14, 16, 18, 19, 20, 21]);

type State = "ground" | "escape" | "designation" | "csi" | "osc" | "dcs_header" | "dcs" | "string";

const ENQ = 0x05;
const BEL = 0x07;
const CAN = 0x18;
const SUB = 0x1a;
const ESC = 0x1b;
/** First byte of U+0080–00BF in UTF-8: a C1 control may follow. */
const C1_LEAD = 0xc2;

/** At these something may begin. */
const SPECIAL: ReadonlySet<number> = new Set([ESC, C1_LEAD, ENQ]);
/** Bytes looked at one by one before the search is called: dense escapes would pay for a call each. */
const NEAR = 24;
/** Longest unfinished sequence that is kept as it is; nothing that we understand is longer. */
const PARTIAL_MAX = 4096;
/** What leaves a parser in the same state as an unfinished sequence that is too long to keep. */
const STUBS: Readonly<Record<State, string>> = {
  ground: "",
  escape: "\u001B",
  designation: "\u001B#",
  csi: "\u001B[1<",
  osc: "\u001B]9999;",
  dcs_header: "\u001BP",
  dcs: "\u001BP~",
  string: "\u001BX",
};
const CSI_FORM = /^([<=>?]?)([\d:;]*)([ -/]*)$/;
const DCS_QUERY = /^[\d:;]*[$+]q/;
const OSC_COLOUR = /^(4|10|11|12);(.*)$/s;
const PARAMETERS_MAX = 32;

export class ModeScanner {
  readonly #tools: ByteSearch;
  #modes = NO_MODES;
  #state: State = "ground";
  /** Of the unfinished sequence, what came in earlier chunks. */
  #earlier: number[] = [];
  #tooLong = false;
  /** The last byte may begin a C1 control. */
  #lead = false;
  #queries = 0;
  /** Where the unfinished sequence begins in this chunk. */
  #from = 0;

  constructor(tools: ByteSearch) {
    this.#tools = tools;
  }

  get modes(): TerminalModes {
    return this.#modes;
  }

  /**
   * The sequence that the stream is in the middle of; empty between sequences. Controls that were already executed
   * inside it are left out: repeating it changes nothing but the parser's state.
   */
  get partial(): Uint8Array {
    if (this.#state === "ground") return new Uint8Array();
    if (this.#tooLong) return Uint8Array.from(STUBS[this.#state], (character) => character.charCodeAt(0));
    return Uint8Array.from(EXECUTES.has(this.#state) ? withoutControls(this.#earlier) : this.#earlier);
  }

  /** Queries are counted in the chunk that ends them. */
  push(bytes: Uint8Array): { readonly queries: number } {
    this.#queries = 0;
    this.#from = 0;
    this.#scan(bytes);
    if (this.#state !== "ground") this.#remember(bytes);
    return { queries: this.#queries };
  }

  reset(): void {
    this.#modes = NO_MODES;
    this.#toGround();
    this.#lead = false;
  }

  #scan(bytes: Uint8Array): void {
    const next = { esc: -1, lead: -1, enq: -1 };
    let at = 0;
    if (this.#lead && bytes.length > 0) at = this.#second(bytes, 0);
    while (at < bytes.length) {
      if (this.#state === "ground") {
        at = pastForeign(bytes, this.#special(bytes, at, next));
      } else at = this.#dull(bytes, at);
      if (at >= bytes.length) return;
      if (this.#state === "ground" && !SPECIAL.has(bytes[at]!)) continue;
      if (bytes[at] === C1_LEAD) {
        this.#lead = true;
        at += 1;
        if (at < bytes.length) at = this.#second(bytes, at);
      } else {
        this.#take(bytes, at);
        at += 1;
      }
    }
  }

  /** The next byte at which something may begin. */
  #special(bytes: Uint8Array, from: number, next: { esc: number; lead: number; enq: number }): number {
    const near = Math.min(bytes.length, from + NEAR);
    for (let at = from; at < near; at += 1) {
      const byte = bytes[at];
      if (byte === ESC || byte === C1_LEAD || byte === ENQ) return at;
    }
    if (next.esc < near) next.esc = this.#find(bytes, ESC, near);
    if (next.lead < near) next.lead = this.#find(bytes, C1_LEAD, near);
    if (next.enq < near) next.enq = this.#find(bytes, ENQ, near);
    return Math.min(next.esc, next.lead, next.enq);
  }

  /** Skips what neither ends nor changes the sequence. */
  #dull(bytes: Uint8Array, from: number): number {
    const below = DULL_TO[this.#state];
    let at = from;
    while (at < bytes.length && bytes[at]! >= 0x20 && bytes[at]! < below) at += 1;
    return at;
  }

  #find(bytes: Uint8Array, needle: number, from: number): number {
    if (from >= bytes.length) return bytes.length;
    const at = this.#tools.indexOf(bytes, needle, from);
    return at === -1 ? bytes.length : at;
  }

  /** The byte after a `C1_LEAD`; answers where to go on. */
  #second(bytes: Uint8Array, at: number): number {
    this.#lead = false;
    const byte = bytes[at]!;
    // In a sequence the lead was no part of it, though it was remembered when a chunk ended there.
    if (at === 0 && EXECUTES.has(this.#state)) this.#earlier.pop();
    if (byte < 0x80 || byte > 0xbf) return at;
    if (byte < 0xa0) this.#control(bytes, at, byte);
    else this.#character(bytes, at - 1);
    return at + 1;
  }

  #take(bytes: Uint8Array, at: number): void {
    const byte = bytes[at]!;
    if (byte === ESC) {
      this.#end(bytes, at);
      this.#begin("escape", at);
    } else if (byte === CAN || byte === SUB) this.#toGround();
    else if (byte >= 0xc3 && byte <= 0xf4) this.#character(bytes, at);
    else if (byte >= 0x80) return;
    else if (this.#state === "osc") this.#inOsc(bytes, at);
    else if (this.#state === "dcs_header") this.#state = byte >= 0x40 && byte < 0x7f ? "dcs" : "dcs_header";
    else if (this.#state === "dcs" || this.#state === "string") return;
    else if (byte < 0x20) this.#queries += byte === ENQ ? 1 : 0;
    else if (this.#state === "csi") this.#inCsi(bytes, at);
    else this.#inEscape(byte);
  }

  #control(bytes: Uint8Array, at: number, code: number): void {
    if (code === 0x9c) this.#end(bytes, at - 1);
    this.#toGround();
    if (code === 0x9b) this.#begin("csi", at - 1);
    else if (code === 0x9d) this.#begin("osc", at - 1);
    else if (code === 0x90) this.#begin("dcs_header", at - 1);
    else if (code === 0x98 || code === 0x9e || code === 0x9f) this.#begin("string", at - 1);
  }

  /** A character beyond ASCII: text in a string, the end of a sequence, unless that was wrong already. */
  #character(bytes: Uint8Array, at: number): void {
    if (this.#state === "osc" || this.#state === "dcs" || this.#state === "ground") return;
    if (this.#state === "csi" && !CSI_FORM.test(this.#body(bytes, at))) return;
    this.#toGround();
  }

  #inOsc(bytes: Uint8Array, at: number): void {
    if (bytes[at] !== BEL) return;
    this.#end(bytes, at);
    this.#toGround();
  }

  #inEscape(byte: number): void {
    if (byte === 0x7f) return;
    const to = this.#state === "escape" ? ESCAPE_OPENS[byte] : undefined;
    if (byte < 0x30) this.#state = "designation";
    else if (to !== undefined) this.#state = to;
    else {
      if (this.#state === "escape" && byte === 0x63) this.#modes = NO_MODES;
      this.#toGround();
    }
  }

  #inCsi(bytes: Uint8Array, at: number): void {
    if (bytes[at]! < 0x40 || bytes[at] === 0x7f) return;
    if (FINALS.has(bytes[at]!)) {
      const form = CSI_FORM.exec(this.#body(bytes, at));
      if (form !== null) this.#dispatch(form[1]! + form[3]! + String.fromCharCode(bytes[at]!), form[2]!);
    }
    this.#toGround();
  }

  /** `kind` is prefix, intermediates and final byte. */
  #dispatch(kind: string, parameters: string): void {
    if (kind === "?h" || kind === "?l") {
      for (const part of parameters.split(";", PARAMETERS_MAX)) this.#set(valueOf(part), kind === "?h");
    } else if (kind === "!p") this.#modes = { ...this.#modes, ...SOFT_RESET };
    else if (isQuery(kind, valueOf(parameters))) this.#queries += 1;
  }

  #set(mode: number, on: boolean): void {
    const name = MODE_NAMES.get(mode);
    if (name !== undefined && this.#modes[name] !== on) this.#modes = { ...this.#modes, [name]: on };
  }

  /** A string is over; what it asked counts. */
  #end(bytes: Uint8Array, at: number): void {
    if ((this.#state !== "osc" && this.#state !== "dcs") || this.#tooLong) return;
    // Most strings are titles and links: those begin otherwise.
    const first = this.#earlier.length > 2 ? this.#earlier[2] : bytes[this.#from + 2 - this.#earlier.length];
    if (this.#state === "osc" && first !== 0x31 && first !== 0x34) return;
    const text = this.#body(bytes, at);
    if (this.#state === "dcs") this.#queries += DCS_QUERY.test(text) ? 1 : 0;
    else {
      const colour = OSC_COLOUR.exec(text);
      if (colour !== null && colourQueries(Number(colour[1]), colour[2]!).length > 0) this.#queries += 1;
    }
  }

  #begin(state: State, at: number): void {
    this.#toGround();
    this.#state = state;
    this.#from = Math.max(at, 0);
    // The lead of a C1 control may have been the last byte of the chunk before.
    if (at < 0) this.#earlier.push(C1_LEAD);
  }

  #toGround(): void {
    this.#state = "ground";
    this.#tooLong = false;
    if (this.#earlier.length > 0) this.#earlier = [];
  }

  /** The unfinished sequence up to `end`, without its two bytes of introduction. */
  #body(bytes: Uint8Array, end: number): string {
    // A character's lead may have been the last byte of the chunk before.
    const to = Math.max(0, Math.min(end, this.#from + PARTIAL_MAX));
    if (this.#earlier.length > 0) {
      return String.fromCharCode(...withoutControls([...this.#earlier, ...bytes.subarray(this.#from, to)]).slice(2));
    }
    let text = "";
    for (let at = this.#from + 2; at < to; at += 1) {
      const byte = bytes[at]!;
      if (byte < 0x20 || byte === 0x7f)
        return String.fromCharCode(...withoutControls(bytes.subarray(this.#from, to)).slice(2));
      text += String.fromCharCode(byte);
    }
    return text;
  }

  #remember(bytes: Uint8Array): void {
    const room = PARTIAL_MAX - this.#earlier.length;
    if (bytes.length - this.#from > room) this.#tooLong = true;
    if (this.#tooLong) this.#earlier = [];
    else for (let at = this.#from; at < bytes.length; at += 1) this.#earlier.push(bytes[at]!);
  }
}

const ESCAPE_OPENS: Readonly<Record<number, State>> = {
  0x5b: "csi",
  0x5d: "osc",
  0x50: "dcs_header",
  0x58: "string",
  0x5e: "string",
  0x5f: "string",
};

/** Final bytes of what may be ours: h l c n p q t. */
const FINALS: ReadonlySet<number> = new Set([0x68, 0x6c, 0x63, 0x6e, 0x70, 0x71, 0x74]);

/** After a whole CSI sequence that is none of ours, which is nearly every one; else where it was. */
function pastForeign(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== ESC || bytes[from + 1] !== 0x5b) return from;
  let at = from + 2;
  while (at < bytes.length && bytes[at]! >= 0x20 && bytes[at]! < 0x40) at += 1;
  const final = bytes[at] ?? 0;
  return final >= 0x40 && final < 0x7f && !FINALS.has(final) ? at + 1 : from;
}

/** Printable bytes below this mean nothing here. */
const DULL_TO: Readonly<Record<State, number>> = {
  ground: 0,
  escape: 0,
  designation: 0,
  csi: 0x40,
  osc: 0x7f,
  dcs_header: 0,
  dcs: 0x7f,
  string: 0x7f,
};

/** In these a control character acts at once. */
const EXECUTES: ReadonlySet<State> = new Set<State>(["escape", "designation", "csi"]);

/** 1006 only says how a report is written. */
const MODE_NAMES: ReadonlyMap<number, keyof TerminalModes> = new Map<number, keyof TerminalModes>([
  [1, "applicationCursor"],
  [9, "mouse"],
  [47, "altScreen"],
  [1000, "mouse"],
  [1002, "mouse"],
  [1003, "mouse"],
  [1004, "focus"],
  [1047, "altScreen"],
  [1049, "altScreen"],
  [2004, "bracketedPaste"],
]);

/** DECSTR leaves the buffer and the mouse alone. */
const SOFT_RESET = { applicationCursor: false, bracketedPaste: false, focus: false };

function isQuery(kind: string, value: number): boolean {
  switch (kind) {
    case "c": // DA1, DA2, DA3
    case ">c":
    case "=c":
    case ">q": // XTVERSION
      return value === 0;
    case "n":
      return value === 5 || value === 6;
    case "?n":
      return value === 6;
    case "$p": // DECRQM
    case "?$p":
      return true;
    case "t":
      return WINDOW_REPORTS.has(value);
    default:
      return false;
  }
}

/** The first number; sub-parameters (after a colon) are not ours. */
function valueOf(parameters: string): number {
  return Number.parseInt(parameters, 10) || 0;
}

function withoutControls(bytes: Iterable<number>): number[] {
  return Array.from(bytes).filter((byte, at) => (byte >= 0x20 && byte !== 0x7f) || (at === 0 && byte === ESC));
}
