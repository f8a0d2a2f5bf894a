/**
 * Writes the rows of a buffer as output that paints them again on an empty one: text, colours, which empty cells are
 * coloured, and which row is the continuation of the one before (a later resize reflows by that).
 */
import type { IBuffer, IBufferLine } from "@xterm/headless";
import type { Attributes } from "./xterm-internals.ts";

/** Of the foreground; the line under a hyperlink is not one of these. */
const UNDERLINED = 1 << 28;
/** Of the background: there is more, an underline style or a hyperlink. */
const EXTENDED = 1 << 28;
const PALETTE_16 = 1 << 24;
const PALETTE_256 = 2 << 24;

/** Begins and ends with the default colours and with the cursor in the last written row. */
export function writeRows(
  buffer: IBuffer,
  cols: number,
  range: { readonly from: number; readonly to: number },
): string {
  let text = "";
  for (let row = range.from; row < range.to; row += 1) {
    const line = buffer.getLine(row)!;
    if (row === range.from) text += line.isWrapped ? wrapFromNothing(cols) : "";
    else text += line.isWrapped ? wrap(buffer.getLine(row - 1)!, cols) : "\r\n";
    text += writeCells(line, cols);
  }
  return text;
}

/** The SGR sequence that gives exactly these colours and flags. */
export function pen(attributes: Attributes): string {
  const parts = ["0"];
  if (attributes.isBold()) parts.push("1");
  if (attributes.isDim()) parts.push("2");
  if (attributes.isItalic()) parts.push("3");
  if (attributes.fg & UNDERLINED) parts.push(underline(attributes));
  if (attributes.isBlink()) parts.push("5");
  if (attributes.isInverse()) parts.push("7");
  if (attributes.isInvisible()) parts.push("8");
  if (attributes.isStrikethrough()) parts.push("9");
  if (attributes.isOverline()) parts.push("53");
  parts.push(...colour(attributes.getFgColorMode(), attributes.getFgColor(), 30));
  parts.push(...colour(attributes.getBgColorMode(), attributes.getBgColor(), 40));
  return `\u001B[${parts.join(";")}m`;
}

/** Erasing gives a cell a colour and nothing else, and nothing else shows on an empty one. */
function backgroundPen(attributes: Attributes): string {
  return `\u001B[${["0", ...colour(attributes.getBgColorMode(), attributes.getBgColor(), 40)].join(";")}m`;
}

export function isPlain(attributes: Attributes): boolean {
  return attributes.fg === 0 && (attributes.bg & ~EXTENDED) === 0;
}

function underline(attributes: Attributes): string {
  const { underlineStyle, urlId } = attributes.extended;
  const style = attributes.hasExtendedAttrs() && urlId === 0 ? underlineStyle : 0;
  return style > 1 ? `4:${style}` : "4";
}

function colour(mode: number, value: number, base: number): string[] {
  if (mode === 0) return [];
  if (mode === PALETTE_16) return [String(value < 8 ? base + value : base + 52 + value)];
  if (mode === PALETTE_256) return [String(base + 8), "5", String(value)];
  return [String(base + 8), "2", String(value >>> 16), String((value >>> 8) & 255), String(value & 255)];
}

/** From column 0 on; empty cells without a colour are left as they are. */
function writeCells(line: IBufferLine, cols: number): string {
  let text = "";
  let current = "";
  let skipped = 0;
  let cell: Attributes | undefined;
  for (let col = 0; col < Math.min(cols, line.length); col += 1) {
    cell = line.getCell(col, cell) as Attributes;
    const characters = cell.getChars();
    const width = cell.getWidth();
    if (characters === "" && (width === 0 || cell.getBgColorMode() === 0)) {
      // The second half of a wide character was written with it.
      if (width !== 0 || !secondHalf(line, col)) skipped += 1;
      continue;
    }
    if (skipped > 0) text += `\u001B[${skipped}C`;
    // A wide character in the last column would wrap.
    const blank = characters === "" || (width === 2 && col === cols - 1);
    const wanted = isPlain(cell) ? "" : blank ? backgroundPen(cell) : pen(cell);
    // A character without width would join the one before it: a sequence in between keeps it alone.
    if (wanted !== current || width === 0) text += wanted === "" ? "\u001B[0m" : wanted;
    current = wanted;
    skipped = blank ? sameBlanks(line, col) : 0;
    text += blank ? `\u001B[${skipped}X` : characters;
    if (blank) col += skipped - 1;
  }
  return current === "" ? text : `${text}\u001B[0m`;
}

/** How many empty cells of one colour begin here. */
function sameBlanks(line: IBufferLine, from: number): number {
  const colour = backgroundPen(line.getCell(from) as Attributes);
  let to = from + 1;
  while (to < line.length) {
    const cell = line.getCell(to) as Attributes;
    if (cell.getChars() !== "" || cell.getWidth() === 0 || backgroundPen(cell) !== colour) break;
    to += 1;
  }
  return to - from;
}

function secondHalf(line: IBufferLine, col: number): boolean {
  return col > 0 && line.getCell(col - 1)!.getWidth() === 2;
}

/**
 * Goes from the end of `line` to the start of a row that continues it, which only printing past the end does. What
 * had to be printed for it is erased again.
 */
function wrap(line: IBufferLine, cols: number): string {
  const last = line.getCell(cols - 1) as Attributes;
  if (last.getChars() !== "" && last.getWidth() <= 1) return OVER;
  if (last.getWidth() === 0 && last.getChars() === "" && secondHalf(line, cols - 1)) return OVER;
  const erase = last.getBgColorMode() === 0 ? "\u001B[X" : `${backgroundPen(last)}\u001B[X\u001B[0m`;
  return `\u001B[${cols}G-${OVER}\u001B[A\u001B[${cols}G${erase}\u001B[B\r`;
}

/** The row that the first one continues is gone: it scrolled out of what is kept. Lines put in above it make it matter. */
function wrapFromNothing(cols: number): string {
  return `\u001B[${cols}G-${OVER}\u001B[A\u001B[M`;
}

/** Behind a full row. */
const OVER = "-\r\u001B[X";
