/**
 * Writes an emulator down as output that brings a terminal that was just reset into the same state: both buffers,
 * colours, cursor, pen, margins, tab stops, character sets, saved cursors, modes and title, so that whatever the
 * program prints next has the same effect there. Hyperlinks are left out. Rules SCR-20..SCR-24 in docs/spec/screen.md.
 */
import type { IBuffer, Terminal } from "@xterm/headless";
import { isPlain, pen, writeRows } from "./row-writer.ts";
import type { Charset, InnerBuffer, XtermInternals } from "./xterm-internals.ts";

export type Written = {
  readonly terminal: Terminal;
  readonly inner: XtermInternals;
  readonly title: string;
  /** The sequence that the output is in the middle of. */
  readonly partial: string;
};

/** With at most `scrollback` lines above the screen, fewer when it would become longer than `maxBytes`. */
export function writeScreen(from: Written, limits: { readonly scrollback: number; readonly maxBytes: number }): string {
  const { terminal, inner } = from;
  const alternate = terminal.buffer.active.type === "alternate";
  const after = alternate ? alternateScreen(from) : "";
  const rest = bufferState(inner.normal, terminal) + after + modes(from) + cursor(from) + from.partial;
  return normalRows(terminal, limits.scrollback, limits.maxBytes - Buffer.byteLength(rest)) + rest;
}

function normalRows(terminal: Terminal, scrollback: number, room: number): string {
  const buffer = terminal.buffer.normal;
  const { cols } = terminal;
  const top = buffer.baseY;
  if (top === 0 || scrollback === 0) return writeRows(buffer, cols, { from: top, to: lastUsed(buffer, terminal.rows) });
  let from = Math.max(0, top - scrollback);
  let text = writeRows(buffer, cols, { from, to: top + terminal.rows });
  for (let size = Buffer.byteLength(text); size > room && from < top; size = Buffer.byteLength(text)) {
    from = Math.min(top, from + Math.ceil(((top + terminal.rows - from) * (size - room)) / size));
    text = writeRows(buffer, cols, { from, to: from === top ? lastUsed(buffer, terminal.rows) : top + terminal.rows });
  }
  return text;
}

/** Empty rows at the bottom need no writing when nothing has to scroll. */
function lastUsed(buffer: IBuffer, rows: number): number {
  for (let row = buffer.baseY + rows - 1; row >= buffer.baseY; row -= 1) {
    const line = buffer.getLine(row)!;
    if (line.isWrapped || writeRows(buffer, line.length, { from: row, to: row + 1 }) !== "") return row + 1;
  }
  return buffer.baseY;
}

function alternateScreen({ terminal, inner }: Written): string {
  const { cols, rows } = terminal;
  // 1047 and not 1049: the cursor saved for the normal buffer is already there.
  const enter = "\u001B[?1047h\u001B[H";
  return (
    enter + writeRows(terminal.buffer.alternate, cols, { from: 0, to: rows }) + bufferState(inner.active, terminal)
  );
}

/** Tab stops, saved cursor and margins: each buffer has its own. Leaves the cursor anywhere. */
function bufferState(buffer: InnerBuffer, { cols, rows }: Terminal): string {
  let text = "\u001B[0m";
  const stops = Array.from({ length: cols }, (_, col) => col).filter((col) => buffer.tabs[col] === true);
  if (stops.some((col) => col % 8 !== 0) || stops.length !== Math.ceil(cols / 8)) {
    text += `\u001B[3g${stops.map((col) => `\u001B[${col + 1}G\u001BH`).join("")}`;
  }
  const savedRow = buffer.savedY - buffer.ybase;
  // As restoring does: a saved cursor never waits to wrap.
  const savedCol = Math.min(buffer.savedX, cols - 1);
  const set = designation(buffer.savedCharset);
  if (savedCol !== 0 || savedRow !== 0 || !isPlain(buffer.savedCurAttrData) || set !== "B") {
    text += `${at(savedRow, savedCol)}${pen(buffer.savedCurAttrData)}\u001B(${set}\u001B7\u001B(B\u001B[0m`;
  }
  return `${text}\u001B[${buffer.scrollTop + 1};${Math.min(buffer.scrollBottom, rows - 1) + 1}r`;
}

function modes({ terminal, inner, title }: Written): string {
  const { modes: set } = terminal;
  let text = "";
  if (set.applicationCursorKeysMode) text += "\u001B[?1h";
  if (set.applicationKeypadMode) text += "\u001B[?66h";
  if (set.bracketedPasteMode) text += "\u001B[?2004h";
  if (set.reverseWraparoundMode) text += "\u001B[?45h";
  if (set.sendFocusMode) text += "\u001B[?1004h";
  const mouse = { none: "", x10: "9", vt200: "1000", drag: "1002", any: "1003" }[set.mouseTrackingMode];
  if (mouse !== "") text += `\u001B[?${mouse}h`;
  const encoding = { SGR: "1006", SGR_PIXELS: "1016" }[inner.mouseEncoding];
  if (encoding !== undefined) text += `\u001B[?${encoding}h`;
  if (inner.cursorHidden) text += "\u001B[?25l";
  if (inner.cursorShape !== 0) text += `\u001B[${inner.cursorShape} q`;
  if (title !== "") text += `\u001B]2;${title}\u001B\\`;
  return text;
}

/** Character sets, pen and cursor, last: all that came before moves them. */
function cursor({ terminal, inner }: Written): string {
  const { originMode, insertMode, wraparoundMode } = terminal.modes;
  const { cols } = terminal;
  const { y, scrollTop } = inner.active;
  // A combining character that stands alone behind a full row takes a cell that isn't there.
  const x = Math.min(inner.active.x, cols);
  const justPrinted = inner.justPrinted && inner.active.x <= cols;
  const place = (col: number): string => at(originMode ? y - scrollTop : y, col);
  const before =
    (originMode ? "\u001B[?6h" : "") + (wraparoundMode ? "" : "\u001B[?7l") + (insertMode ? "\u001B[4h" : "");
  const last = previousCell(terminal, x, y);
  // Waiting to wrap, or a combining character may come: only printing the last character again leaves it so.
  if (last === undefined || (x < cols && !justPrinted)) return before + place(x) + pen(inner.pen) + charsets(inner);
  const again = `${place(last.col)}${insertMode ? `\u001B[${last.width}P` : ""}`;
  if (!justPrinted) return `${before}${again}${last.pen}${last.characters}${pen(inner.pen)}${charsets(inner)}`;
  // Here the pen and the sets are still those that printed it, and what a set gives it doesn't translate again.
  return `${before}${charsets(inner)}${again}${pen(inner.pen)}${last.characters}`;
}

function previousCell(
  terminal: Terminal,
  x: number,
  y: number,
): { readonly col: number; readonly width: number; readonly characters: string; readonly pen: string } | undefined {
  const buffer = terminal.buffer.active;
  const line = buffer.getLine(buffer.baseY + y);
  for (const col of [x - 1, x - 2]) {
    const cell = line?.getCell(col);
    if (cell === undefined || cell.getChars() === "") continue;
    // A combining character that stands alone takes a cell too.
    if (col + Math.max(1, cell.getWidth()) !== x) return undefined;
    return { col, width: cell.getWidth(), characters: cell.getChars(), pen: pen(cell as Parameters<typeof pen>[0]) };
  }
  return undefined;
}

function charsets(inner: XtermInternals): string {
  const { sets, level, current } = inner.charsets;
  const designated = ["(", ")", "*", "+"].map((slot, index) => {
    const set = designation(sets[index]);
    return set === "B" ? "" : `\u001B${slot}${set}`;
  });
  const shift = ["", "\u000E", "\u001Bn", "\u001Bo"][level]!;
  // A restored cursor may have brought a set that its slot doesn't hold.
  const restored = designation(current) === designation(sets[level]) ? "" : `\u001B(${designation(current)}`;
  return designated.join("") + shift + restored;
}

/** Line drawing and the British set are the ones in use; others are taken for ASCII. */
function designation(charset: Charset): string {
  if (charset?.["q"] === "\u2500") return "0";
  return charset?.["#"] === "£" ? "A" : "B";
}

function at(row: number, col: number): string {
  return `\u001B[${row + 1};${col + 1}H`;
}
