/**
 * One connection to a host: HELLO and WELCOME, then messages both ways, with a heartbeat. Whatever ends it is told
 * once, with the reason.
 */
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { MessageReader } from "../../protocol/link-reader.ts";
import {
  type Channel,
  encodeHead,
  HostMessage,
  type HubMessage,
  LINK_DEAD_AFTER_MS,
  LINK_HEARTBEAT_MS,
  LINK_VERSIONS,
} from "../../protocol/link.ts";

export type Welcome = Extract<HostMessage, { type: "WELCOME" }>;
type AfterWelcome = Exclude<HostMessage, Welcome | { type: "PONG" } | { type: "ERROR" }>;

export type HostConnectionListener = {
  readonly message: (message: AfterWelcome, body: Uint8Array) => void;
  /** The host says that something we sent makes no sense to it. */
  readonly complaint: (detail: string) => void;
  readonly closed: (reason: Error) => void;
};

export type Dial = {
  readonly path: string;
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

const READ_BYTES = 256 * 1024;
const WELCOME_WITHIN_MS = 5_000;

export class HostConnection {
  readonly #socket: Socket;
  readonly #listener: HostConnectionListener;
  readonly #reader: MessageReader;
  readonly #welcome = Promise.withResolvers<Welcome>();
  readonly #heart: NodeJS.Timeout;
  #heardAt = performance.now();
  #reason: Error | undefined;

  /** Rejects with Node's own error (ENOENT, ECONNREFUSED) when nobody listens, with `LinkRefused` when we may not. */
  static async open(
    { path, channel, hub, versions = LINK_VERSIONS }: Dial,
    listener: HostConnectionListener,
  ): Promise<{ readonly connection: HostConnection; readonly welcome: Welcome }> {
    let connection: HostConnection | undefined;
    // One buffer for all reads: one for each would have the collector at work all the time under bulk output.
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const heard = (count: number): boolean => {
      if (connection !== undefined) connection.#heard(buffer.subarray(0, count));
      return true;
    };
    const socket = createConnection({ path, onread: { buffer, callback: heard } });
    await once(socket, "connect");
    connection = new HostConnection(socket, listener);
    const impatience = setTimeout(() => connection.close(new Error("the host did not greet")), WELCOME_WITHIN_MS);
    try {
      connection.send({ type: "HELLO", versions: [...versions], channel, hub });
      return { connection, welcome: await connection.#welcome.promise };
    } finally {
      clearTimeout(impatience);
    }
  }

  private constructor(socket: Socket, listener: HostConnectionListener) {
    this.#socket = socket;
    this.#listener = listener;
    this.#welcome.promise.catch(() => undefined);
    this.#reader = new MessageReader({
      message: (header, body) => this.#receive(header, body),
      fault: ({ detail }) => this.close(new Error(detail)),
    });
    this.#heart = setInterval(() => this.#beat(), LINK_HEARTBEAT_MS).unref();
    socket.on("error", (error) => this.close(error));
    socket.once("end", () => this.close(new Error("the host closed the connection")));
    socket.once("close", () => this.close(new Error("the connection broke")));
  }

  send(message: HubMessage, body?: Uint8Array): void {
    this.#socket.cork();
    this.#socket.write(encodeHead(message, body?.length ?? 0));
    if (body !== undefined && body.length > 0) this.#socket.write(body);
    // In this turn, together with whatever else is sent in it.
    queueMicrotask(() => this.#socket.uncork());
  }

  /** Sends no more, takes what the host has said already, then closes. */
  async finish(reason: Error, withinMs: number): Promise<void> {
    if (this.#reason !== undefined) return;
    const timer = setTimeout(() => this.close(reason), withinMs);
    // Not `once` of node:events: it rejects when a host that died resets the connection, and nobody would be told.
    const closed = new Promise((resolve) => this.#socket.once("close", resolve));
    this.#socket.end();
    await closed;
    clearTimeout(timer);
  }

  close(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    clearInterval(this.#heart);
    this.#reader.end();
    this.#socket.destroy();
    this.#welcome.reject(reason);
    this.#listener.closed(reason);
  }

  #heard(chunk: Uint8Array): void {
    this.#heardAt = performance.now();
    this.#reader.push(chunk);
  }

  #receive(header: unknown, body: Uint8Array): void {
    const { success, data: message } = HostMessage.safeParse(header);
    // A newer host may say things that we don't know; frames are numbered, so a missing one is noticed.
    if (!success) return this.#listener.complaint("the host said something that this hub does not know");
    switch (message.type) {
      case "WELCOME":
        return this.#welcome.resolve(message);
      case "PONG":
        return;
      case "ERROR":
        return this.#refused(message);
      default:
        return this.#listener.message(message, body);
    }
  }

  #refused({ code, detail }: Extract<HostMessage, { type: "ERROR" }>): void {
    if (code === "malformed") this.#listener.complaint(detail);
    else if (code === "framing") this.close(new Error(detail));
    else this.close(new LinkRefused(code, detail));
  }

  #beat(): void {
    if (performance.now() - this.#heardAt > LINK_DEAD_AFTER_MS) this.close(new Error("the host fell silent"));
    else this.send({ type: "PING", at: Date.now() });
  }
}
