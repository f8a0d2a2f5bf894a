/**
 * One connection to a host: HELLO and WELCOME, then messages both ways, with a heartbeat. Whatever ends it is told
 * once, with the reason.
 */
import type { Duplex } from "node:stream";
import { Silence } from "../../domain/silence.ts";
import { MessageReader } from "../../protocol/link-reader.ts";
import {
  type Channel,
  encodeHead,
  HostMessage,
  type HubMessage,
  LINK_DEAD_AFTER_MS,
  LINK_HEARTBEAT_MS,
  LINK_UNREAD_MAX,
  LINK_VERSIONS,
} from "../../protocol/link.ts";
import type { Wire } from "./wire.ts";

export type Welcome = Extract<HostMessage, { type: "WELCOME" }>;
type AfterWelcome = Exclude<HostMessage, Welcome | { type: "PONG" } | { type: "ERROR" }>;

export type HostConnectionListener = {
  /** `bytes`: of all of the message. */
  readonly message: (message: AfterWelcome, body: Uint8Array, bytes: number) => void;
  /** The host says that something we sent makes no sense to it. */
  readonly complaint: (detail: string) => void;
  readonly closed: (reason: Error) => void;
};

export type Greeting = {
  readonly channel: Channel;
  /** Differs for each run of the hub. */
  readonly hub: string;
  readonly versions?: readonly number[] | undefined;
};

/** The host refuses us for good: trying again would not help. */
export class LinkRefused extends Error {
  override readonly name = "LinkRefused";
  readonly code: "version" | "replaced";

  constructor(code: LinkRefused["code"], detail: string) {
    super(detail);
    this.code = code;
  }
}

const WELCOME_WITHIN_MS = 5_000;

export class HostConnection {
  readonly #stream: Duplex;
  readonly #listener: HostConnectionListener;
  readonly #reader: MessageReader;
  readonly #welcome = Promise.withResolvers<Welcome>();
  readonly #heart: NodeJS.Timeout;
  readonly #silence = new Silence(LINK_HEARTBEAT_MS, performance.now());
  #reason: Error | undefined;
  #paused = false;
  #greeted = false;

  /** Rejects with `LinkRefused` when we may not, with another error when the wire breaks first. */
  static async open(
    wire: Wire,
    { channel, hub, versions = LINK_VERSIONS }: Greeting,
    listener: HostConnectionListener,
  ): Promise<{ readonly connection: HostConnection; readonly welcome: Welcome }> {
    const connection = new HostConnection(wire, listener);
    const impatience = setTimeout(() => connection.close(new Error("the host did not greet")), WELCOME_WITHIN_MS);
    try {
      connection.send({ type: "HELLO", versions: [...versions], channel, hub });
      return { connection, welcome: await connection.#welcome.promise };
    } finally {
      clearTimeout(impatience);
    }
  }

  private constructor({ stream, listen }: Wire, listener: HostConnectionListener) {
    this.#stream = stream;
    this.#listener = listener;
    this.#welcome.promise.catch(() => undefined);
    this.#reader = new MessageReader({
      message: (header, body, bytes) => this.#receive(header, body, bytes),
      fault: ({ detail }) => this.close(new Error(detail)),
    });
    this.#heart = setInterval(() => this.#beat(), LINK_HEARTBEAT_MS).unref();
    listen((chunk) => this.#heard(chunk));
    stream.on("error", (error) => this.close(error));
    stream.once("end", () => this.close(new Error("the host closed the connection")));
    stream.once("close", () => this.close(new Error("the connection broke")));
  }

  send(message: HubMessage, body?: Uint8Array): void {
    this.#stream.cork();
    this.#stream.write(encodeHead(message, body?.length ?? 0));
    if (body !== undefined && body.length > 0) this.#stream.write(body);
    // In this turn, together with whatever else is sent in it.
    queueMicrotask(() => this.#stream.uncork());
    if (this.#stream.writableLength > LINK_UNREAD_MAX) this.close(new Error("the host reads nothing"));
  }

  /** Sends no more, takes what the host has said already, then closes. */
  async finish(reason: Error, withinMs: number): Promise<void> {
    if (this.#reason !== undefined) return;
    const timer = setTimeout(() => this.close(reason), withinMs);
    // Not `once` of node:events: it rejects when a host that died resets the connection, and nobody would be told.
    const closed = new Promise((resolve) => this.#stream.once("close", resolve));
    this.#stream.end();
    await closed;
    clearTimeout(timer);
  }

  /** Reads no more until `resume`: what the host still has to say waits there. */
  pause(): void {
    if (this.#paused) return;
    this.#paused = true;
    this.#stream.pause();
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    this.#silence.end();
    this.#stream.resume();
  }

  close(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    clearInterval(this.#heart);
    this.#reader.end();
    this.#stream.destroy();
    this.#welcome.reject(reason);
    this.#listener.closed(reason);
  }

  #heard(chunk: Uint8Array): void {
    this.#silence.end();
    this.#reader.push(chunk);
  }

  #receive(header: unknown, body: Uint8Array, bytes: number): void {
    const { success, data: message } = HostMessage.safeParse(header);
    // A newer host may say things that we don't know; frames are numbered, so a missing one is noticed.
    if (!success && this.#greeted)
      return this.#listener.complaint("the host said something that this hub does not know");
    if (!success) return this.close(new Error("the host greeted with something that this hub does not know"));
    switch (message.type) {
      case "WELCOME":
        this.#greeted = true;
        return this.#welcome.resolve(message);
      case "PONG":
        return;
      case "ERROR":
        return this.#refused(message);
      default:
        return this.#listener.message(message, body, bytes);
    }
  }

  #refused({ code, detail }: Extract<HostMessage, { type: "ERROR" }>): void {
    if (code === "malformed") this.#listener.complaint(detail);
    else if (code === "framing") this.close(new Error(detail));
    else this.close(new LinkRefused(code, detail));
  }

  #beat(): void {
    const isSilent = this.#silence.look(performance.now()) > LINK_DEAD_AFTER_MS && !this.#paused;
    if (isSilent) this.close(new Error("the host fell silent"));
    else this.send({ type: "PING", at: Date.now() });
  }
}
