/** What a terminal of the capture's size shows after the bytes: the classifier's view of it. */
import headless from "@xterm/headless";
import type { Terminal } from "@xterm/headless";
import type { PromptView } from "../../src/domain/prompts/prompt.ts";

const SIZE = { cols: 100, rows: 30 };

export async function rendered(output: string, size = SIZE): Promise<PromptView> {
  const terminal = new headless.Terminal({ ...size, scrollback: 200, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(output, resolve));
  const { active } = terminal.buffer;
  const column = (active.getLine(active.baseY + active.cursorY)?.translateToString(false, 0, active.cursorX) ?? "")
    .length;
  const row = active.baseY + active.cursorY;
  const rows = Array.from({ length: active.baseY + size.rows }, (_, y) => rowOf(terminal, y));
  const last = Math.max(
    row,
    rows.findLastIndex((text) => text !== ""),
  );
  const first = Math.max(0, last - 39);
  const view = {
    lines: rows.slice(first, last + 1).map((text, index) => padded(text, index + first === row ? column : 0)),
    cursor: { row: row - first, column },
    columns: size.cols,
  };
  terminal.dispose();
  return view;
}

/** Spaces before the cursor are the prompt's. */
function padded(text: string, column: number): string {
  return text.padEnd(column);
}

function rowOf(terminal: Terminal, y: number): string {
  return terminal.buffer.active.getLine(y)?.translateToString(true) ?? "";
}
