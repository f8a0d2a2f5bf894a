/** The screen of a moment. Seeking is bounded: a kept screen and the bytes behind it; going on draws on. The newest wish counts. */
import type { Past } from "../terminal/past.ts";
import { redraw } from "../terminal/redraw.ts";
import type { Screen } from "../terminal/screen.ts";
import type { Resize } from "./recording.ts";

/** Further than this, a kept screen is nearer. */
const AHEAD_BYTES = 1024 * 1024;

export type Shown = { readonly cursor: number; readonly approximate: boolean };

export class ReplayScreen {
  readonly screen: Screen;
  readonly #past: Past;
  readonly #onShown: (shown: Shown) => void;
  #resizes: readonly Resize[] = [];
  #shown: Shown | undefined;
  #wanted: number | undefined;
  #isBusy = false;

  constructor(screen: Screen, past: Past, onShown: (shown: Shown) => void) {
    this.screen = screen;
    this.#past = past;
    this.#onShown = onShown;
  }

  /** Rejects when what it needs can't be had; asked again, it draws what is missing. */
  async show(cursor: number, resizes: readonly Resize[]): Promise<void> {
    this.#wanted = cursor;
    this.#resizes = resizes;
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let to = this.#next(); to !== undefined; to = this.#next()) await this.#reach(to);
    } finally {
      this.#isBusy = false;
    }
  }

  [Symbol.dispose](): void {
    this.#wanted = undefined;
    this.screen[Symbol.dispose]();
  }

  #next(): number | undefined {
    const wanted = this.#wanted;
    this.#wanted = undefined;
    return wanted === this.#shown?.cursor ? undefined : wanted;
  }

  async #reach(to: number): Promise<void> {
    try {
      this.#shown = await this.#draw(to);
      this.#onShown(this.#shown);
    } catch (error) {
      // Whoever asked meanwhile, again for the same perhaps, waits for this one to be over.
      if (this.#wanted === undefined) throw error;
    }
  }

  async #draw(to: number): Promise<Shown> {
    const { cursor: from, approximate } = this.#shown ?? { cursor: Infinity, approximate: false };
    if (to < from || to - from > AHEAD_BYTES) {
      const drawn = await redraw(this.screen, this.#past, { to });
      return { cursor: to, approximate: drawn.approximate };
    }
    // What fails halfway leaves the screen of no moment: nothing can be drawn on top of it.
    this.#shown = undefined;
    let at = from;
    for (const { cursor, cols, rows } of this.#resizes) {
      if (cursor <= from || cursor > to) continue;
      await this.#write(at, cursor);
      this.screen.resize(cols, rows);
      at = cursor;
    }
    await this.#write(at, to);
    return { cursor: to, approximate };
  }

  async #write(from: number, to: number): Promise<void> {
    for (const part of await this.#past.bytes(from, to)) await this.screen.write(part);
  }
}
