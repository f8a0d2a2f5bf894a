/**
 * The picture of one terminal. It draws what the hub sends and says what a person types; it answers nothing that a program asks
 * of its terminal, because the one beside the program does. Rules WEB-30..WEB-39 in docs/spec/web.md.
 */
import { type IMarker, Terminal } from "@xterm/xterm";
import { type CountedTerminal, limitCounts } from "../../domain/terminal-counts.ts";
import { type SavingTerminal, keepSavedCursorOnScreen } from "../../domain/terminal-saved-cursor.ts";
import { openLink, openNamed } from "./link.ts";
import { silenceQueries } from "./queries.ts";
import { measureScrollAnew } from "./scroll-pixels.ts";
import { letTerminalsStyle } from "./styles.ts";
import { themeFor } from "./theme.ts";

export type ScreenOptions = {
  readonly place: HTMLElement;
  /** Absent: nothing is typed here. */
  readonly onTyped?: (data: string) => void;
  /** Bytes that are no text: some mouse reports. */
  readonly onTypedBytes?: (bytes: string) => void;
};

const SCROLLBACK_LINES = 20_000;
/** Ends whatever sequence or letter was half said. As a byte, for those have a decoder of their own. */
const CANCEL = Uint8Array.of(0x18);
/** Between two pieces xterm.js lets others have their turn: three bytes can fill a screen, and STOP NOW must not wait for a flood of those. */
const PIECE = 2 * 1024;
const READABLE = "sidestick-screen-reader";
const FONT_MAX_PX = 15;
/** Where the place is low, lines are left out rather than made smaller. */
const FONT_READABLE_PX = 11;
/** Where it is narrow, the lines go on beyond its edge: smaller letters can't be read. */
const FONT_MIN_PX = 9;

export class Screen {
  readonly terminal: Terminal;
  readonly #place: HTMLElement;
  readonly #resized: ResizeObserver;
  readonly #over = new AbortController();
  #hasLinks = false;
  /** How much is out of sight: of the lines, and of each line. */
  #hidden = { highPx: 0, widePx: 0 };
  /** How far to the side the cursor led. */
  #followedPx = 0;

  constructor({ place, onTyped, onTypedBytes }: ScreenOptions) {
    letTerminalsStyle();
    const dark = matchMedia("(prefers-color-scheme: dark)");
    this.#place = place;
    this.terminal = new Terminal({
      allowProposedApi: true,
      scrollback: SCROLLBACK_LINES,
      fontFamily: 'ui-monospace, "DejaVu Sans Mono", monospace',
      fontSize: FONT_MAX_PX,
      theme: themeFor(dark.matches),
      screenReaderMode: localStorage.getItem(READABLE) !== null,
      disableStdin: onTyped === undefined,
      // It would type arrow keys, and so take control, for whoever selects a column.
      altClickMovesCursor: false,
      linkHandler: { activate: (_event, uri) => openNamed(uri), allowNonHttpProtocols: false },
    });
    silenceQueries(this.terminal);
    limitCounts(this.terminal as unknown as CountedTerminal);
    keepSavedCursorOnScreen(this.terminal as unknown as SavingTerminal);
    this.terminal.open(place);
    this.terminal.textarea?.setAttribute("aria-label", "Terminal. Alt+Shift+L leaves it");
    if (onTyped !== undefined) this.terminal.onData(onTyped);
    if (onTypedBytes !== undefined) this.terminal.onBinary(onTypedBytes);
    this.terminal.onCursorMove(() => this.#followCursor());
    const recolour = (): void => void (this.terminal.options.theme = themeFor(dark.matches));
    dark.addEventListener("change", recolour, { signal: this.#over.signal });
    this.#resized = new ResizeObserver(() => this.fit());
    this.#resized.observe(place);
  }

  /** Whether a screen reader finds the text. Not always, for it is told what comes, and in a flood that is much. This browser remembers it. */
  get isReadable(): boolean {
    return this.terminal.options.screenReaderMode === true;
  }

  set isReadable(isReadable: boolean) {
    this.terminal.options.screenReaderMode = isReadable;
    if (isReadable) localStorage.setItem(READABLE, "yes");
    else localStorage.removeItem(READABLE);
  }

  /** While it is drawn anew. */
  set isHidden(isHidden: boolean) {
    this.#place.classList.toggle("is-drawing", isHidden);
  }

  /** How many lines lie below what is shown. */
  get linesBelow(): number {
    const { baseY, viewportY } = this.terminal.buffer.active;
    return baseY - viewportY;
  }

  set linesBelow(lines: number) {
    this.terminal.scrollToLine(Math.max(0, this.terminal.buffer.active.baseY - lines));
  }

  /** With each line that comes, the first one goes. */
  get isFull(): boolean {
    return this.terminal.buffer.normal.length >= this.terminal.rows + SCROLLBACK_LINES;
  }

  get isAtTop(): boolean {
    const { viewportY, type } = this.terminal.buffer.active;
    return viewportY === 0 && type === "normal";
  }

  /** Stays with the line that the cursor is in now. */
  mark(): IMarker | undefined {
    return this.terminal.buffer.active.type === "normal" ? this.terminal.registerMarker(0) : undefined;
  }

  /** Draws everything anew, whatever was half said before. What is written from within a callback is drawn with it: no empty screen between. */
  show(snapshot: string, cols: number, rows: number): Promise<void> {
    return new Promise((resolve) =>
      this.terminal.write(CANCEL, () => {
        if (this.#over.signal.aborted) return resolve();
        this.terminal.reset();
        this.terminal.resize(cols, rows);
        this.fit();
        return resolve(this.write(snapshot));
      }),
    );
  }

  /** Resolves when it is drawn, or no longer wanted: until then the hub sends little more. */
  write(data: string | Uint8Array, isWanted: () => boolean = () => true): Promise<void> {
    return new Promise((resolve) => {
      let from = 0;
      const next = (): void => {
        const piece = data.slice(from, from + PIECE);
        from += PIECE;
        this.terminal.write(piece, () => (from < data.length && isWanted() ? next() : resolve()));
      };
      next();
    });
  }

  resize(cols: number, rows: number): void {
    if (cols === this.terminal.cols && rows === this.terminal.rows) return;
    this.terminal.resize(cols, rows);
    this.fit();
  }

  /** The session's size is the session's: the letters are made to fit the place, never the other way round. */
  fit(): void {
    const { cols, rows, element } = this.terminal;
    const drawn = element?.querySelector(".xterm-screen");
    if (!(drawn instanceof HTMLElement) || drawn.offsetWidth === 0) return;
    const size = this.terminal.options.fontSize ?? FONT_MAX_PX;
    const perCol = drawn.offsetWidth / cols / size;
    const perRow = drawn.offsetHeight / rows / size;
    const { clientWidth, clientHeight } = this.#place;
    const wide = (clientWidth - SCROLLBAR_PX) / cols / perCol;
    const high = Math.max(FONT_READABLE_PX, clientHeight / rows / perRow);
    const next = Math.max(FONT_MIN_PX, Math.min(FONT_MAX_PX, Math.floor(Math.min(wide, high) * 2) / 2));
    if (next !== size) {
      this.terminal.options.fontSize = next;
      measureScrollAnew(this.terminal);
    }
    const widePx = drawn.offsetWidth + SCROLLBAR_PX;
    this.#hidden = {
      highPx: Math.max(0, drawn.offsetHeight - clientHeight),
      widePx: Math.max(0, widePx - clientWidth),
    };
    if (element !== undefined) element.style.minWidth = this.#hidden.widePx > 0 ? `${widePx}px` : "";
    this.#followCursor();
  }

  /** In a place that is too small for all of it, the cursor is in sight. Output calls it often: it measures little. */
  #followCursor(): void {
    const { highPx, widePx } = this.#hidden;
    if (highPx === 0 && widePx === 0) return;
    const { rows, cols, buffer } = this.terminal;
    const { cursorX, cursorY } = buffer.active;
    const { clientHeight, clientWidth, scrollLeft } = this.#place;
    if (highPx > 0) this.#place.scrollTop = (cursorY + 2) * ((clientHeight + highPx) / rows) - clientHeight;
    if (widePx === 0) return;
    const columnPx = (clientWidth + widePx - SCROLLBAR_PX) / cols;
    const [leftPx, rightPx] = [cursorX * columnPx, (cursorX + 2) * columnPx];
    const isInSight = leftPx >= scrollLeft && rightPx <= scrollLeft + clientWidth;
    // Whoever went to another part of the lines stays there while the cursor is in sight.
    if (isInSight && Math.abs(scrollLeft - this.#followedPx) > 1) return;
    this.#followedPx = Math.round(Math.min(widePx, Math.max(0, rightPx - clientWidth)));
    this.#place.scrollLeft = this.#followedPx;
  }

  /** How many columns and rows the place would hold at the usual size of letters. */
  capacity(): { readonly cols: number; readonly rows: number } {
    const { cols, rows, element } = this.terminal;
    const drawn = element?.querySelector(".xterm-screen");
    if (!(drawn instanceof HTMLElement) || drawn.offsetWidth === 0) return { cols, rows };
    const scale = FONT_MAX_PX / (this.terminal.options.fontSize ?? FONT_MAX_PX);
    return {
      cols: Math.max(20, Math.floor((this.#place.clientWidth - SCROLLBAR_PX) / ((drawn.offsetWidth / cols) * scale))),
      rows: Math.max(5, Math.floor(this.#place.clientHeight / ((drawn.offsetHeight / rows) * scale))),
    };
  }

  /** What isn't needed to draw comes when it has drawn. A hub that is away then is asked when it is back. */
  async makeLinks(): Promise<void> {
    if (this.#hasLinks) return;
    const addon = await import("@xterm/addon-web-links").catch(() => undefined);
    if (addon === undefined || this.#hasLinks || this.#over.signal.aborted) return;
    this.#hasLinks = true;
    this.terminal.loadAddon(new addon.WebLinksAddon((_event, uri) => openLink(uri)));
  }

  [Symbol.dispose](): void {
    this.#over.abort();
    this.#resized.disconnect();
    this.terminal.dispose();
  }
}

const SCROLLBAR_PX = 14;
