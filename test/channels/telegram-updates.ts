/** The queue of updates: those before an offset are forgotten, a second reader ends the first, and a test may trouble the order. */
import { Refused } from "./telegram-chats.ts";

type Update = { readonly update_id: number } & Record<string, unknown>;

type Reader = { readonly end: (error?: Refused) => void };

export class TelegramUpdates {
  /** Each update comes once more after it was acknowledged. */
  duplicates = false;
  /** Each answer has its updates in the wrong order. */
  shuffled = false;
  /** Answers hold kinds of updates too that weren't asked for. */
  unasked = false;
  /** A webhook gets them all, and readers nothing. */
  webhook = false;
  /** The offsets that were asked with. */
  readonly offsets: number[] = [];
  readonly #pending: Update[] = [];
  #held = false;
  readonly #repeated = new Set<number>();
  #nextId = 700_000_001;
  #reader: Reader | undefined;

  /** How many aren't acknowledged. */
  get waiting(): number {
    return this.#pending.length;
  }

  /** Whether somebody is asking now. */
  get isRead(): boolean {
    return this.#reader !== undefined;
  }

  add(body: Record<string, unknown>): void {
    this.#pending.push({ update_id: this.#nextId, ...body });
    this.#nextId += 1;
    if (!this.#held) this.#reader?.end();
  }

  /** What comes from now on waits for `release`, and comes in one answer then. */
  hold(): void {
    this.#held = true;
  }

  release(): void {
    this.#held = false;
    this.#reader?.end();
  }

  interrupt(status: number, description: string): void {
    this.#reader?.end(new Refused(status, description));
  }

  close(): void {
    this.#reader?.end();
  }

  async read(payload: Record<string, unknown>, gone: Promise<void>): Promise<readonly Update[]> {
    const { offset = 0, limit = 100, timeout = 0, allowed_updates: allowed } = payload;
    this.interrupt(
      409,
      "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
    );
    if (this.webhook) {
      throw new Refused(409, "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook first");
    }
    this.offsets.push(Number(offset));
    this.#forget(Number(offset));
    const empty = this.#held || this.#pending.length === 0;
    if (empty && Number(timeout) > 0) await this.#arrival(Number(timeout) * 1000, gone);
    if (this.#held) return [];
    const found = this.#pending
      .filter((it) => this.unasked || !Array.isArray(allowed) || allowed.some((kind: string) => kind in it))
      .slice(0, Number(limit));
    return this.shuffled ? found.toReversed() : found;
  }

  #forget(offset: number): void {
    const acknowledged = this.#pending.filter((it) => it.update_id < offset);
    for (const update of acknowledged) {
      const again = this.duplicates && !this.#repeated.has(update.update_id);
      this.#repeated.add(update.update_id);
      if (!again) this.#pending.splice(this.#pending.indexOf(update), 1);
    }
  }

  #arrival(mostMs: number, gone: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reader.end(), mostMs);
      const reader: Reader = {
        end: (error) => {
          clearTimeout(timer);
          if (this.#reader === reader) this.#reader = undefined;
          if (error === undefined) resolve();
          else reject(error);
        },
      };
      this.#reader = reader;
      void gone.then(() => reader.end());
    });
  }
}
