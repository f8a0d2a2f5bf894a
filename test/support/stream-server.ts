/**
 * The hub's end of `/stream`, in the hand of a test: tickets are given out and checked, every connection and frame is
 * kept, and the test decides what is answered and when a connection breaks.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type WebSocket, WebSocketServer } from "ws";
import {
  ClientFrame,
  encodeOutput,
  SUBPROTOCOL,
  TICKET_PROTOCOL_PREFIX,
  type ServerFrame,
} from "../../src/protocol/stream.ts";

export type ServedConnection = {
  readonly frames: ClientFrame[];
  readonly protocols: readonly string[];
  readonly url: string | undefined;
  tell(frame: ServerFrame): void;
  tellText(text: string): void;
  output(sessionId: string, cursor: number, bytes: Uint8Array): void;
  /** Breaks off, as a network does. */
  drop(): void;
};

export type StreamServer = AsyncDisposable & {
  readonly url: string;
  readonly connections: readonly ServedConnection[];
  ticketStatus: number;
};

export type Answer = (frame: ClientFrame, connection: ServedConnection, count: number) => void;

export async function startStreamServer(answer: Answer): Promise<StreamServer> {
  const connections: ServedConnection[] = [];
  const tickets = new Set<string>();
  let issued = 0;
  const sockets = new WebSocketServer({ noServer: true, handleProtocols: () => SUBPROTOCOL });
  const http = createServer((_request, response) => {
    const ticket = `t${issued}`;
    issued += 1;
    tickets.add(ticket);
    response.writeHead(server.ticketStatus, { "content-type": "application/json" });
    response.end(JSON.stringify({ ticket, expiresAt: "2026-01-01T00:00:00.000Z" }));
  });
  http.on("upgrade", (request, socket, head) => {
    const protocols = (request.headers["sec-websocket-protocol"] ?? "").split(",").map((it) => it.trim());
    const ticket = protocols.find((it) => it.startsWith(TICKET_PROTOCOL_PREFIX))?.slice(TICKET_PROTOCOL_PREFIX.length);
    if (ticket === undefined || !tickets.delete(ticket)) return socket.destroy();
    return sockets.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = served(webSocket, protocols, request.url);
      const count = connections.push(connection);
      webSocket.on("error", () => undefined);
      webSocket.on("message", (data: Buffer) => {
        const frame = ClientFrame.parse(JSON.parse(data.toString("utf8")));
        connection.frames.push(frame);
        answer(frame, connection, count);
      });
    });
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const server: StreamServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    connections,
    ticketStatus: 201,
    async [Symbol.asyncDispose]() {
      for (const client of sockets.clients) client.terminate();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}

function served(socket: WebSocket, protocols: readonly string[], url: string | undefined): ServedConnection {
  return {
    frames: [],
    protocols,
    url,
    tell: (frame) => socket.send(JSON.stringify(frame)),
    tellText: (text) => socket.send(text),
    output: (sessionId, cursor, bytes) => socket.send(encodeOutput(sessionId, cursor, bytes)),
    drop: () => socket.terminate(),
  };
}
