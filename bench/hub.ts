/** The hub as people meet it: how soon it is ready, how soon a revoked token's streams are gone. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { SidestickClient } from "../src/client/sidestick.ts";
import { socketFetch } from "../src/cli/socket-fetch.ts";
import { type Measure, percentile } from "./measure.ts";

const STREAMS = 50;
const ROUNDS = 20;

export async function* run(): AsyncIterable<Measure> {
  const dataDir = mkdtempSync(join(tmpdir(), "sidestick-bench-"));
  try {
    const starts: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const hub = await start(dataDir);
      starts.push(hub.readyMs);
      await hub.stop();
    }
    yield { name: "start to ready, median", value: percentile(starts, 0.5), unit: "ms", atMost: 2000 };
    const hub = await start(dataDir);
    const closes: number[] = [];
    for (let i = 0; i < ROUNDS; i += 1) closes.push(...(await revoke(hub.url, dataDir)));
    await hub.stop();
    yield { name: `revoke to closed, ${STREAMS} streams, median`, value: percentile(closes, 0.5), unit: "ms" };
    yield {
      name: `revoke to closed, ${STREAMS} streams, largest`,
      value: Math.max(...closes),
      unit: "ms",
      atMost: 250,
    };
  } finally {
    rmSync(dataDir, { recursive: true });
  }
}

async function start(dataDir: string): Promise<{ url: string; readyMs: number; stop: () => Promise<void> }> {
  const from = performance.now();
  const script = join(import.meta.dirname, "..", "test", "composition", "hub.ts");
  const child = spawn(process.execPath, [script, "--port", "0", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_STATE_HOME: dataDir },
  });
  let url = "";
  for await (const line of createInterface({ input: child.stdout })) {
    url ||= /Address +(\S+)/.exec(line)?.[1] ?? "";
    if (line.startsWith("Ready")) break;
  }
  const stop = async (): Promise<void> => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  };
  return { url, readyMs: performance.now() - from, stop };
}

/** Milliseconds from asking until each stream is closed. */
async function revoke(url: string, dataDir: string): Promise<number[]> {
  const operator = new SidestickClient({ url: "http://hub", fetch: socketFetch(join(dataDir, "hub.sock")) });
  const { token, tokenId } = await operator.token.create({ role: "viewer", name: "bench" });
  const headers = { authorization: `Bearer ${token}` };
  const sockets = Array.from(
    { length: STREAMS },
    () => new WebSocket(`${url.replace("http", "ws")}/stream`, { headers }),
  );
  await Promise.all(sockets.map((socket) => once(socket, "open")));
  const closed = sockets.map((socket) => once(socket, "close").then(() => performance.now()));
  const from = performance.now();
  await operator.token.revoke({ tokenId });
  return (await Promise.all(closed)).map((at) => at - from);
}
