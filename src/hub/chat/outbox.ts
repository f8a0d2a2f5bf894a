/**
 * What waits to be shown in chats and what is shown there. Every change is stored before it has an effect; each thread is served by
 * itself, in the order of its rows, one at a time, and what a platform doesn't take now is tried again before what follows it.
 * Rules CHN-10..CHN-16 in docs/spec/channels.md.
 */
import type { Card } from "../../domain/channels/card.ts";
import { buttonAction, type ChatAction, readButtonAction } from "../../domain/channels/chat-action.ts";
import { withoutLink } from "../../domain/channels/prompt-card.ts";
import { isDecided } from "../../domain/channels/cards.ts";
import { isThread, type Thread, threadKey } from "../../domain/conversation.ts";
import type { Logger } from "../../lib/logger.ts";
import { Turns } from "../../lib/turns.ts";
import { type Channel, ChannelFailed } from "../channel-port.ts";
import { woken } from "../woken.ts";
import { ABOUT } from "./multi.ts";
import { bounded, isKept, isWaiting, surplus } from "./outbox-bounds.ts";
import { OutboxRows } from "./outbox-rows.ts";
import type { Forwarded, OutboxChange, OutboxRow, OutboxStore } from "./outbox-port.ts";

export type OutboxParts = {
  readonly store: OutboxStore;
  /** Undefined while it isn't there: what waits for it waits. */
  readonly channel: (name: string) => Channel | undefined;
  /** Where a card's link leads in a channel, stored by its name; undefined: nowhere any more. */
  readonly urlOf: (name: string, channel: string) => string | undefined;
  readonly logger: Logger;
  /** From 0 to 1, so that many hubs don't come back in the same instant. */
  readonly random: () => number;
  /** The first pause after a failure; each further one is twice as long, up to a minute. */
  readonly retryMs?: number | undefined;
};

const RETRY_MS = 1_000;
const RETRY_MAX_MS = 60_000;

export class Outbox {
  readonly #parts: OutboxParts;
  readonly #rows = new OutboxRows();
  readonly #changes = new Turns();
  readonly #lanes = new Map<string, Promise<void>>();
  readonly #waiting = new Set<() => void>();
  readonly #ends = new AbortController();
  #consumed: number | undefined;

  constructor(parts: OutboxParts) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const { store } = this.#parts;
    this.#rows.apply({ forwarded: await store.forwarded() }, await store.rows());
    this.#consumed = await store.consumed();
  }

  /** Something may have become possible: a channel is there, or there again. */
  wake(): void {
    for (const wake of this.#waiting) wake();
    this.#serve(this.#rows.all());
  }

  /** What is being told to a platform now is waited for; the rest waits for the next start. */
  async stop(): Promise<void> {
    this.#ends.abort();
    await Promise.all(this.#lanes.values());
    await this.#changes.run(ALL, async () => undefined);
  }

  get consumed(): number | undefined {
    return this.#consumed;
  }

  get forwarded(): readonly Forwarded[] {
    return this.#rows.forwarded();
  }

  forwardedOf(sessionId: string): readonly Forwarded[] {
    return this.#rows.forwardedOf(sessionId);
  }

  about(what: string): readonly OutboxRow[] {
    return this.#rows.about(what);
  }

  /** Whether a question's card stands there, or is about to. */
  shows(thread: Thread, promptId: string): boolean {
    return this.about(ABOUT.prompt(promptId)).some((it) => isThread(it, thread));
  }

  of(isWanted: (sessionId: string) => boolean): readonly OutboxRow[] {
    return this.#rows.all().filter((it) => it.sessionId !== undefined && isWanted(it.sessionId));
  }

  /** What a button means that was pressed in a thread; undefined when it means nothing any more, or nothing there. */
  pressed(thread: Thread, action: string): ChatAction | undefined {
    const { rowId = 0, index = 0 } = readButtonAction(action) ?? {};
    const row = this.#rows.get(rowId);
    return row !== undefined && isThread(row, thread) ? row.actions[index] : undefined;
  }

  /** Where anything of a channel stands, waits or is forwarded to. */
  threads(channel: string): ReadonlySet<string> {
    const all = [...this.#rows.all(), ...this.forwarded].filter((it) => it.channel === channel);
    return new Set(all.map(({ threadId }) => threadId));
  }

  /** How many messages of a channel wait, for a person who asks how it stands. */
  waiting(channel: string): number {
    return this.#rows.all().filter((it) => it.channel === channel && isWaiting(it)).length;
  }

  /** `decide` sees the rows as they are at its turn. */
  change(decide: () => OutboxChange): Promise<readonly OutboxRow[]> {
    return this.#changes.run(ALL, async () => {
      const wanted = decide();
      if (Object.keys(wanted).length === 0) return [];
      const change = bounded((thread) => this.#rows.in(thread), wanted);
      const added = await this.#parts.store.change(change);
      this.#rows.apply(change, added);
      this.#consumed = change.consumed ?? this.#consumed;
      this.#serve([...(change.put ?? []), ...added]);
      return added;
    });
  }

  /** A channel that is taken away, or a thread that nobody may read any more, leaves nothing behind. */
  async forget({ channel, threadId }: Pick<Thread, "channel"> & Partial<Thread>): Promise<void> {
    const isIts = (it: Thread): boolean => it.channel === channel && it.threadId === (threadId ?? it.threadId);
    await this.change(() => ({
      drop: this.#rows
        .all()
        .filter(isIts)
        .map(({ id }) => id),
      forget: this.forwarded.filter(isIts),
    }));
  }

  #serve(rows: readonly OutboxRow[]): void {
    for (const row of rows) if (isWaiting(row)) this.#begin(row);
  }

  #begin({ channel, threadId }: OutboxRow): void {
    const lane = threadKey({ channel, threadId });
    if (this.#lanes.has(lane) || this.#ends.signal.aborted || this.#parts.channel(channel) === undefined) return;
    // Not before it is known to run: a lane that ends takes itself away.
    this.#lanes.set(
      lane,
      Promise.resolve().then(() => this.#run({ channel, threadId }, lane)),
    );
  }

  async #run(thread: Thread, lane: string): Promise<void> {
    let tries = 0;
    while (!this.#ends.signal.aborted) {
      const row = this.#next(thread);
      const channel = this.#parts.channel(thread.channel);
      if (row === undefined || channel === undefined) break;
      const failure = await this.#show(channel, row);
      const pause = failure === undefined ? undefined : await this.#failed(row, failure.error, tries);
      tries = pause === undefined ? 0 : tries + 1;
      if (pause !== undefined) await this.#pause(pause);
    }
    this.#lanes.delete(lane);
  }

  #next(thread: Thread): OutboxRow | undefined {
    for (const row of this.#rows.in(thread)) if (isWaiting(row)) return row;
    return undefined;
  }

  /** What went wrong, if something did. Shown, it is noted as such whatever that takes: else it would be shown again. */
  async #show(channel: Channel, row: OutboxRow): Promise<{ readonly error: unknown } | undefined> {
    const { id, threadId, state, card } = row;
    const isEdit = state === "edit" && row.ref !== undefined;
    let ref = row.ref ?? "";
    try {
      if (isEdit) await channel.edit(threadId, ref, this.#shown(row, channel));
      else ref = await channel.send(threadId, this.#shown(row, channel), id.toString(36));
    } catch (error) {
      return { error };
    }
    await this.#surely(() => this.#settled(id, card, ref));
    return undefined;
  }

  /** Buttons name their row, so that a press after a restart is understood. */
  #shown({ id, threadId, card }: OutboxRow, channel: Channel): Card {
    const buttons = card.buttons.map((row) => row.map((it) => ({ ...it, action: buttonAction(id, it.action) })));
    const { link } = card;
    if (link === undefined) return { ...card, buttons };
    // Whoever opens it answers: in a group that would be anybody, on the list or not.
    const url = channel.isPrivate(threadId) ? this.#parts.urlOf(link.url, channel.name) : undefined;
    return url === undefined ? { ...withoutLink(card), buttons } : { ...card, buttons, link: { ...link, url } };
  }

  /** It may have been decided while it was on its way: then it is shown, but not as it is now. */
  #settled(id: number, card: Card, ref: string): OutboxChange {
    const now = this.#rows.get(id);
    if (now === undefined) return {};
    if (now.card !== card) return { put: [{ ...now, state: "edit", ref }] };
    if (!isKept(now)) return { drop: [id] };
    return { put: [{ ...now, state: "sent", ref }], drop: surplus(this.#rows.all(), now.channel) };
  }

  /** Until it is stored, or the hub goes down. */
  async #surely(decide: () => OutboxChange): Promise<void> {
    for (;;) {
      try {
        await this.change(decide);
        return;
      } catch (error) {
        this.#parts.logger.error("what was shown in a chat could not be stored", { error });
        if (this.#ends.signal.aborted) return;
        await this.#pause(this.#parts.retryMs ?? RETRY_MS);
      }
    }
  }

  /** How long to wait before it is tried again; undefined: it won't be. */
  async #failed({ id, channel, state }: OutboxRow, error: unknown, tries: number): Promise<number | undefined> {
    const { logger, random, retryMs = RETRY_MS } = this.#parts;
    if (error instanceof ChannelFailed && error.again === "never") {
      logger.warn("a message could not be shown in a chat", { channel, row: id, error: error.message });
      await this.#surely(() => this.#given(id, state));
      return undefined;
    }
    const named = error instanceof ChannelFailed ? error.retryAfterMs : undefined;
    const pause = named ?? Math.min(RETRY_MAX_MS, retryMs * 2 ** tries) * (0.5 + random() / 2);
    logger.info("a message to a chat waits", { channel, row: id, pause, error: String(error) });
    return pause;
  }

  /** What can't be changed in place is shown anew if it is still to be decided. */
  #given(id: number, state: OutboxRow["state"]): OutboxChange {
    const now = this.#rows.get(id);
    if (now === undefined) return {};
    const { ref: _ref, ...unshown } = now;
    if (state === "edit") return isDecided(now.card) ? { drop: [id] } : { put: [{ ...unshown, state: "queued" }] };
    return isKept(now) ? { put: [{ ...now, state: "failed" }] } : { drop: [id] };
  }

  async #pause(ms: number): Promise<void> {
    const over = AbortSignal.timeout(Math.ceil(ms));
    await woken(this.#waiting, AbortSignal.any([this.#ends.signal, over]));
  }
}

const ALL = "all";
