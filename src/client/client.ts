/**
 * The SDK: every operation of the hub as a typed call, the log as an async iterable, live sessions as a stream.
 * Runs in browsers and Node; knows nothing that is not in the protocol. Rules in docs/spec/client.md.
 */
import { SUBPROTOCOL, TICKET_PROTOCOL_PREFIX } from "../protocol/stream.ts";
import type { Input } from "../protocol/operations.ts";
import { operation } from "../protocol/operations.ts";
import type { Call, CallOptions } from "./calls.ts";
import { Calls } from "./calls.ts";
import type { FeedItem, FeedOptions } from "./event-feed.ts";
import { EventFeed } from "./event-feed.ts";
import { requestFor } from "./request.ts";
import type { Timing } from "./retry.ts";
import { TIMING } from "./retry.ts";
import type { Socket, SocketConstructor } from "./socket.ts";
import type { StreamOptions } from "./stream.ts";
import { Stream } from "./stream.ts";
import type { TransportOptions } from "./transport.ts";
import { Transport } from "./transport.ts";

export type ClientOptions = TransportOptions & {
  readonly WebSocket?: SocketConstructor | undefined;
  readonly timing?: Partial<Timing> | undefined;
};

export class SidestickClient extends Calls {
  readonly #transport: Transport;
  readonly #WebSocket: SocketConstructor | undefined;
  readonly #timing: Timing;

  constructor(options: ClientOptions) {
    const transport = new Transport(options);
    super(((name, input, given) => transport.send(name, input, given)) as Call);
    this.#transport = transport;
    this.#WebSocket = options.WebSocket;
    this.#timing = { ...TIMING, ...options.timing };
  }

  /** The log from a place on, without end: each event once, in order, across lost connections. */
  events(options: FeedOptions = {}): AsyncIterableIterator<FeedItem> {
    return new EventFeed(this.#transport, options, this.#timing).items();
  }

  /** Live sessions and events over one WebSocket. */
  stream(options: StreamOptions = {}): Stream {
    return new Stream({ connect: (signal) => this.#connect(signal), timing: this.#timing }, options);
  }

  /** A session as a file, a piece at a time: nothing is fetched that nobody reads. */
  async export(input: Input<"session.export">, options: CallOptions = {}): Promise<AsyncIterable<Uint8Array>> {
    const signal = options.signal ?? new AbortController().signal;
    const { body } = await this.#transport.open(requestFor(operation("session.export"), input), {}, signal);
    return body ?? new Response("").body!;
  }

  async #connect(signal: AbortSignal): Promise<Socket> {
    const { ticket } = await this.call("stream.ticket", {}, { signal });
    const url = this.#transport.webSocketUrl("/stream");
    const protocols = [SUBPROTOCOL, TICKET_PROTOCOL_PREFIX + ticket];
    return new (this.#WebSocket ?? WebSocket)(url, protocols);
  }
}
