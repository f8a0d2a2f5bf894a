/** `cat` of a large text until its last byte is at a consumer: the kernel's limit, the peers, and ours over WebSocket. */
import type { WebSocket } from "ws";
import { type Figure, figure, ratios } from "./figures.ts";
import { tmuxArguments } from "./control-mode.ts";
import { Product } from "./product.ts";
import { PROMPT, PYTHON, type Stage, type Text } from "./stage.ts";

const HEADER_BYTES = 25;
const ACKNOWLEDGE_EVERY = 256 * 1024;

export async function* throughput(stage: Stage): AsyncIterable<Figure> {
  const [rounds, megabytes] = stage.quick ? [2, 16] : [5, 64];
  const text = stage.text(megabytes);
  const small = stage.text(8);
  const contestants = peersOf(stage, text);
  const rates = new Map<string, number[]>();
  const note = (name: string, rate: number): void => void rates.set(name, [...(rates.get(name) ?? []), rate]);
  await using product = await Product.start(stage, "throughput");
  const limits: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const before = await contestants.limit();
    const ours = await watched(product, text);
    const after = await contestants.limit();
    // The limit right before and after: a machine that slows down meanwhile favours neither.
    limits.push((before + after) / 2);
    note("ours, to a WebSocket", ours);
    for (const [name, run] of Object.entries(contestants.peers)) note(name, await run(round));
    // It searches all it has again with every read: a larger text would only make it slower.
    note("pexpect, default (8 MB)", await pexpect(stage, "default", small));
  }
  const ours = rates.get("ours, to a WebSocket")!;
  yield figure("throughput: C read loop", "MB/s", limits);
  for (const [name, values] of rates) yield figure(`throughput: ${name}`, "MB/s", values);
  yield figure("throughput: ours / C read loop", "ratio", ratios(ours, limits), { atLeast: 0.6 });
  yield figure("throughput: ours / tmux -C", "ratio", ratios(ours, rates.get("tmux -C")!), { atLeast: 3 });
}

type Contestant = (round: number) => Promise<number>;

function peersOf(stage: Stage, text: Text): { limit: () => Promise<number>; peers: Record<string, Contestant> } {
  const cat = `cat ${text.path}`;
  const loop = async (mode: "pty" | "pipe" | "control", line: string, argv: readonly string[]): Promise<number> => {
    const given = [mode, String(text.bytes), PROMPT, line, "--", ...argv];
    const [nanoseconds = Number.NaN] = await stage.figures(stage.program("read-loop"), given);
    return rateOf(text, nanoseconds);
  };
  const tmux = async (round: number): Promise<number> => {
    const server = tmuxArguments(stage, `tmux-${round}`);
    try {
      const start = ["tmux", ...server, "-C", "new-session", "-x", "120", "-y", "40"];
      return await loop("control", `send-keys '${cat}' Enter`, start);
    } finally {
      await stage.run("tmux", [...server, "kill-server"]).catch(() => undefined);
    }
  };
  return {
    limit: () => loop("pty", cat, [stage.shell]),
    peers: {
      script: () => loop("pipe", cat, ["script", "-q", "-c", stage.shell, "/dev/null"]),
      dtach: (round) => {
        const socket = stage.path(`dtach-${round}`);
        stage.defer(() => stage.run("sh", ["-c", `test ! -S ${socket} || echo exit | dtach -p ${socket}`]));
        return loop("pty", cat, ["dtach", "-A", socket, "-E", "-z", stage.shell]);
      },
      "tmux -C": tmux,
      "pexpect, tuned": () => pexpect(stage, "tuned", text),
    },
  };
}

async function pexpect(stage: Stage, tuning: "default" | "tuned", text: Text): Promise<number> {
  const given = [stage.peer("pexpect_peer.py"), "throughput", tuning, text.path, String(text.bytes)];
  const [nanoseconds = Number.NaN] = await stage.figures(PYTHON, given);
  return rateOf(text, nanoseconds);
}

async function watched(product: Product, text: Text): Promise<number> {
  const { conversation_id, sessionId, cursor } = await product.terminal();
  const socket = await product.socket();
  socket.send(JSON.stringify({ type: "attach", sessionId, from: cursor, input: false }));
  const all = received(socket, sessionId, text.bytes);
  const from = performance.now();
  await product.call("pty.exec_block", { conversation_id, command: `cat ${text.path}` });
  const at = await all;
  socket.terminate();
  await product.close(sessionId);
  return rateOf(text, (at - from) * 1e6);
}

function received(socket: WebSocket, sessionId: string, expected: number): Promise<number> {
  return new Promise((resolve, reject) => {
    let count = 0;
    let acknowledged = 0;
    socket.on("close", () => reject(new Error(`the stream closed after ${count} bytes`)));
    socket.on("message", (data: Buffer, isBinary: boolean) => {
      if (!isBinary) return;
      count += data.length - HEADER_BYTES;
      if (count >= expected) resolve(performance.now());
      if (count - acknowledged < ACKNOWLEDGE_EVERY) return;
      acknowledged = count;
      const cursor = Number(data.readBigUInt64BE(17)) + data.length - HEADER_BYTES;
      socket.send(JSON.stringify({ type: "ack", sessionId, cursor }));
    });
  });
}

function rateOf(text: Text, nanoseconds: number): number {
  return text.bytes / 1e6 / (nanoseconds / 1e9);
}
