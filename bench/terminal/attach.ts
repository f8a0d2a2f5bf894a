/** Attach to a terminal that has printed 100 MB: from the request to the screen. */
import type { WebSocket } from "ws";
import { ServerFrame } from "../../src/protocol/stream.ts";
import { type Figure, figure } from "./figures.ts";
import { Product } from "./product.ts";
import type { Stage } from "./stage.ts";

const HISTORY_BYTES = 100_000_000;
const LIMIT_MS = 300;
const AGAIN = 10;

export async function* attach(stage: Stage): AsyncIterable<Figure> {
  const text = stage.text(stage.quick ? 16 : 64);
  const files = Array.from({ length: Math.ceil(HISTORY_BYTES / text.bytes) }, () => text.path);
  await using product = await Product.start(stage, "attach");
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < (stage.quick ? 1 : 3); round += 1) {
    const { conversation_id, sessionId } = await product.terminal();
    await product.call("pty.exec_block", { conversation_id, command: `cat ${files.join(" ")}`, wait_ms: 45_000 });
    first.push(await attached(product, sessionId));
    for (let i = 0; i < AGAIN; i += 1) again.push(await attached(product, sessionId));
    await product.close(sessionId);
  }
  yield figure("attach: 100 MB of history, first", "ms", first, { atMost: LIMIT_MS });
  yield figure("attach: 100 MB of history, again", "ms", again, { atMost: LIMIT_MS });
}

async function attached(product: Product, sessionId: string): Promise<number> {
  const socket = await product.socket();
  const shown = snapshotOn(socket);
  const from = performance.now();
  socket.send(JSON.stringify({ type: "attach", sessionId, from: "screen", input: false }));
  const at = await shown;
  socket.terminate();
  return at - from;
}

function snapshotOn(socket: WebSocket): Promise<number> {
  return new Promise((resolve, reject) => {
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (isBinary) return;
      const frame = ServerFrame.parse(JSON.parse(data.toString()));
      if (frame.type === "attached" && frame.snapshot) resolve(performance.now());
      else reject(new Error(`not a snapshot: ${JSON.stringify(frame)}`));
    });
  });
}
