/**
 * Names of keys and what xterm sends for them. Spellings of tmux (`C-c`, `M-x`, `PPage`) and of people (`Ctrl+C`,
 * `Esc`, `PgUp`) mean the same; names ignore case, characters keep theirs. Rules SCR-10..SCR-14 in docs/spec/screen.md.
 */
export function keyBytes(name: string, modes: { readonly applicationCursor: boolean }): Uint8Array | undefined {
  const sent = keyText(name, modes.applicationCursor);
  return sent === undefined ? undefined : utf8(sent);
}

type Modifiers = { readonly shift: boolean; readonly alt: boolean; readonly control: boolean };

/** A key that sends `CSI letter`, with modifiers `CSI 1 ; m letter`. */
const CURSOR_KEYS: Readonly<Record<string, string>> = {
  Up: "A",
  Down: "B",
  Right: "C",
  Left: "D",
  Home: "H",
  End: "F",
};

const FUNCTION_LETTERS: Readonly<Record<string, string>> = { F1: "P", F2: "Q", F3: "R", F4: "S" };

/** A key that sends `CSI number ~`, with modifiers `CSI number ; m ~`. */
const NUMBERED_KEYS: Readonly<Record<string, number>> = {
  Insert: 2,
  Delete: 3,
  PageUp: 5,
  PageDown: 6,
  F5: 15,
  F6: 17,
  F7: 18,
  F8: 19,
  F9: 20,
  F10: 21,
  F11: 23,
  F12: 24,
};

const PLAIN_KEYS: Readonly<Record<string, string>> = {
  Enter: "\r",
  Tab: "\t",
  Escape: "\u001B",
  Space: " ",
  Backspace: "\u007F",
};

/** Terminfo's kf13..kf24: the shifted ones. */
const HIGH_FUNCTION_KEYS = Array.from({ length: 12 }, (_, index) => `F${index + 13}`);

const BASE_NAMES: readonly string[] = [
  ...Object.keys(PLAIN_KEYS),
  ...Object.keys(CURSOR_KEYS),
  ...Object.keys(NUMBERED_KEYS).filter((name) => !name.startsWith("F")),
  ...Object.keys(FUNCTION_LETTERS),
  ...Object.keys(NUMBERED_KEYS).filter((name) => name.startsWith("F")),
  ...HIGH_FUNCTION_KEYS,
];

/** Every name without a modifier and the usual ones with one; `C-`, `M-` and `S-` go before any of them. */
export const KEY_NAMES: readonly string[] = [
  ...BASE_NAMES,
  "S-Tab",
  "C-Space",
  ...Array.from("abcdefghijklmnopqrstuvwxyz[\\]^_", (character) => `C-${character}`),
];

const ALIASES: Readonly<Record<string, string>> = {
  return: "Enter",
  cr: "Enter",
  esc: "Escape",
  spacebar: "Space",
  bspace: "Backspace",
  bs: "Backspace",
  del: "Delete",
  dc: "Delete",
  ins: "Insert",
  ic: "Insert",
  pgup: "PageUp",
  ppage: "PageUp",
  prior: "PageUp",
  pgdn: "PageDown",
  pgdown: "PageDown",
  npage: "PageDown",
  next: "PageDown",
  arrowup: "Up",
  arrowdown: "Down",
  arrowleft: "Left",
  arrowright: "Right",
};

const NAMES: ReadonlyMap<string, string> = new Map([
  ...BASE_NAMES.map((name) => [name.toLowerCase(), name] as const),
  ...Object.entries(ALIASES),
]);

const MODIFIER = /^(?:(?<control>c|ctrl|control)|(?<alt>m|alt|meta|opt|option)|(?<shift>s|shift))[-+](?=.)/iu;
const BACK_TAB = /^(?:btab|backtab)$/i;

/** Control with these, as xterm does on a US keyboard. */
const CONTROL_CHARACTERS: Readonly<Record<string, string>> = {
  " ": "\u0000",
  "@": "\u0000",
  "2": "\u0000",
  "[": "\u001B",
  "3": "\u001B",
  "\\": "\u001C",
  "4": "\u001C",
  "]": "\u001D",
  "5": "\u001D",
  "^": "\u001E",
  "6": "\u001E",
  _: "\u001F",
  "7": "\u001F",
  "/": "\u001F",
  "-": "\u001F",
  "?": "\u007F",
  "8": "\u007F",
};

function keyText(name: string, applicationCursor: boolean): string | undefined {
  const caret = /^\^(?<key>[@-_?a-z])$/.exec(name)?.groups?.["key"];
  if (caret !== undefined) return control(caret);
  const { rest, modifiers } = split(name);
  if (BACK_TAB.test(rest)) return named("Tab", { ...modifiers, shift: true }, applicationCursor);
  const known = NAMES.get(rest.toLowerCase());
  if (known !== undefined) return named(known, modifiers, applicationCursor);
  return Array.from(rest).length === 1 ? character(rest, modifiers) : undefined;
}

function split(name: string): { readonly rest: string; readonly modifiers: Modifiers } {
  const modifiers = { shift: false, alt: false, control: false };
  let rest = name;
  for (let found = MODIFIER.exec(rest); found !== null; found = MODIFIER.exec(rest)) {
    if (found.groups?.["control"] !== undefined) modifiers.control = true;
    else if (found.groups?.["alt"] !== undefined) modifiers.alt = true;
    else modifiers.shift = true;
    rest = rest.slice(found[0].length);
  }
  return { rest, modifiers };
}

function named(name: string, modifiers: Modifiers, applicationCursor: boolean): string {
  const plain = PLAIN_KEYS[name];
  if (plain !== undefined) return plainKey(name, plain, modifiers);
  if (HIGH_FUNCTION_KEYS.includes(name)) {
    return named(`F${Number(name.slice(1)) - 12}`, { ...modifiers, shift: true }, applicationCursor);
  }
  const code = 1 + (modifiers.shift ? 1 : 0) + (modifiers.alt ? 2 : 0) + (modifiers.control ? 4 : 0);
  const number = NUMBERED_KEYS[name];
  if (number !== undefined) return code === 1 ? `\u001B[${number}~` : `\u001B[${number};${code}~`;
  const letter = CURSOR_KEYS[name] ?? FUNCTION_LETTERS[name]!;
  if (code > 1) return `\u001B[1;${code}${letter}`;
  return applicationCursor || name in FUNCTION_LETTERS ? `\u001BO${letter}` : `\u001B[${letter}`;
}

function plainKey(name: string, plain: string, modifiers: Modifiers): string {
  const alt = modifiers.alt ? "\u001B" : "";
  if (name === "Tab" && modifiers.shift) return `${alt}\u001B[Z`;
  if (name === "Space" && modifiers.control) return `${alt}\u0000`;
  if (name === "Backspace" && modifiers.control) return `${alt}\b`;
  return alt + plain;
}

function character(key: string, modifiers: Modifiers): string | undefined {
  const shifted = modifiers.shift ? key.toUpperCase() : key;
  const sent = modifiers.control ? control(key) : shifted;
  return sent === undefined || !modifiers.alt ? sent : `\u001B${sent}`;
}

function control(key: string): string | undefined {
  if (/^[a-z]$/i.test(key)) return String.fromCharCode(key.charCodeAt(0) & 0x1f);
  return CONTROL_CHARACTERS[key];
}

/** There is no TextEncoder here. */
function utf8(text: string): Uint8Array {
  const escaped = encodeURIComponent(text.toWellFormed());
  return Uint8Array.from(escaped.match(/%[\dA-F]{2}|[^%]/g) ?? [], (part) =>
    part.length === 1 ? part.charCodeAt(0) : Number.parseInt(part.slice(1), 16),
  );
}
