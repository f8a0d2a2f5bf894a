/**
 * The two places where the hub listens: TCP on loopback, where the credential alone counts, and the operator's unix
 * socket, where the kernel says who calls (SEC-14, SEC-15).
 */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Connection } from "./authenticate.ts";
import { AppError } from "../protocol/errors.ts";
import type { Peer, PeerReader } from "./peer.ts";
import { sendProblem } from "./responses.ts";

// An import makes a copy of all that the module exports, and so loads the client behind its WebSocket: a tenth of a start.
const { createServer } = process.getBuiltinModule("node:http");

export type Doors = {
  readonly request: (request: IncomingMessage, response: ServerResponse, connection: Connection) => Promise<void>;
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, connection: Connection) => void;
};

export const LOOPBACK = "127.0.0.1";

const MAX_CONNECTIONS = 4096;
/** On one connection. */
const MAX_UNANSWERED = 16;
const INSIDER =
  "The operator's socket doesn't serve what runs inside a session, a guard or a container. Use a terminal of your own.";

/** A place that listens. What arrives before its doors are open waits: the port is known only once it is ours. */
export class Listener {
  readonly server: Server;
  /** WebSockets too, which the server itself forgets once they are upgraded. */
  readonly #sockets = new Set<Socket>();
  readonly #unanswered = new WeakMap<Socket, number>();
  readonly #insiders = new WeakSet<Socket>();
  readonly #doors = Promise.withResolvers<{ readonly doors: Doors; readonly connection: Connection }>();

  constructor() {
    this.server = newServer();
    this.server.maxConnections = MAX_CONNECTIONS;
    this.server.on("request", (request, response) => {
      if (this.#isFlooding(request.socket, response)) return;
      if (this.#insiders.has(request.socket)) {
        sendProblem(response, new AppError("forbidden", { detail: INSIDER }));
        return;
      }
      void this.#doors.promise.then(({ doors, connection }) => doors.request(request, response, connection));
    });
    this.server.on("upgrade", (request, socket, head) => {
      socket.on("error", () => socket.destroy());
      if (this.#insiders.has(request.socket)) {
        socket.destroy();
        return;
      }
      void this.#doors.promise.then(({ doors, connection }) => doors.upgrade(request, socket, head, connection));
    });
    this.server.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    this.server.on("clientError", (_error, socket) => {
      if (socket.writable) socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
    });
  }

  /** Requests sent ahead of their answers are all handled before anybody else's turn. */
  #isFlooding(socket: Socket, response: ServerResponse): boolean {
    const unanswered = (this.#unanswered.get(socket) ?? 0) + 1;
    this.#unanswered.set(socket, unanswered);
    response.once("close", () => this.#unanswered.set(socket, (this.#unanswered.get(socket) ?? 1) - 1));
    if (unanswered <= MAX_UNANSWERED) return false;
    socket.destroy();
    return true;
  }

  /** Whoever is at this socket is told why, and gets nothing else. */
  refuse(socket: Socket): void {
    this.#insiders.add(socket);
  }

  open(doors: Doors, connection: Connection): void {
    this.#doors.resolve({ doors, connection });
  }

  async close(): Promise<void> {
    const closed = once(this.server, "close");
    this.server.close();
    this.server.closeIdleConnections();
    // Whoever is still being answered gets a moment, then the line is cut.
    const cut = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, 2000);
    await closed;
    clearTimeout(cut);
  }
}

/** Rejects with Node's own error (EADDRINUSE, EACCES) when the port can't be had. */
export async function listenOnLoopback(port: number): Promise<Listener> {
  const listener = new Listener();
  listener.server.listen({ host: LOOPBACK, port, exclusive: true });
  await once(listener.server, "listening");
  return listener;
}

export type OperatorSocket = {
  readonly path: string;
  readonly peerOf: PeerReader;
  readonly ownerUid: number;
  /** Whether a process runs inside a session, or can't be told not to. */
  readonly isInside: (pid: number) => boolean;
};

/** Only for whoever holds the data directory's lock: a socket file left behind by a dead hub is removed. */
export async function listenForOperator({ path, peerOf, ownerUid, isInside }: OperatorSocket): Promise<Listener> {
  await rm(path, { force: true });
  const listener = new Listener();
  listener.server.on("connection", (socket: Socket) => {
    const peer = peerAt(socket, peerOf);
    if (peer?.uid !== ownerUid) socket.destroy();
    // An agent's shell has the owner's uid too: what runs in a session must not make itself an operator.
    else if (isInside(peer.pid)) listener.refuse(socket);
  });
  listener.server.listen(path);
  await once(listener.server, "listening");
  await chmod(path, 0o600);
  return listener;
}

function newServer(): Server {
  return createServer({
    headersTimeout: 10_000,
    requestTimeout: 60_000,
    keepAliveTimeout: 65_000,
    requireHostHeader: false,
    // Two Host or Authorization headers must be seen as two, not joined.
    joinDuplicateHeaders: false,
  });
}

function peerAt(socket: Socket, peerOf: PeerReader): Peer | undefined {
  try {
    return peerOf(socket);
  } catch {
    return undefined;
  }
}
