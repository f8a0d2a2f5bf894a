/** A WebSocket as a stream of bytes: where its messages end says nothing. What is written in one turn is one message. */
import type { Duplex } from "node:stream";
import { createWebSocketStream, type WebSocket } from "ws";

/** What may wait to be read by whoever pings: beyond that they are not answered. */
const PONG_BACKLOG_MAX = 4 * 1024 * 1024;

/** `mostBytes`: of one message. The socket has `autoPong: false`: pings are answered here. */
export function streamOf(socket: WebSocket, mostBytes: number): Duplex {
  // Whoever pings and doesn't read would have us keep all the answers.
  socket.on("ping", (data) => {
    if (socket.bufferedAmount < PONG_BACKLOG_MAX) socket.pong(data);
  });
  return createWebSocketStream(socket, {
    writev: (chunks, callback) => {
      const bytes = Buffer.concat(chunks.map((it) => it.chunk as Buffer));
      for (let at = 0; ; at += mostBytes) {
        const isLast = at + mostBytes >= bytes.length;
        socket.send(bytes.subarray(at, at + mostBytes), isLast ? (error) => callback(error ?? null) : () => undefined);
        if (isLast) return;
      }
    },
  });
}
