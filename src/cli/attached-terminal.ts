/**
 * Somebody's terminal at a session: the screen as it stands, then every byte; keys the other way. It ends by the detach
 * key, with the session, or by a signal, and survives a restart of the hub. Rules TCL-1..TCL-7 in
 * docs/spec/terminal-cli.md.
 */
import type { Attached, SidestickClient, WorkspaceEvent } from "../client/sidestick.ts";
import type { AppError } from "../protocol/errors.ts";
import { type EndingSignal, onEndingSignal } from "./interruption.ts";
import { LiveSession } from "./live-session.ts";
import { Keyboard } from "./keyboard.ts";
import type { LocalTerminal } from "./local-terminal.ts";
import type { DetachKey } from "./typed-keys.ts";

/** `watch` becomes `type` with the first key. */
export type AttachMode = "read" | "watch" | "type";

export type Ending = { readonly lastRefusal?: AppError | undefined } & (
  | { readonly why: "detached" }
  | { readonly why: "over"; readonly reason: string }
  | { readonly why: "signal"; readonly signal: EndingSignal }
);

type EndingReason =
  | Omit<Extract<Ending, { why: "detached" }>, "lastRefusal">
  | Extract<Ending, { why: "over" | "signal" }>;

export type AttachedTerminalParts = {
  readonly client: SidestickClient;
  readonly sessionId: string;
  /** For the window's title. */
  readonly name: string;
  readonly local: LocalTerminal;
  readonly mode: AttachMode;
  readonly detachKey: DetachKey;
};

export class AttachedTerminal {
  readonly #parts: AttachedTerminalParts;
  readonly #live: LiveSession;
  readonly #keyboard: Keyboard;
  readonly #ended = Promise.withResolvers<EndingReason>();
  readonly #early: Buffer[] = [];
  #mayType: boolean;
  #isAttached = false;
  #announcedEnd = 0;
  #lastRefusal: AppError | undefined;

  constructor(parts: AttachedTerminalParts) {
    this.#parts = parts;
    this.#mayType = parts.mode === "type";
    this.#keyboard = new Keyboard(parts.detachKey, {
      onKeys: (keys) => this.#send(keys),
      onDetach: () => this.#ended.resolve({ why: "detached" }),
    });
    this.#live = new LiveSession(parts.client, parts.sessionId, {
      onBytes: (bytes) => parts.local.show(bytes),
      onAttached: (attached) => this.#attached(attached),
      onEvent: (event) => this.#event(event),
      onAway: () => parts.local.title(`${parts.name}: the hub is away`),
      onBack: () => parts.local.title(parts.name),
      onRefusal: (error) => this.#refused(error),
    });
  }

  /** Rejects when the hub refuses us; the terminal is given back in every case. */
  async run(after: number): Promise<Ending> {
    const { local } = this.#parts;
    using opened = new DisposableStack();
    opened.defer(() => local.giveBack());
    local.lend();
    opened.defer(() => this.#live.close());
    opened.use(onEndingSignal((signal) => this.#ended.resolve({ why: "signal", signal })));
    opened.use(this.#keyboard);
    opened.use(
      local.listen({
        onInput: (chunk) => this.#keyboard.push(chunk),
        onEnd: () => this.#ended.resolve({ why: "detached" }),
        onResize: () => this.#resized(),
        onContinue: () => this.#attach("screen"),
      }),
    );
    this.#live.closed.catch((error: unknown) => this.#ended.reject(error));
    this.#live.follow(["status", "stdout"], after);
    this.#attach("screen");
    const ending = await this.#ended.promise;
    return { ...ending, lastRefusal: this.#lastRefusal };
  }

  #attach(from: number | "screen"): void {
    this.#live.attach({ from, typing: this.#mayType ? this.#parts.local.size : undefined });
  }

  async #attached({ snapshot }: Attached): Promise<void> {
    const { local } = this.#parts;
    if (snapshot !== undefined) {
      local.clear();
      await local.show(Buffer.from(snapshot));
    }
    this.#isAttached = true;
    for (const keys of this.#early.splice(0)) this.#send(keys);
  }

  /** Before the session is on the screen keys wait for it; later they go at once or not at all. */
  #send(keys: Buffer): void {
    const { mode, local } = this.#parts;
    if (mode === "read") return;
    if (!this.#isAttached) {
      this.#early.push(keys);
      return;
    }
    if (!this.#mayType) {
      this.#mayType = true;
      this.#attach(this.#live.shown);
    }
    if (!this.#live.type(keys)) local.bell();
  }

  #resized(): void {
    const { cols, rows } = this.#parts.local.size;
    if (this.#mayType) this.#live.resize(cols, rows);
  }

  /** The last `stdout` event before the end tells how much there is to show. */
  #event({ type, payload }: WorkspaceEvent): void {
    const {
      cursor = 0,
      length = 0,
      status,
      reason = "it ended",
    } = payload as {
      readonly cursor?: number;
      readonly length?: number;
      readonly status?: string;
      readonly reason?: string;
    };
    if (type === "stdout") this.#announcedEnd = cursor + length;
    if (type !== "status" || status !== "closed") return;
    void this.#live.reached(this.#announcedEnd).then(() => this.#ended.resolve({ why: "over", reason }));
  }

  #refused(error: AppError): void {
    if (!this.#isAttached) {
      this.#ended.reject(error);
      return;
    }
    this.#lastRefusal = error;
    this.#parts.local.bell();
  }
}
