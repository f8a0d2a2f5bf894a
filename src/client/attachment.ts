/**
 * One session's output as a viewer gets it: every byte once, in order, across reconnects.
 *
 * Items wait in line until the viewer has dealt with the one before; only then the hub is told (`ack`), which is how
 * a slow viewer is paused for itself alone. Rules SDK-16..SDK-18 in docs/spec/client.md.
 */
import type { ClientFrameInput, OutputFrame, ServerFrame } from "../protocol/stream.ts";

export type Attached = Extract<ServerFrame, { type: "attached" }>;

export type Viewer = {
  /** A cursor, or `"screen"` for the present screen and what follows. */
  readonly from: number | "screen";
  /** Whether this viewer types; watching alone disturbs nobody. */
  readonly input?: boolean;
  readonly cols?: number;
  readonly rows?: number;
  /** A promise holds back what follows until it is settled. */
  onOutput(bytes: Uint8Array, cursor: number): void | Promise<void>;
  /** Also after each reconnect. With a `snapshot` the screen is to be drawn anew. */
  onAttached?(attached: Attached): void | Promise<void>;
  /** The output between these cursors will not come. */
  onGap?(from: number, to: number): void | Promise<void>;
};

export type AttachmentLink = {
  readonly send: (frame: ClientFrameInput) => void;
  readonly fail: (error: unknown) => void;
};

export class Attachment {
  readonly #sessionId: string;
  readonly #viewer: Viewer;
  readonly #link: AttachmentLink;
  #size: { readonly cols?: number; readonly rows?: number };
  /** Where the next byte belongs; unknown until the hub said where the screen stands. */
  #next: number | undefined;
  /** Until the hub says `attached`, output on the wire belongs to an attachment before this one. */
  #isLive = false;
  #line: Promise<void> = Promise.resolve();
  #detached = false;

  constructor(sessionId: string, viewer: Viewer, link: AttachmentLink) {
    const { cols, rows, from } = viewer;
    this.#sessionId = sessionId;
    this.#viewer = viewer;
    this.#link = link;
    this.#size = { ...(cols !== undefined && { cols }), ...(rows !== undefined && { rows }) };
    this.#next = from === "screen" ? undefined : from;
  }

  /** The frame that attaches, first and after each reconnect. */
  request(): ClientFrameInput {
    const { input = false } = this.#viewer;
    this.#isLive = false;
    return { type: "attach", sessionId: this.#sessionId, from: this.#next ?? "screen", input, ...this.#size };
  }

  /** Whoever came without a size has given one once, by a wish of that moment: after a reconnect somebody else may drive. */
  resize(cols: number, rows: number): void {
    if (this.#viewer.cols !== undefined) this.#size = { cols, rows };
  }

  attached(frame: Attached): void {
    this.#isLive = true;
    if (this.#next === undefined || frame.snapshot !== undefined) this.#next = frame.cursor;
    this.#enqueue(() => this.#viewer.onAttached?.(frame));
  }

  output({ cursor, bytes }: OutputFrame): void {
    if (!this.#isLive) return;
    const next = this.#next ?? cursor;
    if (cursor > next) this.#enqueue(() => this.#viewer.onGap?.(next, cursor));
    const fresh = bytes.subarray(Math.max(0, next - cursor));
    if (fresh.length === 0) return;
    const end = cursor + bytes.length;
    this.#next = end;
    this.#enqueue(async () => {
      await this.#viewer.onOutput(fresh, end - fresh.length);
      this.#link.send({ type: "ack", sessionId: this.#sessionId, cursor: end });
    });
  }

  /**
   * What should follow is no longer kept, and the hub has ended this attachment. False if that is not so for the place
   * where we stand: asking again would only be refused again.
   */
  expired(oldest: number): boolean {
    const next = this.#next;
    if (next === undefined || oldest <= next) return false;
    this.#next = oldest;
    this.#enqueue(() => this.#viewer.onGap?.(next, oldest));
    this.#link.send(this.request());
    return true;
  }

  /** Nothing reaches the viewer any more, not even what already waits. */
  detach(): void {
    this.#detached = true;
  }

  #enqueue(item: () => void | Promise<void> | undefined): void {
    this.#line = this.#line.then(() => (this.#detached ? undefined : item())).catch(this.#link.fail);
  }
}
