/**
 * Who may speak to the hub from a chat: people on a channel's list, known by the platform's id. Everybody else gets nothing and
 * learns nothing; that they came is counted, and logged at most once an hour, without a word of theirs. Rules CHN-100..CHN-103.
 */
import type { Actor } from "../../domain/actor.ts";
import type { Logger } from "../../lib/logger.ts";
import type { ChatUser } from "../channel-port.ts";
import type { ChannelConfig, ChannelPerson, Clock } from "../ports.ts";

const LOGGED_EVERY_MS = 3_600_000;
/** Accounts cost nothing: what is remembered of strangers is bounded. */
const STRANGERS_KEPT = 1_000;
const NAME_MAX = 64;

export class People {
  readonly #channels: () => readonly ChannelConfig[];
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #loggedAt = new Map<string, number>();
  readonly #refused = new Map<string, number>();

  constructor(channels: () => readonly ChannelConfig[], clock: Clock, logger: Logger) {
    this.#channels = channels;
    this.#clock = clock;
    this.#logger = logger;
  }

  actor(channel: string, user: ChatUser): Actor | undefined {
    const known = this.#channels()
      .find((it) => it.name === channel)
      ?.people.some((it) => it.id === user.id);
    return known === true ? { kind: "person", id: `${channel}:${user.id}` } : undefined;
  }

  refuse(channel: string, user: ChatUser): void {
    this.#refused.set(channel, this.refused(channel) + 1);
    const who = JSON.stringify([channel, user.id]);
    const now = this.#clock.now();
    if (now - (this.#loggedAt.get(who) ?? -Infinity) < LOGGED_EVERY_MS) return;
    this.#loggedAt.delete(who);
    this.#loggedAt.set(who, now);
    const [oldest = ""] = this.#loggedAt.keys();
    if (this.#loggedAt.size > STRANGERS_KEPT) this.#loggedAt.delete(oldest);
    this.#logger.warn("somebody who isn't allowed wrote to a channel", { channel, user: user.id });
  }

  /** How often, since the start. */
  refused(channel: string): number {
    return this.#refused.get(channel) ?? 0;
  }

  /** As others know them. */
  nameOf(actorId: string): string {
    for (const { name, people } of this.#channels()) {
      const person = people.find((it) => `${name}:${it.id}` === actorId);
      if (person !== undefined) return person.name;
    }
    return actorId;
  }
}

/** A name that the platform's users choose themselves: shown to others, in terminals too. */
export function personOf({ id, name }: ChatUser): ChannelPerson {
  const shown = name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ").trim();
  return { id, name: Array.from(shown).slice(0, NAME_MAX).join("") || id, role: "operator" };
}
