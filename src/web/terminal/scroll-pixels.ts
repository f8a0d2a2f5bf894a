/**
 * xterm.js scrolls by pixels, and when its letters change size it keeps the pixels of the letters before: where it has
 * scrolled to, and how far down it could go. Whoever scrolls next, a search too, then ends elsewhere. Rule WEB-37.
 */
import type { Terminal } from "@xterm/xterm";

/** What is needed of xterm.js. */
type ScrollingTerminal = {
  readonly _core: {
    readonly _viewport?: {
      /** The line it believes to be at. */
      _latestYDisp: number | undefined;
      /** Takes over the sizes, and goes to the line that is shown unless it believes to be there. */
      _sync(): void;
    };
  };
};

/** To be called whenever the size of letters has changed. */
export function measureScrollAnew(terminal: Terminal): void {
  const { _viewport: viewport } = (terminal as unknown as ScrollingTerminal)._core;
  if (viewport === undefined) return;
  viewport._latestYDisp = undefined;
  viewport._sync();
}
