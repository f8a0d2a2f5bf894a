/**
 * The way from a host elsewhere to its hub: two WebSockets, for data and for control, which the host makes and makes
 * again. Over them the hub greets as over the socket of its own machine. Rules RML-1, RML-7..RML-10.
 */
import type { ClientRequest, IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import type { Logger } from "../../lib/logger.ts";
import { streamOf } from "../../lib/web-socket-stream.ts";
import { type AppError, errorFromProblem } from "../../protocol/errors.ts";
import { type Channel, HUB_HEADER, LINK_CHUNK_MAX, LINK_PATH, LINK_SUBPROTOCOL } from "../../protocol/link.ts";
import { plainRefusal } from "../../protocol/loopback.ts";
import type { HubSeat, WayToHub } from "./hub-seat.ts";

export type HubAddress = {
  /** http or https. */
  readonly url: string;
  readonly token: string;
  readonly hubId: string;
  /** PEM; absent: those of the system. */
  readonly ca?: string | undefined;
};

export type BackOff = { readonly firstMs: number; readonly mostMs: number };

export type HubDiallerOptions = {
  readonly hub: HubAddress;
  readonly logger: Logger;
  /** Why it isn't connected; undefined: it is. */
  readonly onState?: ((trouble: string | undefined) => void) | undefined;
  /** The hub says that it has no such host: nothing more will come of it. */
  readonly onRemoved: () => void;
  readonly backOff?: BackOff | undefined;
};

const BACK_OFF: BackOff = { firstMs: 1_000, mostMs: 15_000 };
const HANDSHAKE_MS = 15_000;
/** A connection that lived so long was a good one: the next attempt need not wait longer. */
const STEADY_MS = 5_000;
const ANSWER_MAX = 16 * 1024;
const ANOTHER_HUB = "another hub is at that address than the one that was joined";

/** Throws where the address would be spoken to without encryption. */
export function dialHub(options: HubDiallerOptions): WayToHub {
  const refusal = plainRefusal(new URL(options.hub.url));
  if (refusal !== undefined) throw new Error(refusal);
  return async (seat) => {
    const ended = new AbortController();
    const lines = (["control", "data"] as const).map((channel) => new Line(channel, seat, options));
    const kept = lines.map((line) => line.keep(ended.signal));
    return async () => {
      ended.abort();
      seat.close();
      await Promise.all(kept);
    };
  };
}

class Line {
  readonly #channel: Channel;
  readonly #seat: HubSeat;
  readonly #options: HubDiallerOptions;

  constructor(channel: Channel, seat: HubSeat, options: HubDiallerOptions) {
    this.#channel = channel;
    this.#seat = seat;
    this.#options = options;
  }

  async keep(ended: AbortSignal): Promise<void> {
    const { backOff: { firstMs, mostMs } = BACK_OFF } = this.#options;
    for (let waitMs = firstMs; !ended.aborted; waitMs = Math.min(waitMs * 2, mostMs)) {
      const openedAt = performance.now();
      const trouble = await this.#dial(ended).then(
        () => "the connection broke",
        (error: unknown) => this.#explain(error as Error),
      );
      if (ended.aborted) return;
      if (this.#channel === "data") this.#options.onState?.(trouble);
      if (performance.now() - openedAt > STEADY_MS) waitMs = firstMs;
      await sleep(waitMs * (0.5 + Math.random()), undefined, { signal: ended }).catch(() => undefined);
    }
  }

  /** Resolves when a connection that was there is over. */
  async #dial(ended: AbortSignal): Promise<void> {
    const { hub } = this.#options;
    const url = new URL(`${LINK_PATH}?channel=${this.#channel}`, hub.url);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    const socket = new WebSocket(url, [LINK_SUBPROTOCOL], {
      headers: { authorization: `Bearer ${hub.token}` },
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: LINK_CHUNK_MAX,
      perMessageDeflate: false,
      autoPong: false,
      ...(hub.ca === undefined ? {} : { ca: hub.ca }),
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => socket.terminate();
    ended.addEventListener("abort", giveUp);
    let there: string | undefined;
    socket.once("upgrade", ({ headers }) => (there = String(headers[HUB_HEADER])));
    socket.once("unexpected-response", (request, response) => void refusalIn(hub, request, response).then(reject));
    socket.on("error", reject);
    socket.once("close", () => resolve());
    socket.once("open", () => {
      if (there !== hub.hubId) {
        reject(new Error(ANOTHER_HUB));
        return socket.terminate();
      }
      if (this.#channel === "data") this.#options.onState?.(undefined);
      this.#seat.accept(streamOf(socket, LINK_CHUNK_MAX));
    });
    try {
      await promise;
    } finally {
      ended.removeEventListener("abort", giveUp);
    }
  }

  #explain(error: Error): string {
    const { logger, onRemoved } = this.#options;
    logger.warn("the hub was not reached", { channel: this.#channel, error });
    if ((error as Partial<AppError>).code === "unauthenticated") onRemoved();
    return error.message;
  }
}

/** What the hub, or somebody before it, says instead of opening the link. */
async function refusalIn({ hubId }: HubAddress, request: ClientRequest, response: IncomingMessage): Promise<Error> {
  const { statusCode = 0, headers } = response;
  const there = headers[HUB_HEADER];
  try {
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) {
      text += String(chunk);
      if (text.length > ANSWER_MAX) break;
    }
    if (there !== undefined && there !== hubId) return new Error(ANOTHER_HUB);
    // Only the hub's own words count: a proxy that asks for a password, and a hub that never knew us, have removed nobody.
    if (there === hubId) return errorFromProblem(JSON.parse(text), statusCode);
  } catch {
    // Then the number has to do.
  } finally {
    request.destroy();
  }
  return new Error(`the hub's address answered ${statusCode}`);
}
