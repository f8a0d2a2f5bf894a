/**
 * A session's terminal as it goes on: the screen, then what follows, and what came before when somebody goes there. Every byte is
 * drawn once; drawing anew and drawing on never mix. Rules WEB-30..WEB-38 in docs/spec/web.md.
 */
import type { IMarker } from "@xterm/xterm";
import type { Attached } from "../../client/attachment.ts";
import { pause } from "../../client/retry.ts";
import { driverOf, myId } from "../model/driver.ts";
import type { Hub } from "../model/hub.ts";
import { Past } from "./past.ts";
import { isPointing } from "./pointing.ts";
import { redraw } from "./redraw.ts";
import { Screen } from "./screen.ts";

/** `all`: there is nothing before. `far`: with what is before it is too much to have in one terminal. */
export type Older = "maybe" | "loading" | "all" | "far";

export type LiveState = { readonly isThere: boolean; readonly older: Older; readonly hasSelection: boolean };

export type LiveOptions = {
  readonly place: HTMLElement;
  readonly mayType: boolean;
  readonly onState: (state: LiveState) => void;
};

type Keys = { readonly data: string } | { readonly data_b64: string };

const STEP_BYTES = 512 * 1024;
const KEPT_BYTES = 12 * 1024 * 1024;
const MARKS_MAX = 1000;
/** The hub speaks of lagging whenever 1 MiB is on its way, also in a burst that is drawn in a moment: that stays whole, with its lines above the screen. */
const BEHIND_MS = 1000;

export class LiveScreen {
  readonly screen: Screen;
  readonly #hub: Hub;
  readonly #sessionId: string;
  readonly #options: LiveOptions;
  readonly #past: Past;
  readonly #unlisten: readonly (() => void)[];
  readonly #over = new AbortController();
  #state: LiveState = { isThere: false, older: "maybe", hasSelection: false };
  /** Where the first byte that was drawn stands, and where the next one belongs. */
  #from = 0;
  #to = 0;
  #resizes: { readonly cursor: number; readonly cols: number; readonly rows: number }[] = [];
  /** Lines in which a cursor stood, for jumps. */
  #marks: { readonly cursor: number; readonly marker: IMarker }[] = [];
  #turn: Promise<unknown> = Promise.resolve();
  /** Asked for the present screen, which hasn't come yet. */
  #isCatchingUp = false;
  #hasTyped = false;
  #isLagging = false;

  constructor(hub: Hub, sessionId: string, options: LiveOptions) {
    this.#hub = hub;
    this.#sessionId = sessionId;
    this.#options = options;
    this.#past = new Past(hub.client, sessionId);
    const { place, mayType } = options;
    this.screen = new Screen({
      place,
      ...(mayType && {
        onTyped: (data: string) => (isPointing(data) ? this.#point({ data }) : this.#type({ data })),
        onTypedBytes: (bytes: string) => this.#point({ data_b64: btoa(bytes) }),
      }),
    });
    this.#unlisten = [
      hub.onEvent(({ type, sessionId: of, payload, cursor = 0 }) => {
        if (type !== "resize" || of !== sessionId) return;
        this.#resizes.push({ cursor, cols: Number(payload["cols"]), rows: Number(payload["rows"]) });
        void this.#inTurn(async () => this.#resized());
      }),
      hub.onLagged((lag) => {
        if (lag.of === "output" && lag.sessionId === sessionId) void this.#lagged();
      }),
    ];
    // In a full screen program the wheel is made into keys.
    this.screen.terminal.attachCustomWheelEventHandler(
      () => this.#drives || this.screen.terminal.buffer.active.type === "normal",
    );
    this.screen.terminal.onSelectionChange(() => this.#set({ hasSelection: this.screen.terminal.hasSelection() }));
    // Before the terminal, which keeps what it scrolls by to itself.
    for (const kind of ["wheel", "keyup", "pointerup"]) place.addEventListener(kind, this.#scrolled, { capture: true });
    this.#attach();
  }

  /** Earlier lines, once more so many; the view stays where it is. */
  older(): Promise<void> {
    if (this.#state.older !== "maybe" || !this.#state.isThere) return Promise.resolve();
    this.#set({ older: "loading" });
    return this.#inTurn(async () => {
      if (this.screen.isFull) return this.#set({ older: "far" });
      const span = Math.max(STEP_BYTES, this.#to - this.#from);
      return this.#drawFrom(Math.max(0, this.#from - span), []);
    });
  }

  /** Shows the line that a byte was printed to. False: it is no longer within reach. */
  async jump(cursor: number): Promise<boolean> {
    if (this.#markAt(cursor) === undefined) {
      if (this.#to - cursor > KEPT_BYTES) return false;
      await this.#inTurn(() => this.#drawFrom(Math.max(0, cursor - 1), [cursor]));
    }
    const marker = this.#markAt(cursor);
    if (marker !== undefined) this.screen.terminal.scrollToLine(Math.max(0, marker.line - 1));
    return marker !== undefined;
  }

  end(): void {
    this.#over.abort();
    for (const unlisten of this.#unlisten) unlisten();
    this.#hub.stream.detach(this.#sessionId);
    this.screen[Symbol.dispose]();
  }

  get #isOver(): boolean {
    return this.#over.signal.aborted;
  }

  #type(keys: Keys): void {
    if (this.#hub.stream.input(this.#sessionId, keys)) this.#hasTyped = true;
    else this.#hub.tell("Not sent: the page is offline. Type again when it is live.");
  }

  get #drives(): boolean {
    const { world } = this.#hub.seen();
    return driverOf(world.controls.get(this.#sessionId), myId(world)).isMe;
  }

  /** Goes with keys that were typed; alone it is nobody's will. */
  #point(report: Keys): void {
    if (this.#drives) this.#type(report);
  }

  /** Whoever has typed is still somebody who types. */
  #attach(): void {
    this.#hub.stream.attach(this.#sessionId, {
      from: "screen",
      input: this.#hasTyped,
      onAttached: (attached) => this.#safely(() => this.#attached(attached)),
      onOutput: (bytes, cursor) => this.#safely(() => this.#output(bytes, cursor)),
    });
  }

  /** To the present: what is passed over is older output from now on. */
  #catchUp(): void {
    if (this.#isCatchingUp) return;
    this.#isCatchingUp = true;
    this.#attach();
  }

  /** Catches up where what there is now isn't drawn after a while. Whoever has scrolled up or selected something reads that, and isn't interrupted. */
  async #lagged(): Promise<void> {
    if (this.#isLagging || this.#isCatchingUp) return;
    this.#isLagging = true;
    const [end] = await Promise.all([this.#past.end().catch(() => 0), pause(BEHIND_MS, this.#over.signal)]);
    this.#isLagging = false;
    if (this.#isOver) return;
    const isReading = this.screen.linesBelow > 0 || this.screen.terminal.hasSelection();
    if (this.#to < end && !isReading && this.#state.older !== "loading") this.#catchUp();
  }

  async #attached({ snapshot, cursor, cols, rows }: Attached): Promise<void> {
    const { terminal } = this.screen;
    if (snapshot !== undefined) {
      await this.screen.show(snapshot, cols, rows);
      this.#begin(cursor, cursor);
    } else if (this.#isCatchingUp || !this.#state.isThere) {
      // It is over, or its host is away: the last screen is in what was stored.
      const drawn = await this.#hub.act(() => redraw(this.screen, this.#past, { to: cursor }));
      this.#begin(drawn?.from ?? cursor, cursor);
    } else if (cursor !== this.#to || cols !== terminal.cols || rows !== terminal.rows) {
      // Bytes between are no longer kept, or those that come were made for sizes of which the log tells later.
      this.#catchUp();
    }
    void this.screen.makeLinks();
    this.#set({ isThere: true });
  }

  /** Another screen is drawn, of the present. */
  #begin(from: number, to: number): void {
    this.#isCatchingUp = false;
    this.#from = from;
    this.#to = to;
    this.#marks = [];
    this.#resizes = this.#resizes.filter((it) => it.cursor >= to);
    this.#resizeUpTo(to);
    this.#set({ older: "maybe" });
  }

  async #output(bytes: Uint8Array, cursor: number): Promise<void> {
    if (cursor !== this.#to) return this.#catchUp();
    const isWanted = (): boolean => !this.#isCatchingUp;
    let done = 0;
    for (const { cursor: at } of this.#resizes.filter(
      (it) => it.cursor > cursor && it.cursor < cursor + bytes.length,
    )) {
      await this.screen.write(bytes.subarray(done, at - cursor), isWanted);
      done = at - cursor;
      this.#resizeUpTo(at);
    }
    await this.screen.write(bytes.subarray(done), isWanted);
    if (!isWanted()) return undefined;
    this.#to = cursor + bytes.length;
    this.#resizeUpTo(this.#to);
    this.#mark(this.#to);
    if (this.#state.older === "all" && this.screen.isFull) this.#set({ older: "far" });
    return undefined;
  }

  /**
   * The log may tell of a size after the bytes that were made for it, and no resizing mends what they drew; above the screen
   * lines are broken anew, which is near enough for whoever reads there.
   */
  #resized(): void {
    const isLate = this.#resizes.some((it) => it.cursor >= this.#from && it.cursor < this.#to);
    this.#resizes = this.#resizes.filter((it) => it.cursor >= this.#from);
    if (isLate && this.screen.linesBelow === 0) this.#catchUp();
    else this.#resizeUpTo(this.#to);
  }

  /** A change of size takes effect between the bytes where it happened. */
  #resizeUpTo(cursor: number): void {
    for (const it of this.#resizes) if (it.cursor <= cursor) this.screen.resize(it.cols, it.rows);
    this.#resizes = this.#resizes.filter((it) => it.cursor > cursor);
  }

  async #drawFrom(from: number, places: readonly number[]): Promise<void> {
    const { linesBelow } = this.screen;
    this.#marks = [];
    const onPlace = (cursor: number): void => this.#mark(cursor);
    try {
      const drawn = await redraw(this.screen, this.#past, { from, to: this.#to, places, onPlace });
      this.#from = drawn.from;
      this.screen.linesBelow = linesBelow;
      this.#set({ older: this.#olderNow() });
    } catch {
      this.#set({ older: "maybe" });
      this.#hub.tell("Older output could not be loaded. Try again when the page is live.");
    }
  }

  /** That all bytes were drawn doesn't say that all their lines are still there. */
  #olderNow(): Older {
    if (this.screen.isFull) return "far";
    if (this.#from <= this.#past.oldest) return "all";
    return this.#to - this.#from > KEPT_BYTES ? "far" : "maybe";
  }

  #mark(cursor: number): void {
    const marker = this.screen.mark();
    if (marker === undefined) return;
    this.#marks.push({ cursor, marker });
    if (this.#marks.length > MARKS_MAX) this.#marks.shift()?.marker.dispose();
  }

  #markAt(cursor: number): IMarker | undefined {
    const found = this.#marks.findLast((it) => it.cursor === cursor)?.marker;
    return found === undefined || found.isDisposed ? undefined : found;
  }

  /** Whoever goes up and is at the top wants to see what is above; the terminal has moved by the next frame. */
  readonly #scrolled = (event: Event): void => {
    if (event instanceof WheelEvent && event.deltaY >= 0) return;
    requestAnimationFrame(() => {
      const isThere = !this.#isOver && this.screen.isAtTop;
      if (isThere && (event instanceof WheelEvent || this.screen.linesBelow > 0)) void this.older();
    });
  };

  #set(change: Partial<LiveState>): void {
    if (this.#isOver) return;
    this.#state = { ...this.#state, ...change };
    this.#options.onState(this.#state);
  }

  /** What can't be drawn is the loss of this terminal alone: the page's link to the hub must not end with it. */
  async #safely(work: () => Promise<void>): Promise<void> {
    await this.#inTurn(work).catch(() => this.#hub.tell("The terminal could not be drawn. Open it again."));
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const done = this.#turn.then(() => (this.#isOver ? undefined : work()));
    this.#turn = done.catch(() => undefined);
    return done;
  }
}
