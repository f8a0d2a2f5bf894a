/**
 * The hub's end of the link to one host: a connection for data and one for control, made again whenever they break.
 * A request is sent at most once; one whose answer got lost is `unknown_outcome`, one that was never sent
 * `host_offline` (HST-12, HST-13, HST-21 in docs/spec/host.md).
 */
import { setTimeout } from "node:timers/promises";
import type { Logger } from "../../lib/logger.ts";
import { AppError } from "../../protocol/errors.ts";
import { bodyParts, type Channel, type HostMessage, type HubMessage, type HubRequest } from "../../protocol/link.ts";
import { HostConnection, LinkRefused, type Welcome } from "./host-connection.ts";
import { type HostReply, PendingRequests } from "./pending-requests.ts";
import type { Connect } from "./wire.ts";

/** A request as it is made; the link gives it its id. */
export type Ask = {
  [T in HubRequest["type"]]: Omit<Extract<HubRequest, { type: T }>, "id" | "more">;
}[HubRequest["type"]];
export type FrameMessage = Extract<HostMessage, { order: number }>;
type ReplyMessage = Extract<HostMessage, { type: "REPLY" }>;

export type HostLinkListener = {
  /** `bytes`: of all of the message. */
  readonly frame: (message: FrameMessage, body: Uint8Array, bytes: number) => void;
  readonly online: (welcome: Welcome) => void;
  readonly offline: () => void;
  /** Nothing will be tried again. */
  readonly refused?: (refusal: LinkRefused) => void;
};

export type HostLinkOptions = {
  readonly connect: Connect;
  /** Whoever greets as another is not listened to. Absent: whoever is there. */
  readonly hostId?: string | undefined;
  /** It makes the connections, and may come back as another version: it is waited for whatever was said. */
  readonly isRemote?: boolean | undefined;
  readonly logger: Logger;
  readonly versions?: readonly number[] | undefined;
  /** May start a host; true if one is about to listen. */
  readonly whenNobodyListens?: (() => boolean) | undefined;
};

type Connections = Readonly<Record<Channel, HostConnection>>;

const RETRY_FIRST_MS = 50;
const RETRY_MOST_MS = 2_000;
const STARTING_MS = 15;
const LAST_WORDS_MS = 200;
/** These must never queue behind a paste. */
const ON_CONTROL: ReadonlySet<string> = new Set([
  "TERMINATE_CMD",
  "CONTROL",
  "RESPAWN",
  "SHUTDOWN",
] satisfies HubRequest["type"][]);

export class HostLink {
  readonly #options: HostLinkOptions;
  readonly #hub = crypto.randomUUID();
  readonly #pending = new PendingRequests();
  readonly #listeners = new Set<HostLinkListener>();
  readonly #closed = new AbortController();
  #connections: Connections | undefined;
  #welcome: Welcome | undefined;
  #refusal: LinkRefused | undefined;

  constructor(options: HostLinkOptions) {
    this.#options = options;
  }

  get online(): boolean {
    return this.#connections !== undefined;
  }

  /** Of the host that is, or was last, at the other end. */
  get welcome(): Welcome | undefined {
    return this.#welcome;
  }

  /** Why it was given up, if it was: another version, a newer hub. */
  get refusal(): LinkRefused | undefined {
    return this.#refusal;
  }

  listen(listener: HostLinkListener): void {
    this.#listeners.add(listener);
  }

  /** Connects, and again whenever it breaks, until it is closed or refused. */
  open(): void {
    void this.#keepConnected();
  }

  request(ask: Ask, body?: Uint8Array): Promise<HostReply> {
    const connection = this.#connections?.[ON_CONTROL.has(ask.type) ? "control" : "data"];
    if (connection === undefined) return Promise.reject(new AppError("host_offline"));
    return this.#pending.add((id) => {
      if (body === undefined) return connection.send({ ...ask, id });
      const parts = bodyParts(body);
      for (const [index, part] of parts.entries()) {
        const more = index < parts.length - 1 ? { more: true } : {};
        connection.send({ ...ask, id, ...more }, part);
      }
    });
  }

  acknowledge(sessionId: string, order: number): void {
    this.#connections?.data.send({ type: "ACK", session_id: sessionId, order } satisfies HubMessage);
  }

  /** The stream of frames can't be trusted any more: from the beginning, by adoption. */
  restart(reason: string): void {
    this.#connections?.data.close(new Error(reason));
  }

  /** Frames are not stored as fast as they come: they wait at the host until `resume`. */
  pause(): void {
    this.#connections?.data.pause();
  }

  resume(): void {
    this.#connections?.data.resume();
  }

  close(): void {
    this.#closed.abort();
    this.#connections?.data.close(new Error("the hub closes the link"));
  }

  async #keepConnected(): Promise<void> {
    for (let waitMs = RETRY_FIRST_MS; !this.#closed.signal.aborted;) {
      try {
        const { lost } = await this.#connect();
        waitMs = RETRY_FIRST_MS;
        this.#options.logger.warn("the link to the host broke", { error: await lost });
      } catch (error) {
        if (error instanceof LinkRefused && this.#giveUp(error)) return;
        if (isNobodyThere(error) && this.#someoneComes()) {
          await this.#pause(STARTING_MS);
          continue;
        }
      }
      if (this.#refusal !== undefined) return;
      await this.#pause(waitMs * (0.75 + Math.random() / 2));
      waitMs = Math.min(waitMs * 2, RETRY_MOST_MS);
    }
  }

  /** Starting a host may fail, for want of a file or a process; then it is tried again like the rest. */
  #someoneComes(): boolean {
    try {
      return this.#options.whenNobodyListens?.() === true;
    } catch (error) {
      this.#options.logger.error("no host could be started", { error });
      return false;
    }
  }

  async #connect(): Promise<{ readonly lost: Promise<Error> }> {
    const lost = Promise.withResolvers<Error>();
    await using opened = new AsyncDisposableStack();
    const open = async (channel: Channel) => {
      const wire = await this.#options.connect(channel, this.#closed.signal);
      const greeting = { channel, hub: this.#hub, versions: this.#options.versions };
      const made = await HostConnection.open(wire, greeting, {
        message: (message, body, bytes) => {
          // It is read also when `data` is not: what came there would be bounded by nothing.
          if (channel === "control" && message.type !== "REPLY") this.restart("a frame came on control");
          else this.#receive(message, body, bytes);
        },
        complaint: (detail) => this.#options.logger.warn("on the link to the host", { detail }),
        closed: (reason) => lost.resolve(reason),
      });
      opened.defer(() => made.connection.close(new Error("the other connection failed")));
      return made;
    };
    const control = await open("control");
    const data = await open("data");
    if (data.welcome.instance !== control.welcome.instance) throw new Error("the host was just replaced");
    if (data.welcome.host_id !== (this.#options.hostId ?? data.welcome.host_id)) {
      throw new Error("the host greets as another one");
    }
    const connections = { control: control.connection, data: data.connection };
    opened.move();
    this.#connected(connections, data.welcome);
    return { lost: lost.promise.then((reason) => this.#disconnected(connections, reason)) };
  }

  #connected(connections: Connections, welcome: Welcome): void {
    if (this.#closed.signal.aborted) {
      for (const connection of Object.values(connections)) connection.close(new Error("the hub closes the link"));
      return;
    }
    this.#connections = connections;
    this.#welcome = welcome;
    for (const { online } of this.#listeners) online(welcome);
  }

  /** Answers that have come already, on the other connection, still count. */
  async #disconnected(connections: Connections, reason: Error): Promise<Error> {
    this.#connections = undefined;
    await Promise.all(Object.values(connections).map((it) => it.finish(reason, LAST_WORDS_MS)));
    this.#pending.lose(reason);
    if (reason instanceof LinkRefused) this.#giveUp(reason);
    for (const { offline } of this.#listeners) offline();
    return reason;
  }

  #receive(message: FrameMessage | ReplyMessage, body: Uint8Array, bytes: number): void {
    if (message.type === "REPLY") return this.#pending.answer(message, body);
    for (const { frame } of this.#listeners) frame(message, body, bytes);
  }

  /** False: it is tried again all the same. */
  #giveUp(refusal: LinkRefused): boolean {
    if (this.#refusal !== undefined) return true;
    this.#options.logger.error("the host refused the link", { code: refusal.code, detail: refusal.message });
    if (this.#options.isRemote === true) return false;
    this.#refusal = refusal;
    for (const { refused } of this.#listeners) refused?.(refusal);
    return true;
  }

  async #pause(ms: number): Promise<void> {
    await setTimeout(ms, undefined, { signal: this.#closed.signal }).catch(() => undefined);
  }
}

function isNobodyThere(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR", "ECONNREFUSED"].includes((error as NodeJS.ErrnoException).code ?? "");
}
