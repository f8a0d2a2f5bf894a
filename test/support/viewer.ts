/** A WebSocket that remembers every frame. */
import { once } from "node:events";
import { onTestFinished } from "vitest";
import { WebSocket } from "ws";
import { decodeOutput, type OutputFrame, ServerFrame, SUBPROTOCOL } from "../../src/protocol/stream.ts";

export type ViewerOptions = {
  readonly token?: string;
  readonly protocols?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
};

export class TestViewer {
  readonly socket: WebSocket;
  readonly frames: ServerFrame[] = [];
  readonly output: OutputFrame[] = [];
  closedAt = 0;
  closeCode = 0;

  constructor(url: string, { token, protocols = [SUBPROTOCOL], headers = {}, path = "/stream" }: ViewerOptions) {
    this.socket = new WebSocket(`${url.replace("http", "ws")}${path}`, [...protocols], {
      headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
    });
    this.socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (!isBinary) this.frames.push(ServerFrame.parse(JSON.parse(data.toString())));
      else this.output.push(decodeOutput(data) as OutputFrame);
    });
    this.socket.on("close", (code) => {
      this.closedAt = performance.now();
      this.closeCode = code;
    });
    this.socket.on("error", () => undefined);
    onTestFinished(() => this.socket.terminate());
  }

  static async open(url: string, options: ViewerOptions): Promise<TestViewer> {
    const viewer = new TestViewer(url, options);
    await once(viewer.socket, "open");
    return viewer;
  }

  /** The status of the answer that refused the opening; 101 if it was let in. */
  static knock(url: string, options: ViewerOptions): Promise<number> {
    const viewer = new TestViewer(url, options);
    return new Promise((resolve, reject) => {
      viewer.socket.once("open", () => resolve(101));
      viewer.socket.once("unexpected-response", (_request, response) => resolve(response.statusCode ?? 0));
      viewer.socket.once("error", reject);
    });
  }

  send(frame: object): void {
    this.socket.send(JSON.stringify(frame));
  }

  bytes(): Buffer {
    return Buffer.concat(this.output.map((it) => it.bytes));
  }
}
