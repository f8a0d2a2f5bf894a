/**
 * One WebSocket from opening to end: heartbeat, and an end that is noticed. A dead network closes nothing; silence
 * does (SDK-19 in docs/spec/client.md).
 */
import type { ClientFrameInput } from "../protocol/stream.ts";
import type { Timing } from "./retry.ts";

export type SocketEvent = { readonly data?: unknown };

/** The part of the standard WebSocket that is used here. */
export type Socket = {
  binaryType: string;
  send(data: string): void;
  close(code?: number): void;
  addEventListener(type: "open" | "message" | "close" | "error", listener: (event: SocketEvent) => void): void;
};

export type SocketConstructor = new (url: string, protocols: string[]) => Socket;

export type SocketListener = {
  onOpen(send: (frame: ClientFrameInput) => void): void;
  onMessage(data: string | ArrayBuffer): void;
};

/** Resolves when the connection is over, for whatever reason; nothing reaches the listener after that. */
export function converse(socket: Socket, listener: SocketListener, timing: Timing, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let over = false;
  const send = (frame: ClientFrameInput): void => {
    if (!over) socket.send(JSON.stringify(frame));
  };
  const end = (): void => {
    if (over) return;
    over = true;
    clearTimeout(silence);
    clearInterval(heartbeat);
    signal.removeEventListener("abort", end);
    // Closing a dead connection takes as long as TCP likes; nobody waits for it.
    socket.close();
    resolve();
  };
  let silence = setTimeout(end, timing.deadAfterMs);
  let heartbeat: ReturnType<typeof setInterval> | undefined;

  socket.binaryType = "arraybuffer";
  socket.addEventListener("open", () => {
    if (over) return;
    heartbeat = setInterval(() => send({ type: "ping" }), timing.heartbeatMs);
    listener.onOpen(send);
  });
  socket.addEventListener("message", ({ data }) => {
    if (over) return;
    clearTimeout(silence);
    silence = setTimeout(end, timing.deadAfterMs);
    if (typeof data === "string" || data instanceof ArrayBuffer) listener.onMessage(data);
  });
  socket.addEventListener("close", end);
  socket.addEventListener("error", end);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  return promise;
}
