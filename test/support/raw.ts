/** Bytes as written into a TCP connection, and all that comes back until the other side closes. */
import { connect } from "node:net";

export function rawExchange(port: number, text: string, timeoutMs = 3000): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(text));
    let answer = "";
    socket.setTimeout(timeoutMs, () => socket.destroy());
    socket.on("data", (chunk) => (answer += chunk.toString("latin1")));
    socket.on("error", (error: NodeJS.ErrnoException) =>
      ["ECONNRESET", "EPIPE"].includes(error.code ?? "") ? resolve(answer) : reject(error),
    );
    socket.on("close", () => resolve(answer));
  });
}
