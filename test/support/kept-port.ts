/** Ports that are opened later, or again and again. */
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";

const LOWEST = 10_000;

/** Free, and below those that the system gives to connections: it stays free while nobody listens there. */
export async function keptPort(): Promise<number> {
  const [first = ""] = (await readFile("/proc/sys/net/ipv4/ip_local_port_range", "utf8")).split(/\s/);
  for (;;) {
    const port = randomInt(LOWEST, Number(first));
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
