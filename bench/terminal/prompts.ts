/** A program asks; a subscriber of events is told. The program notes when it is about to print its question. */
import type { WebSocket } from "ws";
import { ServerFrame } from "../../src/protocol/stream.ts";
import { percentile } from "../measure.ts";
import { type Figure, figure, milliseconds } from "./figures.ts";
import { since } from "./matches.ts";
import { Product } from "./product.ts";
import { PYTHON, type Stage } from "./stage.ts";

const LIMIT_MS = 100;

export async function* prompts(stage: Stage): AsyncIterable<Figure> {
  const count = stage.quick ? 10 : 60;
  await using product = await Product.start(stage, "prompts");
  const { conversation_id, sessionId } = await product.terminal();
  const socket = await product.socket();
  const asked = stage.path("asked");
  const command = `${PYTHON} ${stage.peer("asker.py")} ${count} ${asked}`;
  const questions = questionsOn(socket);
  socket.send(JSON.stringify({ type: "subscribe", sessionId, types: ["prompt"] }));
  await product.call("pty.exec_interactive", { conversation_id, command });
  const told: bigint[] = [];
  for (let i = 0; i < count; i += 1) {
    told.push(await questions.next());
    await product.call("pty.send", { conversation_id, data: "\r" });
  }
  await product.call("pty.wait_for", { conversation_id, match: "PROMPT" });
  socket.terminate();
  const samples = milliseconds(since(asked, told));
  yield figure("prompt: printed to event", "ms", samples);
  yield { name: "prompt: printed to event, p95", value: percentile(samples, 0.95), unit: "ms", atMost: LIMIT_MS };
}

/** When each question of a program was told, one after the other. */
function questionsOn(socket: WebSocket): { readonly next: () => Promise<bigint> } {
  const told: bigint[] = [];
  let waiting: ((at: bigint) => void) | undefined;
  socket.on("message", (data: Buffer) => {
    const at = process.hrtime.bigint();
    const frame = ServerFrame.parse(JSON.parse(data.toString()));
    if (frame.type !== "event" || frame.event.payload["kind"] === "shell") return;
    if (waiting === undefined) told.push(at);
    else waiting(at);
    waiting = undefined;
  });
  const next = (): Promise<bigint> =>
    new Promise((resolve) => {
      const at = told.shift();
      if (at === undefined) waiting = resolve;
      else resolve(at);
    });
  return { next };
}
