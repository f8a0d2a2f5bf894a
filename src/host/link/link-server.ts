/** Where hubs of this machine come: a unix socket for its owner alone, and not for what runs in a session (HST-2, HST-22). */
import { once } from "node:events";
import { chmod, rm } from "node:fs/promises";
import { createServer, type Socket } from "node:net";
import type { Logger } from "../../lib/logger.ts";
import type { WayToHub } from "./hub-seat.ts";

export type Peer = { readonly pid: number; readonly uid: number };

export type LinkServerOptions = {
  readonly path: string;
  /** Who is at the other end, by the kernel's word. */
  readonly peerOf: (socket: Socket) => Peer;
  readonly logger: Logger;
};

const CONNECTIONS_MAX = 16;

/** Only for whoever holds the lock of this host: a socket that a dead one left behind is removed. */
export function listenForHubs({ path, peerOf, logger }: LinkServerOptions): WayToHub {
  return async (seat, isInside) => {
    await rm(path, { force: true });
    const server = createServer({ noDelay: true }, (socket) => {
      const refusal = refusalOf(() => peerOf(socket), isInside);
      if (refusal === undefined) return seat.accept(socket);
      logger.warn(refusal);
      socket.destroy();
    });
    server.maxConnections = CONNECTIONS_MAX;
    server.listen(path);
    await once(server, "listening");
    await chmod(path, 0o600);
    return async () => {
      const closed = once(server, "close");
      server.close();
      seat.close();
      await closed;
    };
  };
}

function refusalOf(peerOf: () => Peer, isInside: (pid: number) => boolean): string | undefined {
  try {
    const { pid, uid } = peerOf();
    if (uid !== process.geteuid?.()) return "a connection of another user was refused";
    // What runs in a session is what a hub governs: it must not become one.
    return isInside(pid) ? "a connection from inside a session was refused" : undefined;
  } catch {
    return "a connection of nobody knows whom was refused";
  }
}
