/**
 * The chat platforms that people are reached by: added with their tokens, which leave this desk only for the platform itself, and
 * with the people who may speak there. Settings are a file of the hub's own; one that is broken is left alone, and the hub runs
 * without channels. Rules CHN-128..CHN-138 in docs/spec/channels.md.
 */
import type { Actor } from "../../domain/actor.ts";
import type { Thread } from "../../domain/conversation.ts";
import { HUB_STREAM, type JsonObject } from "../../domain/event.ts";
import type { Logger } from "../../lib/logger.ts";
import { Turns } from "../../lib/turns.ts";
import { AppError } from "../../protocol/errors.ts";
import {
  type Channel,
  ChannelFailed,
  type ChannelHealth,
  type ChatUser,
  type Incoming,
  type Reaction,
} from "../channel-port.ts";
import type { Journal } from "../journal.ts";
import type { ChannelConfig, ChannelKind, ChannelSettings, Clock } from "../ports.ts";
import { type CommandParts, Commands } from "./commands.ts";
import { Inbox } from "./inbox.ts";
import type { KeptLinks } from "./kept-links.ts";
import { LiveChannel } from "./live-channel.ts";
import type { LogChannel } from "./log-channel.ts";
import type { Outbox } from "./outbox.ts";
import type { OutboxStore } from "./outbox-port.ts";
import { Pairing } from "./pairing.ts";
import { People, personOf } from "./people.ts";
import { type PressParts, Presses } from "./presses.ts";
import type { Around, Talk } from "./talk.ts";

/** Makes adapters; knows what each platform is like. */
export type ChannelMaker = {
  /** Throws `kind_unavailable` where there is none for this kind. */
  make(config: ChannelConfig): Channel;
  /** Where a person follows an invitation with one press. */
  pairingLink?(kind: ChannelKind, bot: string, code: string): string | undefined;
};

export type ChannelDeskParts = CommandParts &
  PressParts & {
    readonly maker: ChannelMaker;
    /** Channels without a platform: the web page, the command line. */
    readonly own: readonly LogChannel[];
    readonly settings: ChannelSettings;
    readonly outboxStore: Pick<OutboxStore, "seen" | "saw">;
    readonly outbox: Pick<Outbox, "waiting" | "forget" | "threads">;
    /** Links by which a channel's people could give a secret. */
    readonly links: Pick<KeptLinks, "end">;
    readonly talk: Talk;
    readonly shows: Around["shows"];
    readonly journal: Journal;
    readonly clock: Clock;
    readonly logger: Logger;
  };

export type NewChannel = Pick<ChannelConfig, "kind" | "token" | "appToken" | "apiRoot">;

export type Invitation = {
  readonly name: string;
  readonly bot: string;
  readonly code: string;
  readonly link?: string | undefined;
  readonly expiresAt: string;
};

export type ListedChannel = Pick<ChannelConfig, "name" | "kind" | "people" | "home"> & {
  readonly bot: string | undefined;
  readonly health: ChannelHealth;
  readonly waiting: number;
  /** Messages of people who aren't on the list, since the start. */
  readonly refused: number;
  readonly lastError: string | undefined;
};

const ALL = "";
const TEST_TEXT = "This is a test of Sidestick. It works: questions of your programs will come here.";

export class ChannelDesk {
  readonly inbox: Inbox;
  readonly people: People;
  readonly #parts: ChannelDeskParts;
  readonly #pairing: Pairing;
  readonly #live = new Map<string, LiveChannel>();
  /** Changes of the settings, one after the other. */
  readonly #changes = new Turns();
  readonly #listeners: (() => void)[] = [];
  #channels: readonly ChannelConfig[] = [];
  #problem: string | undefined;

  constructor(parts: ChannelDeskParts) {
    const { clock, logger, talk, shows, outboxStore: store } = parts;
    this.#parts = parts;
    this.#pairing = new Pairing(clock);
    this.people = new People(() => this.#channels, clock, logger);
    this.inbox = new Inbox({
      store,
      people: this.people,
      commands: new Commands(parts),
      presses: new Presses(parts),
      talk,
      shows,
      channel: (name) => this.channel(name),
      pair: (thread, user, code) => this.#pair(thread, user, code),
      clock,
      logger,
    });
  }

  /** What is wrong with the settings; then there are no channels. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Which channels there are; before anything is told, for what is told to a channel that nobody knows is lost. */
  async load(): Promise<void> {
    const stored = await this.#parts.settings.read();
    if (!stored.ok) {
      this.#problem = stored.problem;
      this.#parts.logger.error("the settings of the channels can't be read", { problem: stored.problem });
      return;
    }
    this.#channels = stored.channels;
  }

  async start(): Promise<void> {
    for (const it of this.#parts.own)
      await it.start((incoming) => this.inbox.from(it.name, incoming, byUser(incoming)));
    for (const config of this.#channels) this.#begin(config)?.startSurely();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#live.values(), ...this.#parts.own].map((it) => it.close()));
  }

  /** What an operator wrote or pressed in a thread of ours. */
  take(name: LogChannel["name"], incoming: Incoming): Promise<Reaction> {
    return this.#parts.own.find((it) => it.name === name)!.take(incoming);
  }

  /** Undefined until its platform has answered. */
  channel(name: string): Channel | undefined {
    const live = this.#live.get(name);
    return (live?.bot === undefined ? undefined : live.channel) ?? this.#parts.own.find((it) => it.name === name);
  }

  /** Up or not. */
  knows(name: string): boolean {
    return this.#find(name) !== undefined || this.#parts.own.some((it) => it.name === name);
  }

  /** Where people are told what no thread is bound for. */
  homes(): readonly Thread[] {
    return this.#channels.flatMap(({ name, home }) => (home === undefined ? [] : [{ channel: name, threadId: home }]));
  }

  /** Called when a channel came, answered, went, or got its home. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }

  add(given: NewChannel, by: Actor): Promise<Invitation> {
    return this.#changes.run(ALL, async () => {
      this.#refuseBroken();
      const config: ChannelConfig = { ...given, name: given.kind, people: [] };
      if (this.#find(config.name) !== undefined) {
        const detail = `There is a channel ${config.name} already. Remove it first.`;
        throw new AppError("invalid_transition", { what: "channel", id: config.name, detail });
      }
      const live = this.#made(config);
      const bot = await live.start().catch((error: unknown) => {
        throw new AppError("channel_failed", { detail: (error as Error).message });
      });
      try {
        await this.#store([...this.#channels, config], { change: "added", channel: config.name, bot }, by);
      } catch (error) {
        await live.close();
        throw error;
      }
      this.#live.set(config.name, live);
      this.#changed();
      return this.#invitation(config, bot);
    });
  }

  async list(): Promise<readonly ListedChannel[]> {
    await this.#settled();
    return this.#channels.map(({ name, kind, people, home }) => {
      const live = this.#live.get(name);
      return {
        name,
        kind,
        people,
        home,
        bot: live?.bot,
        health: live?.health ?? { state: "failed", detail: "This version has no adapter for it" },
        waiting: this.#parts.outbox.waiting(name),
        refused: this.people.refused(name),
        lastError: live?.lastError,
      };
    });
  }

  invite(name: string): Invitation {
    return this.#invitation(this.#get(name), this.#live.get(name)?.bot ?? "");
  }

  /** Rejects when it isn't shown. */
  async test(name: string): Promise<void> {
    await this.#settled();
    const { home } = this.#get(name);
    const channel = this.channel(name);
    if (channel === undefined) {
      const detail = this.#live.get(name)?.health.detail ?? "Its platform hasn't answered yet";
      throw new AppError("channel_failed", { detail });
    }
    if (home === undefined) {
      const detail = "Nobody is on its list yet. Invite somebody first.";
      throw new AppError("invalid_transition", { what: "channel", id: name, detail });
    }
    try {
      await channel.send(home, { kind: "notice", text: TEST_TEXT, buttons: [] });
    } catch (error) {
      if (!(error instanceof ChannelFailed)) throw error;
      throw new AppError("channel_failed", { detail: error.message });
    }
  }

  remove(name: string, by: Actor): Promise<void> {
    return this.#changes.run(ALL, async () => {
      this.#get(name);
      const { threads, outbox } = this.#parts;
      await this.#store(
        this.#channels.filter((it) => it.name !== name),
        { change: "removed", channel: name },
        by,
      );
      this.#pairing.end(name);
      await this.#live.get(name)?.close();
      this.#live.delete(name);
      this.#parts.links.end(name);
      for (const it of threads.bindings().filter(({ channel }) => channel === name)) await threads.leave(it, by);
      await outbox.forget({ channel: name });
      this.#changed();
    });
  }

  removePerson(name: string, personId: string, by: Actor): Promise<void> {
    return this.#changes.run(ALL, async () => {
      const config = this.#get(name);
      if (!config.people.some((it) => it.id === personId)) {
        throw new AppError("not_found", { what: "person", id: personId });
      }
      const { home, homeOf = personId, ...rest } = config;
      const isTheirs = home !== undefined && homeOf === personId && this.#isPrivate(name, home);
      const stays = home === undefined || isTheirs ? {} : { home, homeOf };
      const people = config.people.filter((it) => it.id !== personId);
      const next = { ...rest, ...stays, people };
      await this.#put(next, { change: "person_removed", channel: name, personId }, by);
      try {
        await this.#silence(name, personId, by);
      } finally {
        // Last: a card that is on its way to them meanwhile is given a link too.
        this.#parts.links.end(name);
      }
    });
  }

  /** What they said and wasn't sent isn't; chats that only they read hear nothing more. */
  async #silence(channel: string, personId: string, by: Actor): Promise<void> {
    const { threads, outbox } = this.#parts;
    await threads.dropOf(`${channel}:${personId}`);
    const theirs = threads
      .bindings()
      .filter((it) => it.channel === channel && (it.by === `${channel}:${personId}` || it.threadId === personId))
      .filter((it) => this.#isPrivate(channel, it.threadId));
    for (const it of theirs) await threads.leave(it, by);
    // Also one that they had left: whose it is only the platform knows, and a card there would be given the next link.
    const bound = threads.bindings().filter((it) => it.channel === channel);
    const heard = new Set([this.#get(channel).home, ...bound.map(({ threadId }) => threadId)]);
    for (const threadId of outbox.threads(channel)) {
      if (!heard.has(threadId) && this.#isPrivate(channel, threadId)) await outbox.forget({ channel, threadId });
    }
  }

  #isPrivate(name: string, threadId: string): boolean {
    return this.#live.get(name)?.channel.isPrivate(threadId) ?? true;
  }

  #pair({ channel, threadId }: Thread, user: ChatUser, code: string): Promise<string | undefined> {
    return this.#changes.run(ALL, async () => {
      const config = this.#find(channel);
      if (config === undefined || !this.#pairing.redeem(channel, code)) return undefined;
      const person = personOf(user);
      const people = [...config.people.filter((it) => it.id !== person.id), person];
      const by: Actor = { kind: "person", id: `${channel}:${person.id}` };
      const change = { change: "paired", channel, personId: person.id, name: person.name };
      const { home = threadId, homeOf = config.home === undefined ? person.id : undefined } = config;
      await this.#put({ ...config, people, home, homeOf }, change, by);
      this.#changed();
      const here = config.home === undefined ? " What your programs ask will come here." : "";
      return `Welcome, ${person.name}.${here} /sessions shows what runs, /help what else there is.`;
    });
  }

  #begin(config: ChannelConfig): LiveChannel | undefined {
    try {
      const live = this.#made(config);
      this.#live.set(config.name, live);
      return live;
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      this.#parts.logger.warn("a channel has no adapter", { channel: config.name, kind: config.kind });
      return undefined;
    }
  }

  #made(config: ChannelConfig): LiveChannel {
    const { maker, logger } = this.#parts;
    const receive = (incoming: Parameters<Inbox["receive"]>[1]) => this.inbox.receive(config.name, incoming);
    return new LiveChannel(maker.make(config), config, { receive, logger, onUp: () => this.#changed() });
  }

  #invitation({ name, kind }: ChannelConfig, bot: string): Invitation {
    const { code, expiresAt } = this.#pairing.invite(name);
    const link = bot === "" ? undefined : this.#parts.maker.pairingLink?.(kind, bot, code);
    return { name, bot, code, link, expiresAt };
  }

  async #put(config: ChannelConfig, told: JsonObject, by: Actor): Promise<void> {
    await this.#store(
      this.#channels.map((it) => (it.name === config.name ? config : it)),
      told,
      by,
    );
  }

  /** Who may speak is a decision: it is in the log before it holds. */
  async #store(channels: readonly ChannelConfig[], told: JsonObject, by: Actor): Promise<void> {
    const { journal, settings } = this.#parts;
    this.#refuseBroken();
    await journal.note(HUB_STREAM, "power", [{ type: "channel", payload: told, source: by }]);
    try {
      await settings.write(channels);
    } catch (error) {
      throw new AppError("storage_unavailable", { detail: `${settings.place} can't be written` }, { cause: error });
    }
    this.#channels = channels;
  }

  /** A change is in the log a moment before it holds. */
  async #settled(): Promise<void> {
    await this.#changes.run(ALL, async () => undefined);
  }

  #refuseBroken(): void {
    if (this.#problem === undefined) return;
    throw new AppError("invalid_transition", { detail: `${this.#problem} Mend or remove it, then restart the hub.` });
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }

  #find(name: string): ChannelConfig | undefined {
    return this.#channels.find((it) => it.name === name);
  }

  #get(name: string): ChannelConfig {
    const config = this.#find(name);
    if (config === undefined) throw new AppError("not_found", { what: "channel", id: name });
    return config;
  }
}

/** In our own threads people are who their credential says. */
function byUser({ user }: Incoming): Actor {
  return { kind: "person", id: user.id };
}
