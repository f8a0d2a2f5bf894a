/** A TCP port of this machine that passes bytes on to another, until it is cut. */
import { once } from "node:events";
import { type AddressInfo, createConnection, createServer, type Server, type Socket } from "node:net";

export class Cuttable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Where it leads; may be set later. */
  target = 0;
  #isCut = false;

  static async open(): Promise<Cuttable> {
    const way = new Cuttable();
    way.#server.listen(0, "127.0.0.1");
    await once(way.#server, "listening");
    return way;
  }

  private constructor() {
    this.#server = createServer({ noDelay: true }, (socket) => this.#accept(socket));
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** What was on its way is lost; nobody gets through until it is healed. */
  cut(): void {
    this.#isCut = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  heal(): void {
    this.#isCut = false;
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }

  #accept(near: Socket): void {
    if (this.#isCut) {
      near.destroy();
      return;
    }
    const far = createConnection({ port: this.target, host: "127.0.0.1", noDelay: true });
    near.pipe(far);
    far.pipe(near);
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(socket);
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
  }
}
