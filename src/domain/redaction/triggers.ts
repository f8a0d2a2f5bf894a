/**
 * Where in a stream of ordinary text a rule could begin: by a byte and the two before it. Everything else is passed
 * over two bytes at a time, which is what makes clean output cheap. Too many triggers cost time, too few leak.
 */
import { ALNUM, belongs, byteClass, COLON, CR, DASH, DIGIT, ESC, LF, type ByteClass } from "./byte-class.ts";
import { ESCAPE_ENDS } from "./escape-reader.ts";
import { KEYWORD_TAILS } from "./keywords.ts";
import { PREFIX_RULES, type PrefixRule } from "./token-kinds.ts";

type Rule = PrefixRule & { readonly bytes: Uint8Array };

/** The same memory twice: two bytes at a time are passed over in half the time. */
export type TriggerText = { readonly bytes: Uint8Array; readonly words: Uint16Array };

/** Rules by the last byte of their prefix, longest first: `sk-proj-` before `sk-`. */
const RULES: Rule[][] = Array.from({ length: 256 }, () => []);
for (const rule of PREFIX_RULES.toSorted((one, other) => other.prefix.length - one.prefix.length)) {
  const bytes = Uint8Array.from(rule.prefix, (character) => character.charCodeAt(0));
  RULES[bytes.at(-1) ?? 0]?.push({ ...rule, bytes });
}

/** By the byte before and the byte: 0 if no rule begins there, else which entry of THIRDS says what stands before both. */
const PAIRS = new Uint8Array(256 * 256);
const THIRDS: Uint8Array[] = [new Uint8Array(256), new Uint8Array(256).fill(1)];
const ANYTHING = 1;
/** The byte is the last of such a pair. */
const BYTES = new Uint8Array(256);
/** By two bytes as a little-endian number: FIRST or SECOND of them is such a byte. */
const WORDS = new Uint8Array(256 * 256);
const FIRST = 1;
const SECOND = 2;
const ANY: ByteClass = new Uint8Array(256).fill(1);
const TAIL_MARKS = "\"'`] ";
fillTables();

/** The first index in [from, to) at which a rule could begin; `to` if there is none. */
export function nextTrigger({ bytes, words }: TriggerText, from: number, to: number): number {
  let index = from;
  if ((index & 1) === 1) {
    if (index < to && isTrigger(bytes, index)) return index;
    index += 1;
  }
  const wordsEnd = to >> 1;
  for (let word = index >> 1; word < wordsEnd; word += 1) {
    const found = WORDS[words[word] ?? 0] ?? 0;
    if (found === 0) continue;
    if ((found & FIRST) !== 0 && isTrigger(bytes, word * 2)) return word * 2;
    if ((found & SECOND) !== 0 && isTrigger(bytes, word * 2 + 1)) return word * 2 + 1;
  }
  const last = Math.max(wordsEnd * 2, index);
  return last < to && isTrigger(bytes, last) ? last : to;
}

/** Behind an escape sequence the bytes before say nothing. */
export function isTriggerByte(byte: number): boolean {
  return BYTES[byte] === 1;
}

export function rulesEndingWith(byte: number): readonly Rule[] {
  return RULES[byte] ?? [];
}

function isTrigger(bytes: Uint8Array, index: number): boolean {
  const byte = bytes[index] ?? 0;
  if (index < 4) return BYTES[byte] === 1;
  let second = index - 1;
  // A prefix may be wrapped before its last character.
  if (bytes[second] === LF && PAIRS[(LF << 8) | byte] === 0) second -= bytes[second - 1] === CR ? 2 : 1;
  const entry = PAIRS[((bytes[second] ?? 0) << 8) | byte] ?? 0;
  if (entry === 0 || THIRDS[entry]?.[bytes[second - 1] ?? 0] !== 1) return false;
  // A bot's id is longer than a time of day or a line number.
  return byte !== COLON || DIGIT[bytes[second] ?? 0] === 0 || DIGIT[bytes[index - 3] ?? 0] === 1;
}

function fillTables(): void {
  for (const { prefix } of PREFIX_RULES) allowPrefix(prefix);
  for (const separator of ":=") {
    for (const tail of KEYWORD_TAILS) allow(`${tail[1]}${separator}`, byteClass(tail[0] ?? ""));
    for (const mark of TAIL_MARKS) allow(mark + separator, byteClass(...KEYWORD_TAILS, TAIL_MARKS, "\\"));
  }
  for (const digit of "0123456789") allow(`${digit}:`, DIGIT);
  allow(
    "--",
    ALNUM.map((member, byte) => (member === 1 || byte === DASH ? 0 : 1)),
  );
  allow(":/", ANY);
  for (let before = 0; before < 256; before += 1) {
    if (!belongs(ALNUM, before) || belongs(ESCAPE_ENDS, before)) allow(String.fromCharCode(before, 0x42), ANY);
    allow(String.fromCharCode(before, ESC), ANY);
  }
  for (let pair = 0; pair < PAIRS.length; pair += 1) if (PAIRS[pair] !== 0) BYTES[pair & 0xff] = 1;
  for (let word = 0; word < WORDS.length; word += 1) {
    const first = word & 0xff;
    const second = word >> 8;
    const pair = PAIRS[(first << 8) | second] !== 0 || (first === LF && BYTES[second] === 1);
    WORDS[word] = (BYTES[first] === 1 ? FIRST : 0) | (pair ? SECOND : 0);
  }
}

/** A prefix of two characters has anything before it; the scanner looks at the boundary. */
function allowPrefix(prefix: string): void {
  allow(prefix.slice(-2), prefix.length > 2 ? byteClass(prefix.at(-3) ?? "") : ANY);
}

/** Colour codes and line breaks may lie between any two characters. */
function allow(pair: string, thirds: ByteClass): void {
  const at = (pair.charCodeAt(0) << 8) | pair.charCodeAt(1);
  if (thirds === ANY) {
    PAIRS[at] = ANYTHING;
    return;
  }
  if (PAIRS[at] === 0) PAIRS[at] = THIRDS.push(ESCAPE_ENDS.map((member, byte) => (byte === LF ? 1 : member))) - 1;
  const allowed = THIRDS[PAIRS[at] ?? 0];
  thirds.forEach((member, byte) => {
    if (allowed !== undefined && member === 1) allowed[byte] = 1;
  });
}
