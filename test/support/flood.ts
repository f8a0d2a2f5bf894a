/** Pings without end, of somebody who reads no answer. */
import type { Socket } from "node:net";
import type { WebSocket } from "ws";

/** Their answers are more than the kernel keeps for a connection, and 4 MiB. */
const PINGS = 160_000;
const AT_ONCE = 1_000;
const PAYLOAD = Buffer.alloc(125);

/** Reads again when `processed` resolves; answers which share of them was answered. */
export async function pingedUnread(socket: WebSocket, processed: () => Promise<void>): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let pongs = 0;
  socket.on("pong", (data) => (data.length === 0 ? resolve() : (pongs += 1)));
  socket.pause();
  // Framed once: to have each made by the library is most of the time.
  const { _socket: wire, _isServer: isServer } = socket as unknown as { _socket: Socket; _isServer: boolean };
  const frame = isServer ? [0x89, 125] : [0x89, 0x80 | 125, 0, 0, 0, 0];
  const chunk = Buffer.concat(Array.from({ length: AT_ONCE }, () => [Buffer.from(frame), PAYLOAD]).flat());
  for (let sent = 0; sent < PINGS; sent += AT_ONCE) wire.write(chunk);
  await processed();
  socket.resume();
  const last = setInterval(() => socket.ping(), 20);
  await promise;
  clearInterval(last);
  return pongs / PINGS;
}
