/**
 * The screen of one session, which costs its recent output and nothing else until somebody looks or a program asks its
 * terminal something. Then an emulator is made from the last keyframe and what came after it, answers, and is written
 * down again when it was of no use for a while. Output is never held up: feeding is keeping a reference. Each
 * query is answered once, because only output that was never fed is ever fed. Rules SCR-30..SCR-42 in docs/spec/screen.md.
 */
import { ModeScanner, type TerminalModes } from "../../../domain/modes.ts";
import type { Size } from "../../../domain/session-frame.ts";
import { byteTools } from "../byte-tools.ts";
import { type Output, PendingOutput } from "./pending-output.ts";
import { LIMITS, type ScreenLimits } from "./screen-limits.ts";
import type { Screen, ScreenContent, ScreenKeyframe, Screens } from "./screens.ts";

export type Keyframe = {
  readonly cursor: number;
  readonly size: Size;
  readonly data: string;
  readonly approximate: boolean;
};

export type LazyScreenOptions = {
  readonly screens: () => Promise<Screens>;
  readonly size: Size;
  readonly onReply: (bytes: Uint8Array) => void;
  readonly onKeyframe: (keyframe: Keyframe) => void;
  /** The modes at the end of what was fed. Without it the screen scans the output itself, at a cost. */
  readonly modes?: (() => TerminalModes) | undefined;
  readonly limits?: Partial<ScreenLimits> | undefined;
};

/** As long as a program is taken to wait for the terminal's answer rather than for somebody. */
const ANSWER_MS = 500;
/** Even of what is slow to draw. */
const LITTLE_BYTES = 16 * 1024;

type Place = { readonly cursor: number; readonly size: Size };

export class LazyScreen {
  readonly #options: LazyScreenOptions;
  readonly #limits: ScreenLimits;
  readonly #scanner: ModeScanner | undefined;
  readonly #pending = new PendingOutput();
  #state: "asleep" | "waking" | "awake" | "closed" = "asleep";
  #screen: Screen | undefined;
  /** What the next emulator starts from; undefined: an empty screen. */
  #keyframe: { readonly data: string; readonly approximate: boolean } | undefined;
  /** Where the emulator stands, or would when made from the keyframe. */
  #at: Place;
  /** The size at the end of the stream. */
  #size: Size;
  #end = 0;
  #usedAt = Number.NEGATIVE_INFINITY;
  #askedAt: number | undefined;
  #fedAt = 0;
  #sinceKeyframe = 0;
  /** When what waits began to grow. */
  #pendingSince = 0;
  #reported = { cursor: 0, at: Number.NEGATIVE_INFINITY };
  /** A step that puts the emulator away is waiting or being taken. */
  #leaving = false;
  /** The emulator is being written down; output waits, so that it may be closed. */
  #dozing = false;
  #restUntil = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LazyScreenOptions) {
    this.#options = options;
    this.#limits = { ...LIMITS, ...options.limits };
    this.#scanner = options.modes === undefined ? new ModeScanner(byteTools) : undefined;
    this.#size = options.size;
    this.#at = { cursor: 0, size: options.size };
  }

  /** Bytes of output that are kept for it now. */
  get retained(): number {
    return this.#pending.weight;
  }

  /** A program that reads now may wait for us, and for nobody else. */
  get owesAnswer(): boolean {
    return this.#askedAt !== undefined && performance.now() - this.#askedAt < ANSWER_MS;
  }

  /** `cursor` is the offset of the first byte; the bytes must not change afterwards. */
  feed(bytes: Uint8Array, cursor: number, queries: number): void {
    if (this.#state === "closed") return;
    this.#scanner?.push(bytes);
    this.#end = cursor + bytes.length;
    this.#fedAt = performance.now();
    if (this.#pending.weight < this.#limits.quietBytes) this.#pendingSince = this.#fedAt;
    this.#pending.output(bytes, this.#end, { answer: queries > 0 });
    if (queries > 0) {
      this.#askedAt = this.#fedAt;
      this.#use();
    }
    this.#boundPending();
    this.#pump();
    this.#schedule();
  }

  resize(size: Size): void {
    if (this.#state === "closed") return;
    this.#size = size;
    this.#pending.resize(size);
    this.#boundPending();
    this.#pump();
  }

  async read(): Promise<ScreenContent & Place> {
    return this.#ask(async (screen, place) => ({ ...(await screen.read()), ...place }));
  }

  async snapshot(): Promise<Place & { readonly ansi: string; readonly approximate: boolean }> {
    return this.#ask(async (screen, { cursor, size }) => {
      const { data, incomplete, approximate } = await screen.keyframe(this.#limits.snapshot);
      return { ansi: data, size, cursor: cursor - incomplete.length, approximate };
    });
  }

  close(): void {
    this.#state = "closed";
    clearTimeout(this.#timer);
    this.#screen?.close();
    this.#screen = undefined;
    this.#pending.abandon(new Error("the session is over"));
  }

  async #ask<Answer>(question: (screen: Screen, place: Place) => Promise<Answer>): Promise<Answer> {
    if (this.#state === "closed") throw new Error("the session is over");
    return new Promise<Answer>((resolve, reject) => {
      const run = (screen: Screen): void => void question(screen, this.#at).then(resolve, reject);
      this.#pending.step({ optional: false, run, drop: reject });
      this.#use();
      this.#pump();
    });
  }

  #use(): void {
    this.#usedAt = performance.now();
    this.#dozing = false;
    this.#wake();
    this.#schedule();
  }

  #wake(): void {
    if (this.#state !== "asleep") return;
    this.#state = "waking";
    this.#options
      .screens()
      .then((screens) => this.#start(screens))
      .catch((error: unknown) => this.#lost(error instanceof Error ? error : new Error(String(error))));
  }

  #start(screens: Screens): void {
    if (this.#state !== "waking") return;
    this.#screen = screens.create({
      ...this.#at.size,
      keyframe: this.#keyframe?.data,
      approximate: this.#keyframe?.approximate,
      onReply: (bytes) => {
        this.#askedAt = undefined;
        this.#options.onReply(bytes);
      },
      onProgress: () => {
        this.#boundPending();
        this.#pump();
      },
      onLost: () => this.#lost(new Error("the emulator was lost")),
    });
    this.#keyframe = undefined;
    this.#state = "awake";
    this.#pump();
  }

  /** Gives the emulator as much as it should have at once; little, until it is known how fast it draws. */
  #pump(): void {
    const window = Math.min(this.#limits.window, this.#drawnIn(this.#limits.windowMs) ?? LITTLE_BYTES);
    const message = Math.min(this.#limits.message, window);
    while (this.#screen !== undefined && !this.#dozing && this.#screen.backlog < window) {
      const next = this.#pending.shift(message);
      if (next === undefined) return;
      switch (next.kind) {
        case "output":
          this.#give(this.#screen, next);
          break;
        case "resize":
          this.#screen.resize(next.size.cols, next.size.rows);
          this.#at = { ...this.#at, size: next.size };
          break;
        case "restart":
          this.#screen.resize(next.size.cols, next.size.rows);
          this.#screen.restart(next.modes);
          this.#at = { ...this.#at, size: next.size };
          break;
        case "step":
          next.step.run(this.#screen);
      }
    }
  }

  #give(screen: Screen, { bytes, end, answer }: Output): void {
    screen.feed(bytes, { answer });
    this.#at = { ...this.#at, cursor: end };
    this.#sinceKeyframe += bytes.length;
    if (this.#sinceKeyframe < this.#limits.keyframeEvery || this.#leaving) return;
    if (performance.now() - this.#reported.at < this.#limits.keyframePauseMs) return;
    const place = this.#at;
    this.#sinceKeyframe = 0;
    screen.keyframe(this.#limits.keyframe).then(
      (keyframe) => this.#report(keyframe, place),
      () => undefined, // the emulator is gone: so is its keyframe
    );
  }

  /** Writes the emulator down when it has caught up, and closes it unless it is of use by then. */
  #leave(): void {
    if (this.#leaving) return;
    this.#leaving = true;
    const run = (screen: Screen): void => {
      const place = this.#at;
      // Whoever looks next would wait for somebody else to wake it.
      this.#dozing = !this.#pending.isAwaited;
      screen.keyframe(this.#limits.keyframe).then(
        (keyframe) => this.#left(keyframe, place),
        (error: Error) => (this.#screen === screen ? this.#lost(error) : undefined),
      );
    };
    this.#pending.step({ optional: true, run, drop: () => undefined });
    this.#wake();
    this.#pump();
  }

  #left(keyframe: ScreenKeyframe, place: Place): void {
    this.#leaving = false;
    if (this.#state !== "awake") return;
    this.#report(keyframe, place);
    if (this.#dozing) {
      this.#sleep();
      this.#keyframe = keyframe;
      this.#at = { ...place, cursor: place.cursor - keyframe.incomplete.length };
      this.#pending.unshift(keyframe.incomplete, place.cursor);
    }
    this.#boundPending();
    this.#schedule();
  }

  #sleep(): void {
    this.#screen?.close();
    this.#screen = undefined;
    this.#state = "asleep";
    this.#dozing = false;
    this.#leaving = false;
    this.#sinceKeyframe = 0;
  }

  #report({ data, incomplete, approximate }: ScreenKeyframe, { cursor, size }: Place): void {
    const from = cursor - incomplete.length;
    if (this.#state === "closed" || from <= this.#reported.cursor) return;
    if (Buffer.byteLength(data) > this.#limits.keyframe.maxBytes) return;
    this.#reported = { cursor: from, at: performance.now() };
    this.#options.onKeyframe({ cursor: from, size, data, approximate });
  }

  #boundPending(): void {
    const { weight } = this.#pending;
    const awake = this.#state !== "asleep";
    const most = Math.min(this.#limits.waiting, this.#drawnIn(this.#limits.lateMs) ?? Number.POSITIVE_INFINITY);
    if (weight > (awake ? most : this.#limits.retained)) this.#skip();
    else if (!awake && weight >= this.#limits.keyframeEvery && this.#isCalm()) this.#leave();
  }

  #drawnIn(ms: number): number | undefined {
    const bytesPerMs = this.#screen?.bytesPerMs;
    return bytesPerMs === undefined ? undefined : Math.max(LITTLE_BYTES, bytesPerMs * ms);
  }

  /** No flood: an emulator that runs beside one takes the processor from it and doesn't catch up. */
  #isCalm(): boolean {
    const now = performance.now();
    return now >= this.#restUntil && now - this.#pendingSince >= this.#limits.calmMs;
  }

  /** The emulator can't follow: the newest output is worth more than the oldest. */
  #skip(): void {
    const modes = this.#options.modes?.() ?? this.#scanner!.modes;
    const { keptInFlood, keptMs } = this.#limits;
    this.#pending.skip(Math.min(keptInFlood, this.#drawnIn(keptMs) ?? keptInFlood), this.#size, modes);
    this.#pendingSince = performance.now();
    if (this.#state === "asleep") this.#keyframe = undefined;
    const used = performance.now() - this.#usedAt < this.#limits.idleMs;
    if (this.#state !== "awake" || used || this.#pending.isAwaited) return;
    // Nobody looks: an emulator that runs after a flood only takes the processor from it.
    this.#pending.dropOptional();
    this.#sleep();
    this.#keyframe = undefined;
    this.#restUntil = performance.now() + this.#limits.floodRestMs;
  }

  /** What was on the screen is gone with the emulator; what was asked of it is not asked again. */
  #lost(error: Error): void {
    if (this.#state === "closed") return;
    const had = this.#state === "awake";
    this.#sleep();
    this.#pending.abandon(error);
    if (had) this.#skip();
  }

  #schedule(): void {
    if (this.#timer !== undefined || this.#state === "closed" || this.#leaving) return;
    const dueAt = this.#dueAt();
    if (dueAt === undefined) return;
    const waitMs = Math.max(1, Math.ceil(dueAt - performance.now()));
    this.#timer = setTimeout(() => this.#tick(), waitMs).unref();
  }

  #tick(): void {
    this.#timer = undefined;
    const dueAt = this.#dueAt();
    if (dueAt !== undefined && performance.now() >= dueAt) this.#leave();
    this.#schedule();
  }

  /** When the emulator has been of no use for long, or when much output has been followed by silence. */
  #dueAt(): number | undefined {
    if (this.#state !== "asleep") return this.#usedAt + this.#limits.idleMs;
    if (this.#pending.weight <= this.#limits.quietBytes) return undefined;
    return Math.max(this.#fedAt + this.#limits.quietMs, this.#restUntil);
  }
}
