/** Bytes as written into a TCP connection, and all that comes back until the other side closes, or says nothing for so long. */
import { connect } from "node:net";
import { DEADLINE_MS } from "./deadline.ts";

export function rawExchange(port: number, text: string, silentMs = DEADLINE_MS): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setTimeout(silentMs, () => socket.destroy());
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      ["ECONNRESET", "EPIPE"].includes(error.code ?? "") ? resolve(answer) : reject(error),
    );
    socket.on("close", () => resolve(answer));
  });
}
