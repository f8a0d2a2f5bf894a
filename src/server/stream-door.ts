/** WebSocket openings at `/stream`: address check, credential, subprotocol; then a `Viewer` has the socket. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { type WebSocket, WebSocketServer } from "ws";
import { AppError } from "../protocol/errors.ts";
import { SUBPROTOCOL } from "../protocol/stream.ts";
import type { Authenticator, Connection } from "./authenticate.ts";
import type { Caller } from "./caller.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { refuseUpgrade } from "./responses.ts";
import type { StreamLimit } from "./stream-limit.ts";
import { Viewer, type ViewerParts } from "./viewer.ts";

/** A frame holds one input of at most 1 MiB, written as escapes at worst. */
const MAX_FRAME_BYTES = 8 * 1024 * 1024;

export type StreamDoorParts = ViewerParts & {
  readonly authenticator: Authenticator;
  readonly dispatcher: Dispatcher;
  readonly streams: StreamLimit;
  readonly hubEnds: AbortSignal;
};

export class StreamDoor {
  readonly #parts: StreamDoorParts;
  readonly #sockets: WebSocketServer;

  constructor(parts: StreamDoorParts) {
    this.#parts = parts;
    this.#sockets = new WebSocketServer({
      noServer: true,
      maxPayload: MAX_FRAME_BYTES,
      perMessageDeflate: false,
      // One frame a turn: a flood of tiny frames must not keep the hub from everything else.
      allowSynchronousEvents: false,
      // Answered by the viewer, which looks whether the peer reads the answers.
      autoPong: false,
      handleProtocols: () => SUBPROTOCOL,
    });
  }

  get viewers(): number {
    return this.#sockets.clients.size;
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, connection: Connection): void {
    if (this.#parts.hubEnds.aborted) {
      socket.destroy();
      return;
    }
    let caller: Caller;
    try {
      caller = this.#admit(request, connection);
    } catch (error) {
      refuseUpgrade(socket, this.#parts.dispatcher.explain(error, "stream"));
      return;
    }
    const release = this.#parts.streams.take(caller);
    socket.once("close", release);
    this.#sockets.handleUpgrade(request, socket, head, (webSocket: WebSocket) => {
      new Viewer(webSocket, caller, this.#parts).start(this.#parts.hubEnds);
    });
  }

  #admit(request: IncomingMessage, connection: Connection): Caller {
    const { authenticator, dispatcher } = this.#parts;
    authenticator.checkAddress(request, connection);
    if (request.url?.split("?")[0] !== "/stream")
      throw new AppError("not_found", { detail: "WebSockets are at /stream" });
    if (request.url !== "/stream") throw new AppError("invalid_request", { detail: "/stream takes no query" });
    const offered = request.headers["sec-websocket-protocol"];
    if (offered !== undefined && !offered.split(",").some((it) => it.trim() === SUBPROTOCOL)) {
      throw new AppError("invalid_request", { detail: `The subprotocol is ${SUBPROTOCOL}` });
    }
    const caller = authenticator.authenticateUpgrade(request, connection);
    dispatcher.admit("event.stream", caller);
    this.#parts.streams.check(caller);
    return caller;
  }
}
