/**
 * Answers that xterm.js leaves to whoever embeds it: colours, versions, window reports. They are what a white on black
 * terminal without a window would say; nothing that a program printed is ever given back as an answer (titles, the
 * clipboard), or output could type. Rules SCR-25..SCR-27 in docs/spec/screen.md.
 */
import type { Terminal } from "@xterm/headless";
import { colourQueries } from "../../../domain/modes.ts";

/** Pixels of a character cell, for reports in pixels. */
const CELL = { width: 10, height: 20 };

export function answerQueries(terminal: Terminal, reply: (text: string) => void): void {
  const { parser } = terminal;
  for (const osc of [4, 10, 11, 12]) {
    parser.registerOscHandler(osc, (payload) => {
      for (const asked of colourQueries(osc, payload)) reply(colourReply(osc, asked));
      return true;
    });
  }
  parser.registerCsiHandler({ prefix: "=", final: "c" }, ([value]) => answer(value, "\u001BP!|00000000\u001B\\"));
  parser.registerCsiHandler({ prefix: ">", final: "q" }, ([value]) =>
    answer(value, "\u001BP>|xterm.js(6.0.0)\u001B\\"),
  );
  parser.registerCsiHandler({ final: "t" }, ([value]) => {
    reply(windowReport(Number(value), terminal));
    return true;
  });
  parser.registerDcsHandler({ intermediates: "+", final: "q" }, () => answer(0, "\u001BP0+r\u001B\\"));

  function answer(value: number | number[] | undefined, text: string): boolean {
    if (value === 0) reply(text);
    return true;
  }
}

function colourReply(osc: number, asked: number): string {
  if (osc === 4) return `\u001B]4;${asked};${rgb(paletteColour(asked))}\u001B\\`;
  return `\u001B]${asked};${rgb(asked === 11 ? [0, 0, 0] : [255, 255, 255])}\u001B\\`;
}

function windowReport(value: number, { cols, rows }: Terminal): string {
  switch (value) {
    case 11:
      return "\u001B[1t";
    case 13:
      return "\u001B[3;0;0t";
    case 14:
      return `\u001B[4;${rows * CELL.height};${cols * CELL.width}t`;
    case 16:
      return `\u001B[6;${CELL.height};${CELL.width}t`;
    case 18:
      return `\u001B[8;${rows};${cols}t`;
    case 19:
      return `\u001B[9;${rows};${cols}t`;
    case 20: // A label that a program chose would be typed into the next one.
      return "\u001B]L\u001B\\";
    case 21:
      return "\u001B]l\u001B\\";
    default:
      return "";
  }
}

type Rgb = readonly [number, number, number];

/** xterm's own first sixteen. */
const FIRST_COLOURS: readonly Rgb[] = [
  [0, 0, 0],
  [205, 0, 0],
  [0, 205, 0],
  [205, 205, 0],
  [0, 0, 238],
  [205, 0, 205],
  [0, 205, 205],
  [229, 229, 229],
  [127, 127, 127],
  [255, 0, 0],
  [0, 255, 0],
  [255, 255, 0],
  [92, 92, 255],
  [255, 0, 255],
  [0, 255, 255],
  [255, 255, 255],
];

function paletteColour(index: number): Rgb {
  const first = FIRST_COLOURS[index];
  if (first !== undefined) return first;
  if (index >= 232) return [8 + (index - 232) * 10, 8 + (index - 232) * 10, 8 + (index - 232) * 10];
  const cube = index - 16;
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}

function rgb(colour: Rgb): string {
  const parts = colour.map((value) => value.toString(16).padStart(2, "0").repeat(2));
  return `rgb:${parts.join("/")}`;
}
