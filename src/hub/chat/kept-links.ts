/**
 * Links that let a secret in, by a name that can be stored: they are credentials, so a card that waits holds the name alone, and the
 * link stands in its place only on the way to a platform. Each channel has its own, so that it can be ended with who reads there. A
 * restart ends them, and with it their questions' offers (PMT-140).
 */
import type { AskedPrompt } from "../../domain/prompts/asked-prompt.ts";

/** Undefined where nobody can answer by one. */
export type MakeLink = (asked: AskedPrompt, ended: AbortSignal) => string | undefined;

type Kept = { readonly asked: AskedPrompt; readonly urls: Map<string, string> };

const KEPT = 1_000;
const NAMED = "secret:";

export class KeptLinks {
  readonly #make: MakeLink;
  readonly #kept = new Map<string, Kept>();
  readonly #ends = new Map<string, AbortController>();

  constructor(make: MakeLink) {
    this.#make = make;
  }

  /** Answers the name of this offer's links. */
  keep(asked: AskedPrompt): string {
    const name = NAMED + asked.nonce;
    const { urls = new Map<string, string>() } = this.#kept.get(name) ?? {};
    this.#kept.delete(name);
    this.#kept.set(name, { asked, urls });
    const [oldest = ""] = this.#kept.keys();
    if (this.#kept.size > KEPT) this.#kept.delete(oldest);
    return name;
  }

  /** The channel's own; undefined for an offer of before a restart, and for one that is over. */
  urlOf(name: string, channel: string): string | undefined {
    const kept = this.#kept.get(name);
    if (kept === undefined) return undefined;
    const url = kept.urls.get(channel) ?? this.#make(kept.asked, this.#endOf(channel));
    if (url !== undefined) kept.urls.set(channel, url);
    return url;
  }

  /** Whoever read there may be somebody else now. */
  end(channel: string): void {
    this.#ends.get(channel)?.abort();
    this.#ends.delete(channel);
    for (const { urls } of this.#kept.values()) urls.delete(channel);
  }

  #endOf(channel: string): AbortSignal {
    const end = this.#ends.get(channel) ?? new AbortController();
    this.#ends.set(channel, end);
    return end.signal;
  }
}
