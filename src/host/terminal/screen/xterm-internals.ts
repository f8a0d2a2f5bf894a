/**
 * The parts of xterm.js that its public interface doesn't show and without which a screen can't be written down
 * exactly (the serialize addon reaches for some of them too). Looked up once per emulator; a version that lacks one
 * fails at the first screen, not by a wrong screen.
 */
import type { IBufferCell, Terminal } from "@xterm/headless";

/** Colours and flags of a cell or of the pen. */
export type Attributes = IBufferCell & {
  readonly fg: number;
  readonly bg: number;
  readonly extended: { readonly underlineStyle: number; readonly urlId: number };
  isProtected(): number;
  hasExtendedAttrs(): number;
};

export type Charset = Readonly<Record<string, string>> | undefined;

export type InnerBuffer = {
  readonly x: number;
  readonly y: number;
  readonly ybase: number;
  readonly scrollTop: number;
  readonly scrollBottom: number;
  readonly tabs: Readonly<Record<number, boolean | undefined>>;
  readonly savedX: number;
  readonly savedY: number;
  readonly savedCurAttrData: Attributes;
  readonly savedCharset: Charset;
};

type Core = {
  readonly buffers: { readonly normal: InnerBuffer; readonly alt: InnerBuffer; readonly active: InnerBuffer };
  readonly coreService: {
    readonly isCursorHidden: boolean;
    readonly decPrivateModes: { readonly cursorStyle?: string; readonly cursorBlink?: boolean };
  };
  readonly coreMouseService: { readonly activeEncoding: string };
  readonly _charsetService: {
    readonly charset: Charset;
    readonly glevel: number;
    readonly _charsets: readonly Charset[];
  };
  readonly _inputHandler: {
    readonly _curAttrData: Attributes;
    readonly _parser: { readonly precedingJoinState: number };
    parse(data: Uint8Array): unknown;
  };
};

export class XtermInternals {
  readonly #core: Core;

  constructor(terminal: Terminal) {
    this.#core = (terminal as unknown as { readonly _core: Core })._core;
    const { buffers, coreService, coreMouseService, _charsetService, _inputHandler } = this.#core;
    const needed: unknown[] = [buffers.normal.tabs, buffers.alt.savedCurAttrData, coreService.decPrivateModes];
    const more = [coreMouseService.activeEncoding, _charsetService._charsets, _inputHandler._curAttrData];
    if ([...needed, ...more, _inputHandler._parser.precedingJoinState].includes(undefined)) {
      throw new Error("this version of @xterm/headless is not the one that Sidestick knows");
    }
  }

  /** At once: the public `write` waits for a timer, and a screen would be read before its bytes. */
  parse(bytes: Uint8Array): void {
    this.#core._inputHandler.parse(bytes);
  }

  get normal(): InnerBuffer {
    return this.#core.buffers.normal;
  }

  get active(): InnerBuffer {
    return this.#core.buffers.active;
  }

  get pen(): Attributes {
    return this.#core._inputHandler._curAttrData;
  }

  /** The last thing was a printed character: a combining one may follow. */
  get justPrinted(): boolean {
    return this.#core._inputHandler._parser.precedingJoinState !== 0;
  }

  get cursorHidden(): boolean {
    return this.#core.coreService.isCursorHidden;
  }

  /** DECSCUSR's number; 0 for the terminal's own. */
  get cursorShape(): number {
    const { cursorStyle, cursorBlink } = this.#core.coreService.decPrivateModes;
    const base = { block: 2, underline: 4, bar: 6 }[cursorStyle ?? ""];
    return base === undefined ? 0 : base - (cursorBlink === true ? 1 : 0);
  }

  get mouseEncoding(): string {
    return this.#core.coreMouseService.activeEncoding;
  }

  get charsets(): { readonly current: Charset; readonly level: number; readonly sets: readonly Charset[] } {
    const { charset, glevel, _charsets } = this.#core._charsetService;
    return { current: charset, level: glevel, sets: _charsets };
  }
}
