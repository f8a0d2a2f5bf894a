/**
 * Where hubs come: a unix socket for its owner alone. A connection says HELLO first; two of them, for data and for
 * control, make a hub. At most one hub is served: a newer one replaces the older (HST-2, HST-10, HST-11).
 */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../lib/logger.ts";
import { type Channel, type HostMessage, type HubMessage, LINK_VERSION } from "../../protocol/link.ts";
import { HubConnection } from "./hub-connection.ts";

type Hello = Extract<HubMessage, { type: "HELLO" }>;
export type AfterHello = Exclude<HubMessage, Hello>;
export type Welcome = Omit<Extract<HostMessage, { type: "WELCOME" }>, "type" | "version">;

export type HubListener = {
  /** Its data connection; whatever was adopted by an earlier one is no longer. */
  readonly came: (data: HubConnection) => void;
  readonly left: () => void;
  readonly message: (message: AfterHello, body: Uint8Array, from: HubConnection) => void;
};

export type Peer = { readonly pid: number; readonly uid: number };

export type LinkServerOptions = {
  readonly path: string;
  /** Who is at the other end, by the kernel's word. */
  readonly peerOf: (socket: Socket) => Peer;
  /** Whether a process runs inside a session of this host, or can't be told not to. */
  readonly isInside: (pid: number) => boolean;
  readonly welcome: () => Welcome;
  readonly listener: HubListener;
  readonly logger: Logger;
};

const HELLO_WITHIN_MS = 5_000;
const CONNECTIONS_MAX = 16;

export class LinkServer {
  readonly #options: LinkServerOptions;
  readonly #server: Server;
  readonly #connections = new Set<HubConnection>();
  #hub: { readonly name: string; readonly channels: Map<Channel, HubConnection> } | undefined;

  /** Only for whoever holds the lock of this host: a socket that a dead one left behind is removed. */
  static async listen(options: LinkServerOptions): Promise<LinkServer> {
    await rm(options.path, { force: true });
    const server = new LinkServer(options);
    server.#server.listen(options.path);
    await once(server.#server, "listening");
    await chmod(options.path, 0o600);
    return server;
  }

  private constructor(options: LinkServerOptions) {
    this.#options = options;
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
    this.#server.maxConnections = CONNECTIONS_MAX;
  }

  get hasHub(): boolean {
    return this.#hub?.channels.has("data") ?? false;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const connection of this.#connections) connection.close();
    await closed;
  }

  #accept(socket: Socket): void {
    const refusal = this.#refusalOf(socket);
    if (refusal !== undefined) {
      this.#options.logger.warn(refusal);
      socket.destroy();
      return;
    }
    let channel: Channel | undefined;
    const connection: HubConnection = new HubConnection(socket, {
      message: (message, body) => {
        if (message.type === "HELLO") {
          if (channel !== undefined || !this.#greet(message, connection)) return;
          channel = message.channel;
          clearTimeout(impatience);
        } else if (channel === undefined) {
          connection.end({ type: "ERROR", code: "framing", detail: "The first message has to be HELLO." });
        } else this.#options.listener.message(message, body, connection);
      },
      closed: () => {
        clearTimeout(impatience);
        this.#connections.delete(connection);
        if (channel !== undefined) this.#leave(channel, connection);
      },
    });
    const impatience = setTimeout(() => connection.close(), HELLO_WITHIN_MS).unref();
    this.#connections.add(connection);
  }

  #refusalOf(socket: Socket): string | undefined {
    try {
      const { pid, uid } = this.#options.peerOf(socket);
      if (uid !== process.geteuid?.()) return "a connection of another user was refused";
      // What runs in a session is what a hub governs: it must not become one.
      return this.#options.isInside(pid) ? "a connection from inside a session was refused" : undefined;
    } catch {
      return "a connection of nobody knows whom was refused";
    }
  }

  #greet({ versions, channel, hub }: Hello, connection: HubConnection): boolean {
    if (!versions.includes(LINK_VERSION)) {
      const detail = `This host speaks version ${LINK_VERSION} of the link, the hub ${versions.join(", ")}. Use the same release of both, or end the host.`;
      connection.end({ type: "ERROR", code: "version", detail });
      return false;
    }
    if (this.#hub?.name !== hub) this.#replace(hub);
    const channels = this.#hub!.channels;
    const earlier = channels.get(channel);
    channels.set(channel, connection);
    earlier?.close();
    connection.send({ type: "WELCOME", version: LINK_VERSION, ...this.#options.welcome() });
    if (channel === "data") this.#options.listener.came(connection);
    return true;
  }

  #replace(name: string): void {
    const earlier = this.#hub;
    this.#hub = { name, channels: new Map() };
    // From here until the newer one has its data connection, nobody takes frames.
    if (earlier?.channels.has("data") === true) this.#options.listener.left();
    for (const connection of earlier?.channels.values() ?? []) {
      connection.end({ type: "ERROR", code: "replaced", detail: "A newer hub has come." });
    }
  }

  #leave(channel: Channel, connection: HubConnection): void {
    if (this.#hub?.channels.get(channel) !== connection) return;
    this.#hub.channels.delete(channel);
    if (channel === "data") this.#options.listener.left();
  }
}
