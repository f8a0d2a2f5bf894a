/**
 * Between a hub and a host: a unix socket that passes messages on, or keeps what the hub asks in a bag from which it is
 * taken in any order, more than once if so wanted.
 */
import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { encodeMessage, HubMessage } from "../../src/protocol/link.ts";
import { MessageReader } from "../../src/protocol/link-reader.ts";

type Kept = { readonly to: Socket; readonly message: Uint8Array };

/** Whatever changes something at a gate. */
const CHANGES: ReadonlySet<string> = new Set(["SEND_INPUT", "CONTROL"]);

export class LinkProxy {
  readonly path: string;
  readonly #target: string;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #bag: Kept[] = [];
  keeps = false;
  /** What is kept then. */
  types: ReadonlySet<string> = CHANGES;
  /** Nobody gets through: the host is away. */
  isClosed = false;

  static async open(path: string, target: string): Promise<LinkProxy> {
    const proxy = new LinkProxy(path, target);
    proxy.#server.listen(path);
    await once(proxy.#server, "listening");
    return proxy;
  }

  private constructor(path: string, target: string) {
    this.path = path;
    this.#target = target;
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get kept(): number {
    return this.#bag.length;
  }

  /** `again`: it stays in the bag, too. */
  pass(index: number, again: boolean): void {
    const [kept] = again ? this.#bag.slice(index) : this.#bag.splice(index, 1);
    if (kept?.to.writable === true) kept.to.write(kept.message);
  }

  /** Whatever was on its way is lost. */
  cut(): void {
    this.#bag = [];
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }

  #accept(hub: Socket): void {
    if (this.isClosed) return void hub.destroy();
    const host = createConnection(this.#target);
    const reader = new MessageReader({
      message: (header, body) => this.#fromHub(HubMessage.parse(header), body, host),
      fault: ({ detail }) => hub.destroy(new Error(detail)),
    });
    hub.on("data", (chunk: Uint8Array) => reader.push(chunk));
    host.pipe(hub);
    for (const [socket, other] of [
      [hub, host],
      [host, hub],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.on("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    hub.on("end", () => host.end());
  }

  #fromHub(header: HubMessage, body: Uint8Array, to: Socket): void {
    const message = encodeMessage(header, Buffer.from(body));
    if (this.keeps && this.types.has(header.type)) this.#bag.push({ to, message });
    else if (to.writable) to.write(message);
  }
}
