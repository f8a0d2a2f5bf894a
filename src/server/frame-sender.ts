/** Sends frames no faster than the socket takes them: beyond a bound, sending waits. */
import type { WebSocket } from "ws";
import { type AppError, problemOf } from "../protocol/errors.ts";
import type { ServerFrame } from "../protocol/stream.ts";

const SOCKET_BUFFER_BYTES = 1024 * 1024;

export class FrameSender {
  readonly #socket: WebSocket;
  #waited = false;
  #told = false;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  tell(frame: ServerFrame): Promise<void> {
    return this.push(JSON.stringify(frame));
  }

  tellError(error: AppError): Promise<void> {
    const { type: _type, ...problem } = problemOf(error);
    return this.tell({ type: "error", ...problem });
  }

  /** Resolves when the socket has room again. */
  push(data: string | Uint8Array): Promise<void> {
    return new Promise((resolve) => {
      if (this.#socket.readyState !== this.#socket.OPEN) return resolve();
      const full = this.#socket.bufferedAmount >= SOCKET_BUFFER_BYTES;
      if (full) this.#waited = true;
      this.#socket.send(data, () => resolve());
      if (!full) resolve();
      return undefined;
    });
  }

  /** True once for each time that the socket held a reader up until it was behind. */
  tookLong(behind: boolean): boolean {
    if (!behind) this.#told = false;
    const tell = behind && this.#waited && !this.#told;
    this.#waited = false;
    if (tell) this.#told = true;
    return tell;
  }
}
