/** WebSockets through the operator's unix socket, for the SDK. */
import { connect } from "node:net";
import { WebSocket } from "ws";
import type { ClientOptions } from "../client/sidestick.ts";

export function webSocketThrough(socketPath: string): NonNullable<ClientOptions["WebSocket"]> {
  return class extends WebSocket {
    constructor(url: string, protocols: string[]) {
      // Not `ws+unix:`, which ends the path at a colon.
      super(url, protocols, { createConnection: () => connect(socketPath), perMessageDeflate: false });
      // The listener of the SDK comes later; an error before it must not end the process.
      this.on("error", () => undefined);
    }
  } as NonNullable<ClientOptions["WebSocket"]>;
}
