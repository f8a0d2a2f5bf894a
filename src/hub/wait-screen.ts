/** The screen that a wait looks at: drawn from the last keyframe before it, judged at quiet points. Rule WAI-17. */
import type { StoredEvent } from "../domain/event.ts";
import type { RenderedScreen, ScreenRenderer, WaitRequest } from "./wait-desk.ts";

const SIZE = { cols: 80, rows: 24 };

export class ScreenWatch implements Disposable {
  /** Where the tape must begin so that the screen is right. */
  readonly from: { readonly cursor: number; readonly position: number };
  readonly #wanted: readonly { readonly which: number; readonly match: string }[];
  readonly #screen: RenderedScreen;

  constructor(request: WaitRequest, screens: ScreenRenderer, keyframe: StoredEvent | undefined) {
    // Its event may come later than where it stands; changes of size in between are still to be seen.
    this.from = { cursor: keyframe === undefined ? 0 : keyframeCursor(keyframe), position: 0 };
    this.#wanted = request.conditions.flatMap((it, which) =>
      it.type === "screen" ? [{ which, match: it.match }] : [],
    );
    const data = keyframe?.payload["data"];
    const size = sizeOf(keyframe) ?? SIZE;
    this.#screen = screens.open(typeof data === "string" ? { ...size, keyframe: data } : size);
  }

  feed(bytes: Uint8Array): void {
    this.#screen.feed(bytes);
  }

  resize(event: StoredEvent): void {
    const size = (event.cursor ?? 0) < this.from.cursor ? undefined : sizeOf(event);
    if (size !== undefined) this.#screen.resize(size.cols, size.rows);
  }

  async quiet(): Promise<{ readonly which: number; readonly text: string } | undefined> {
    const text = await this.#screen.text();
    const found = this.#wanted.find((it) => text.includes(it.match));
    return found && { which: found.which, text: found.match };
  }

  [Symbol.dispose](): void {
    this.#screen.close();
  }
}

export function keyframeCursor({ payload, cursor = 0 }: StoredEvent): number {
  return typeof payload["cursor"] === "number" ? payload["cursor"] : cursor;
}

function sizeOf(event: StoredEvent | undefined): typeof SIZE | undefined {
  const { cols, rows } = event?.payload ?? {};
  return typeof cols === "number" && typeof rows === "number" ? { cols, rows } : undefined;
}
