/**
 * xterm.js scrolls by pixels. When its letters change size it counts in those of the old letters until the next frame, so a
 * search or a key that scrolls before then ends at another line. Rule WEB-32 in docs/spec/web.md.
 */
import type { Terminal } from "@xterm/xterm";

/** What is needed of xterm.js. */
type ScrollingTerminal = {
  readonly _core: {
    readonly _viewport?: {
      /** The line it believes to be at. */
      _latestYDisp: number | undefined;
      /** Takes over the new sizes. Scrolls to the line that is shown unless that is the one it believes to be at. */
      _sync(): void;
    };
  };
};

/** Has xterm.js count in the new letters at once. To be called whenever their size has changed. */
export function measureScrollAnew(terminal: Terminal): void {
  const { _viewport: viewport } = (terminal as unknown as ScrollingTerminal)._core;
  if (viewport === undefined) return;
  viewport._latestYDisp = undefined;
  viewport._sync();
}
