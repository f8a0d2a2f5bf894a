/** Sets of bytes as 256-entry tables: one look-up says whether a byte belongs. */
export type ByteClass = Readonly<Uint8Array>;

/** `byteClass("A-Z", "_")`: an entry of three characters with a dash in the middle is a range. */
export function byteClass(...entries: readonly string[]): ByteClass {
  const table = new Uint8Array(256);
  for (const entry of entries) {
    const range = entry.length === 3 && entry[1] === "-";
    if (range) table.fill(1, entry.charCodeAt(0), entry.charCodeAt(2) + 1);
    else for (const character of entry) table[character.charCodeAt(0)] = 1;
  }
  return table;
}

/** `-1`, where there is no byte, belongs to no class. */
export function belongs(table: ByteClass, byte: number): boolean {
  return table[byte] === 1;
}

export const ALNUM = byteClass("A-Z", "a-z", "0-9");
export const DIGIT = byteClass("0-9");
export const UPPER = byteClass("A-Z");
export const LOWER = byteClass("a-z");
export const WORD = byteClass("A-Z", "a-z", "0-9", "_-");

export const ESC = 0x1b;
export const LF = 0x0a;
export const CR = 0x0d;
export const BACKSPACE = 0x08;
export const SPACE = 0x20;
export const BACKSLASH = 0x5c;
export const DASH = 0x2d;
export const COLON = 0x3a;
export const EQUALS = 0x3d;
