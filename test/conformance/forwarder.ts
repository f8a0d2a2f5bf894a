/**
 * Adds a credential to requests of a client that can't send one, and changes nothing else: whoever calls the
 * forwarder by its own address calls the hub by the hub's; any other Host or Origin passes as it came, so that the
 * hub's own checks are what is tested.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export class Forwarder implements AsyncDisposable {
  readonly #hub: URL;
  readonly #token: string;
  readonly #http = createServer((req, res) => this.#forward(req, res));

  private constructor(hubUrl: string, token: string) {
    this.#hub = new URL(hubUrl);
    this.#token = token;
  }

  static async start(hubUrl: string, token: string): Promise<Forwarder> {
    const forwarder = new Forwarder(hubUrl, token);
    forwarder.#http.listen(0, "127.0.0.1");
    await once(forwarder.#http, "listening");
    return forwarder;
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections();
    this.#http.close();
    await once(this.#http, "close");
  }

  #forward(req: IncomingMessage, res: ServerResponse): void {
    const { hostname, port } = this.#hub;
    const onward = request({
      hostname,
      port,
      method: req.method,
      path: req.url,
      headers: this.#headersOf(req),
      agent: false,
    });
    onward.on("response", (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    onward.on("error", () => res.destroy());
    res.on("close", () => onward.destroy());
    req.pipe(onward);
  }

  #headersOf(req: IncomingMessage): Record<string, string | string[] | undefined> {
    const { host, origin, ...rest } = req.headers;
    const own = this.url;
    return {
      ...rest,
      host: host === own.host ? this.#hub.host : host,
      ...(origin !== undefined && { origin: origin === own.origin ? this.#hub.origin : origin }),
      authorization: `Bearer ${this.#token}`,
    };
  }
}
