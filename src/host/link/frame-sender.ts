/**
 * Sends what sessions have spooled over one connection. A frame leaves in the turn in which it came; under load many
 * leave in one write, sessions take turns, and what the hub has not yet read stays in the spools.
 */
import type { Spool } from "../spool.ts";
import type { HubConnection } from "./hub-connection.ts";

const BACKLOG_MAX = 1024 * 1024;
const TURN_BYTES = 256 * 1024;

export class FrameSender {
  readonly #connection: HubConnection;
  readonly #waiting = new Set<Spool>();
  #scheduled = false;

  constructor(connection: HubConnection) {
    this.#connection = connection;
    connection.onDrain(() => this.#send());
  }

  wake(spool: Spool): void {
    this.#waiting.add(spool);
    if (this.#scheduled) return;
    this.#scheduled = true;
    queueMicrotask(() => {
      this.#scheduled = false;
      this.#send();
    });
  }

  #send(): void {
    while (this.#waiting.size > 0 && this.#connection.backlog < BACKLOG_MAX) {
      const [spool] = this.#waiting;
      if (spool === undefined) return;
      this.#waiting.delete(spool);
      const parts = this.#take(spool);
      if (parts.length === 0) continue;
      this.#connection.write(parts);
      this.#waiting.add(spool);
    }
  }

  #take(spool: Spool): Uint8Array[] {
    try {
      return spool.take(TURN_BYTES);
    } catch {
      // What can't be read from the disk now is not lost: the hub comes again and asks from where it stands.
      this.#connection.close();
      return [];
    }
  }
}
