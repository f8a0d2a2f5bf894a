/**
 * Frames that wait for their turn: those of one session keep their order, those of two don't wait for each other. A
 * viewer that sends faster than the sessions take is not read from, so the queue is as bounded as one read (STR-8).
 */
import type { WebSocket } from "ws";
import { Turns } from "../lib/turns.ts";

export class FrameQueue {
  readonly #socket: WebSocket;
  readonly #turns = new Turns();
  #waiting = 0;

  constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** `act` must not reject. */
  add(sessionId: string, act: () => Promise<void>): void {
    this.#waiting += 1;
    this.#socket.pause();
    void this.#turns.run(sessionId, act).finally(() => {
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#socket.resume();
    });
  }
}
