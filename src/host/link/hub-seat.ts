/**
 * Where a hub sits, however it is reached. A connection says HELLO first; two of them, for data and for control, make a
 * hub. At most one is served: a newer one replaces the older (HST-10, HST-11).
 */
import type { Duplex } from "node:stream";
import { type Channel, type HostMessage, type HubMessage, LINK_VERSION } from "../../protocol/link.ts";
import { HubConnection, type HubConnectionListener } from "./hub-connection.ts";

type Hello = Extract<HubMessage, { type: "HELLO" }>;
export type AfterHello = Exclude<HubMessage, Hello>;
export type Welcome = Omit<Extract<HostMessage, { type: "WELCOME" }>, "type" | "version">;

export type HubListener = {
  /** Its data connection; whatever was adopted by an earlier one is no longer. */
  readonly came: (data: HubConnection) => void;
  readonly left: () => void;
  readonly message: (message: AfterHello, body: Uint8Array, from: HubConnection) => void;
};

export type HubSeatOptions = {
  readonly welcome: () => Welcome;
  readonly listener: HubListener;
  /** Of silence; absent: what both ends of the link are used to. */
  readonly deadAfterMs?: number | undefined;
};

/**
 * Brings hubs to the seat until what it answers is called. `isInside`: whether a process of this machine runs in a
 * session, or can't be told not to.
 */
export type WayToHub = (seat: HubSeat, isInside: (pid: number) => boolean) => Promise<() => Promise<void>>;

const HELLO_WITHIN_MS = 5_000;

export class HubSeat {
  readonly #options: HubSeatOptions;
  readonly #connections = new Set<HubConnection>();
  #hub: { readonly name: string; readonly channels: Map<Channel, HubConnection> } | undefined;

  constructor(options: HubSeatOptions) {
    this.#options = options;
  }

  get hasHub(): boolean {
    return this.#hub?.channels.has("data") ?? false;
  }

  accept(stream: Duplex): void {
    let channel: Channel | undefined;
    const listener: HubConnectionListener = {
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
    };
    const connection = new HubConnection(stream, listener, this.#options.deadAfterMs);
    const impatience = setTimeout(() => connection.close(), HELLO_WITHIN_MS).unref();
    this.#connections.add(connection);
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
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
