/**
 * Where hosts elsewhere come: a WebSocket at `/hosts/link` with the host's own token. It opens that host's link and
 * nothing else, and ends when the token does. Rules RML-1..RML-8 in docs/spec/remote-hosts.md.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import type { HostDesk } from "../../hub/host-desk.ts";
import { RateLimit } from "../../lib/rate-limit.ts";
import { streamOf } from "../../lib/web-socket-stream.ts";
import { AppError } from "../../protocol/errors.ts";
import { type Channel, HUB_HEADER, LINK_CHUNK_MAX, LINK_PATH, LINK_SUBPROTOCOL } from "../../protocol/link.ts";
import type { Authenticator, Connection } from "../authenticate.ts";
import type { Caller } from "../caller.ts";
import type { Dispatcher } from "../dispatcher.ts";
import { refuseUpgrade } from "../responses.ts";
import { refusePlain } from "./encrypted.ts";
import type { RemoteHosts } from "./remote-hosts.ts";

export type LinkDoorParts = {
  readonly authenticator: Authenticator;
  readonly dispatcher: Dispatcher;
  readonly hosts: HostDesk;
  readonly remotes: RemoteHosts;
  readonly hubId: string;
  readonly publicUrl: string | undefined;
  readonly hubEnds: AbortSignal;
};

/** Two connections, made again whenever they break; whoever comes more often than this is broken. */
const OPENINGS_A_MINUTE = 240;

export function isForLink({ url }: IncomingMessage): boolean {
  return url?.split("?")[0] === LINK_PATH;
}

export class LinkDoor {
  readonly #parts: LinkDoorParts;
  readonly #openings = new RateLimit(OPENINGS_A_MINUTE, () => performance.now());
  readonly #sockets: WebSocketServer;

  constructor(parts: LinkDoorParts) {
    this.#parts = parts;
    this.#sockets = new WebSocketServer({
      noServer: true,
      clientTracking: false,
      maxPayload: LINK_CHUNK_MAX,
      perMessageDeflate: false,
      autoPong: false,
      handleProtocols: () => LINK_SUBPROTOCOL,
    });
    this.#sockets.on("headers", (headers) => headers.push(`${HUB_HEADER}: ${parts.hubId}`));
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, connection: Connection): void {
    const { dispatcher, hubEnds, hubId } = this.#parts;
    if (hubEnds.aborted) {
      socket.destroy();
      return;
    }
    try {
      const admitted = this.#admit(request, connection);
      this.#sockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => this.#open(webSocket, admitted));
    } catch (error) {
      // Whoever is refused must know by whom: another hub's word ends nothing.
      refuseUpgrade(socket, dispatcher.explain(error, "host link"), { [HUB_HEADER]: hubId });
    }
  }

  #admit(request: IncomingMessage, connection: Connection): Admitted {
    const { authenticator, hosts, publicUrl } = this.#parts;
    authenticator.checkAddress(request, connection);
    refusePlain(request, publicUrl);
    const caller = authenticator.authenticate(request, connection);
    if (caller.role !== "host") {
      throw new AppError("forbidden", { role: caller.role, detail: `You are ${caller.role}; this door is for hosts` });
    }
    const hostId = hosts.hostOf(caller.tokenId);
    if (hostId === undefined) {
      const detail = "This token is of no enrolled host. Make a code at the hub: sidestick host invite";
      throw new AppError("forbidden", { role: "host", detail });
    }
    if (!this.#openings.admits(hostId)) throw new AppError("limit_reached", { limit: "openings of the link" });
    const offered = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((it) => it.trim());
    if (!offered.includes(LINK_SUBPROTOCOL)) {
      throw new AppError("invalid_request", { detail: `The subprotocol is ${LINK_SUBPROTOCOL}` });
    }
    return { caller, hostId, channel: channelOf(request) };
  }

  #open(socket: WebSocket, { caller, hostId, channel }: Admitted): void {
    const stream = streamOf(socket, LINK_CHUNK_MAX);
    const ended = AbortSignal.any([caller.revoked, this.#parts.hubEnds]);
    const end = (): unknown => stream.destroy();
    ended.addEventListener("abort", end, { once: true });
    stream.once("close", () => ended.removeEventListener("abort", end));
    if (ended.aborted) end();
    else this.#parts.remotes.offer(hostId, channel, stream);
  }
}

type Admitted = { readonly caller: Caller; readonly hostId: string; readonly channel: Channel };

function channelOf({ url = "" }: IncomingMessage): Channel {
  const [, channel] = /^[^?]*\?channel=(data|control)$/.exec(url) ?? [];
  if (channel === "data" || channel === "control") return channel;
  throw new AppError("invalid_request", { detail: "The query is channel=data or channel=control" });
}
