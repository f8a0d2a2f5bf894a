/**
 * What comes in from chats. Whoever isn't on the list gets nothing; every delivery of a platform has one effect, also over restarts;
 * a thread reaches its own session and its own cards. Rules CHN-107..CHN-119.
 */
import { setTimeout as after } from "node:timers/promises";
import type { Actor } from "../../domain/actor.ts";
import { type Thread, threadKey } from "../../domain/conversation.ts";
import type { Logger } from "../../lib/logger.ts";
import { Turns } from "../../lib/turns.ts";
import type { Channel, ChatUser, Incoming, Reaction } from "../channel-port.ts";
import type { Clock } from "../ports.ts";
import { AT_ONCE, commandOf, type Commands, saidBy } from "./commands.ts";
import type { OutboxStore, Seen } from "./outbox-port.ts";
import { offeredCode } from "./pairing.ts";
import type { People } from "./people.ts";
import type { Presses } from "./presses.ts";
import { removeSurely } from "./removal.ts";
import type { Around, Talk } from "./talk.ts";
import { OURS, wordsOf } from "./words.ts";

export type InboxParts = {
  readonly store: Pick<OutboxStore, "seen" | "saw">;
  readonly people: People;
  readonly commands: Commands;
  readonly presses: Presses;
  readonly talk: Talk;
  readonly shows: Around["shows"];
  readonly channel: (name: string) => Channel | undefined;
  /** Puts somebody with a good code on the list; undefined: the code isn't good. */
  readonly pair: (thread: Thread, user: ChatUser, code: string) => Promise<string | undefined>;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** What is told of a delivery, and what is kept to tell of it again. */
type Done = { readonly told: Reaction; readonly kept: Reaction };

/** Answered to a delivery whose effect nobody knows: the hub ended in between. */
const UNKNOWN = "The hub was restarted in between. Look whether this was done: it is not done again.";
const NOT_REMOVED = "Please delete your message yourself: this chat doesn't let me.";
/** Longer than the store takes; taking power away waits for nothing else. */
const LOOK_MS = 100;

export class Inbox {
  readonly #parts: InboxParts;
  readonly #running = new Map<string, Promise<Reaction>>();
  readonly #turns = new Turns();

  constructor(parts: InboxParts) {
    this.#parts = parts;
  }

  /** From a platform, whose word it is who wrote. */
  async receive(channel: string, incoming: Incoming): Promise<Reaction> {
    const { people } = this.#parts;
    const by = people.actor(channel, incoming.user);
    if (by !== undefined) return this.from(channel, incoming, by);
    const code = incoming.kind === "text" ? offeredCode(incoming.text) : undefined;
    const notice = code === undefined ? undefined : await this.#pair(channel, incoming, code);
    if (notice === undefined) people.refuse(channel, incoming.user);
    return notice === undefined ? {} : { notice };
  }

  /** From somebody who is known. */
  async from(channel: string, incoming: Incoming, by: Actor): Promise<Reaction> {
    const delivery = JSON.stringify([channel, incoming.id]);
    const running = this.#running.get(delivery) ?? this.#begin(channel, this.#dated(incoming), by);
    this.#running.set(delivery, running);
    try {
      return await running;
    } finally {
      if (this.#running.get(delivery) === running) this.#running.delete(delivery);
    }
  }

  #begin(channel: string, incoming: Incoming, by: Actor): Promise<Reaction> {
    const command = incoming.kind === "text" ? commandOf(incoming.text) : undefined;
    if (command !== undefined && AT_ONCE.has(command.name)) return this.#atOnce(channel, incoming, by);
    const once = (): Promise<Reaction> => this.#once(channel, incoming, by);
    // What a thread says after `/use` is for that session.
    return incoming.kind === "text"
      ? this.#turns.run(threadKey({ channel, threadId: incoming.threadId }), once)
      : once();
  }

  /** From its arrival on, where nobody tells more: while it waits for its turn a question may give way to another. */
  #dated(incoming: Incoming): Incoming {
    if (incoming.kind !== "text" || incoming.writtenAt !== undefined) return incoming;
    return { ...incoming, writtenAt: this.#parts.clock.now() };
  }

  async #once(channel: string, incoming: Incoming, by: Actor): Promise<Reaction> {
    const { store } = this.#parts;
    const delivery = { channel, id: incoming.id };
    try {
      const before = await store.seen(delivery);
      if (before?.notice === UNKNOWN) return await this.#undone(channel, incoming, UNKNOWN);
      if (before !== undefined) return before;
      await store.saw(delivery, { notice: UNKNOWN });
    } catch (error) {
      return this.#undone(channel, incoming, this.#failed(error, channel).notice);
    }
    const { told, kept } = await this.#act(channel, incoming, by);
    await this.#saw(delivery, kept);
    return told;
  }

  async #atOnce(channel: string, incoming: Incoming, by: Actor): Promise<Reaction> {
    const delivery = { channel, id: incoming.id };
    const looked = this.#parts.store.seen(delivery).catch(() => undefined);
    const before = await Promise.race([looked, soon()]);
    if (before !== undefined) return before;
    const { told, kept } = await this.#act(channel, incoming, by);
    await Promise.race([this.#saw(delivery, kept), soon()]);
    return told;
  }

  async #act(channel: string, incoming: Incoming, by: Actor): Promise<Done> {
    const { presses, commands } = this.#parts;
    const thread = { channel, threadId: incoming.threadId };
    try {
      if (incoming.kind === "press") return done({ notice: await presses.press(thread, incoming.action, by) });
      const command = commandOf(incoming.text);
      if (command !== undefined) return done({ notice: await commands.run(command, thread, by) });
      return await this.#say(thread, incoming, by);
    } catch (error) {
      return done(this.#failed(error, channel));
    }
  }

  async #say(thread: Thread, incoming: Incoming & { readonly kind: "text" }, by: Actor): Promise<Done> {
    const { talk, people, shows } = this.#parts;
    const { writtenAt, ref } = incoming;
    const around = { nameOf: (id: string) => people.nameOf(id), shows };
    const said = await talk.say(thread, { text: saidBy(incoming.text), writtenAt }, by, around);
    return done(said.isSecret ? await this.#withdrawn(thread, ref, said.notice) : noticed(said.notice), said.kept);
  }

  /** Of a message that nobody deals with, now or any more. */
  async #undone(channel: string, incoming: Incoming, notice: string | undefined): Promise<Reaction> {
    const { talk, shows, logger } = this.#parts;
    if (incoming.kind !== "text" || commandOf(incoming.text) !== undefined) return noticed(notice);
    const thread = { channel, threadId: incoming.threadId };
    const maybe = await talk.maybeSecret(thread, incoming.writtenAt, shows).catch((error: unknown) => {
      logger.error("whether a message is a secret can't be known", { channel, error });
      return true;
    });
    return maybe ? this.#withdrawn(thread, incoming.ref, notice) : noticed(notice);
  }

  /** Out of the chat, or its author is told. */
  async #withdrawn({ channel: name, threadId }: Thread, ref: string, notice: string | undefined): Promise<Reaction> {
    const channel = this.#parts.channel(name);
    const isGone =
      ref === "" || (channel !== undefined && (await removeSurely(channel, { threadId, ref }, this.#parts.logger)));
    return noticed(notice, isGone ? undefined : NOT_REMOVED);
  }

  async #pair(channel: string, { id, threadId, user }: Incoming, code: string): Promise<string | undefined> {
    try {
      const notice = await this.#parts.pair({ channel, threadId }, user, code);
      if (notice !== undefined) await this.#saw({ channel, id }, { notice });
      return notice;
    } catch (error) {
      return this.#failed(error, channel).notice;
    }
  }

  #failed(error: unknown, channel: string): Reaction {
    const notice = wordsOf(error, (id) => this.#parts.people.nameOf(id));
    if (notice === undefined) this.#parts.logger.error("a chat message failed by a fault of ours", { channel, error });
    return { notice: notice ?? OURS };
  }

  /** What was done is done, kept or not. */
  async #saw(delivery: Seen, reaction: Reaction): Promise<void> {
    await this.#parts.store.saw(delivery, reaction).catch((error: unknown) => {
      this.#parts.logger.warn("a delivery could not be remembered", { channel: delivery.channel, error });
    });
  }
}

function noticed(...words: readonly (string | undefined)[]): Reaction {
  const told = words.filter((it) => it !== undefined);
  return told.length === 0 ? {} : { notice: told.join(" ") };
}

function done(told: Reaction, kept?: string): Done {
  return { told, kept: kept === undefined ? told : { notice: kept } };
}

function soon(): Promise<undefined> {
  return after(LOOK_MS, undefined, { ref: false });
}
