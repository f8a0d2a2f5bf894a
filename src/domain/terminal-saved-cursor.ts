/**
 * A saved cursor (`ESC 7`) is a place on the screen, in every terminal but xterm.js: that keeps a line of its buffer, which moves
 * with what scrolls, but not when it erases or drops its oldest lines. How many lines a terminal keeps would then decide where
 * `ESC 8` leads, and the page, a keyframe and somebody's own terminal keep different ones. Rule SCR-46.
 */

/** What is needed of xterm.js. */
export type SavingTerminal = {
  readonly buffer: { onBufferChange(listener: () => void): unknown };
  readonly _core: {
    readonly buffers: {
      readonly normal: SavingBuffer;
      readonly alt: SavingBuffer;
      resize(cols: number, rows: number): void;
    };
  };
};

type SavingBuffer = {
  /** The screen's first line. */
  readonly ybase: number;
  /** A line of the buffer. */
  savedY: number;
};

export function keepSavedCursorOnScreen(terminal: SavingTerminal): void {
  const { buffers } = terminal._core;
  const savedRows = new WeakMap<SavingBuffer, number>();
  let isResizing = false;
  const savedRow = (buffer: SavingBuffer): number => savedRows.get(buffer) ?? 0;
  const keep = (buffer: SavingBuffer): void => {
    if (savedRows.has(buffer)) return;
    savedRows.set(buffer, Math.max(0, buffer.savedY - buffer.ybase));
    Object.defineProperty(buffer, "savedY", {
      get: () => buffer.ybase + savedRow(buffer),
      set: (line: number) => {
        if (!isResizing) savedRows.set(buffer, Math.max(0, line - buffer.ybase));
      },
    });
  };
  const keepBoth = (): void => [buffers.normal, buffers.alt].forEach(keep);
  keepBoth();
  // A full reset makes new buffers.
  terminal.buffer.onBufferChange(keepBoth);
  const resize = buffers.resize.bind(buffers);
  buffers.resize = (cols, rows) => {
    isResizing = true;
    resize(cols, rows);
    isResizing = false;
    for (const buffer of [buffers.normal, buffers.alt]) savedRows.set(buffer, Math.min(savedRow(buffer), rows - 1));
  };
}
