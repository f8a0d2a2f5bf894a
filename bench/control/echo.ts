/** What a message there and back takes on this machine just now: a unix socket between two processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ECHO = `require("net").createServer((socket) => socket.pipe(socket)).listen(process.argv[1], () => console.log("up"))`;

let other: { readonly child: ChildProcess; readonly socket: Socket } | undefined;

/** Milliseconds, one for each. */
export async function echoes(count: number): Promise<number[]> {
  other ??= await start();
  const taken: number[] = [];
  for (let at = 0; at < count; at += 1) {
    const began = performance.now();
    other.socket.write("x");
    await once(other.socket, "data");
    taken.push(performance.now() - began);
  }
  return taken;
}

export function endEcho(): void {
  other?.socket.destroy();
  other?.child.kill("SIGKILL");
  other = undefined;
}

async function start(): Promise<{ readonly child: ChildProcess; readonly socket: Socket }> {
  const path = join(tmpdir(), `ssb-echo-${process.pid}`);
  const child = spawn(process.execPath, ["-e", ECHO, path], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  const socket = createConnection(path);
  await once(socket, "connect");
  return { child, socket };
}
