/**
 * Terminal output as text for reading: sequences gone, progress lines in their last state, and of long output the
 * begin and the end, with a note of what was left out between. Rules WAI-23..WAI-25 in docs/spec/waiting.md.
 */
import { LinePainter, type PaintedLine } from "./matching/line-painter.ts";

export type DisplayText = {
  readonly text: string;
  /** Raw bytes that the text doesn't show for want of room. */
  readonly omitted: number;
  /** Where they are, as offsets in the given bytes. */
  readonly omittedRanges: readonly (readonly [number, number])[];
};

/** Bytes of text to show. When one of them is 0 the note is left to the caller. */
export type DisplayBudget = { readonly headBytes: number; readonly tailBytes: number };

export function displayText(bytes: Uint8Array, { headBytes, tailBytes }: DisplayBudget): DisplayText {
  const painter = new LinePainter();
  painter.push(bytes);
  painter.end();
  const lines = painter.lines;
  const endsLine = bytes.at(-1) === 0x0a;
  const whole = lines.map((it) => it.cells.join("")).join("\n") + (endsLine ? "\n" : "");
  if (utf8Length(whole) <= headBytes + tailBytes) return { text: whole, omitted: 0, omittedRanges: [] };

  const head = headOf(lines, headBytes);
  const tail = tailOf(lines, tailBytes, bytes.length);
  const omitted = Math.max(0, tail.begin - head.end);
  const both = headBytes > 0 && tailBytes > 0;
  const note = both ? `${head.text === "" || head.text.endsWith("\n") ? "" : "\n"}… ${omitted} bytes left out …\n` : "";
  const end = tailBytes > 0 && endsLine ? "\n" : "";
  return { text: head.text + note + tail.text + end, omitted, omittedRanges: [[head.end, head.end + omitted]] };
}

function headOf(lines: readonly PaintedLine[], budget: number): { readonly text: string; readonly end: number } {
  let text = "";
  let left = budget;
  for (const { cells, raws, begin } of lines) {
    const line = `${cells.join("")}\n`;
    const size = utf8Length(line);
    if (size > left) {
      // A cut inside a line only where the line would take most of the room.
      if (left * 2 < budget) return { text, end: begin };
      const count = fitting(cells, left);
      return { text: text + cells.slice(0, count).join(""), end: raws[count] ?? begin };
    }
    text += line;
    left -= size;
  }
  return { text, end: lines.at(-1)?.end ?? 0 };
}

function tailOf(
  lines: readonly PaintedLine[],
  budget: number,
  length: number,
): { readonly text: string; readonly begin: number } {
  const shown: string[] = [];
  let left = budget;
  let begin = length;
  for (const line of lines.toReversed()) {
    const size = utf8Length(line.cells.join("")) + 1;
    if (size > left) {
      if (left * 2 < budget || left === 0) break;
      const count = fitting(line.cells.toReversed(), left);
      if (count === 0) break;
      shown.push(line.cells.slice(-count).join(""));
      begin = line.raws[line.cells.length - count] ?? begin;
      break;
    }
    shown.push(line.cells.join(""));
    begin = line.begin;
    left -= size;
  }
  return { text: shown.toReversed().join("\n"), begin };
}

/** How many cells from the first fit into so many bytes. */
function fitting(cells: readonly string[], bytes: number): number {
  let left = bytes;
  const over = cells.findIndex((cell) => {
    left -= utf8Length(cell);
    return left < 0;
  });
  return over < 0 ? cells.length : over;
}

export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    // Each half of a surrogate pair stands for two of its four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2;
  }
  return bytes;
}
