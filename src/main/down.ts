/**
 * `sidestick down`: ends the hub and the host of a data directory. Whom to tell is the kernel's word about their
 * sockets, never a number in a file that may be somebody else's by now. The hub goes first: it would start a host anew.
 */
import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDead, readStat } from "../host/terminal/probe/processes.ts";
import { openPeerReader, type PeerReader } from "../server/peer.ts";

export type EndState = "ended" | "absent" | "refused";

const ENDS_WITHIN_MS = 20_000;

export async function takeDown(dataDir: string): Promise<Record<"hub" | "host", EndState>> {
  const peerOf = await openPeerReader();
  const hub = await endListener(join(dataDir, "hub.sock"), peerOf);
  const host = await endListener(join(dataDir, "host", "link.sock"), peerOf);
  return { hub, host };
}

async function endListener(path: string, peerOf: PeerReader): Promise<EndState> {
  const pid = await listenerOf(path, peerOf);
  if (pid === undefined) return "absent";
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") return "refused";
  }
  for (const until = performance.now() + ENDS_WITHIN_MS; performance.now() < until; await sleep(50)) {
    if (!isAlive(pid)) return "ended";
  }
  return "refused";
}

async function listenerOf(path: string, peerOf: PeerReader): Promise<number | undefined> {
  const socket = connect(path);
  try {
    await once(socket, "connect");
    return peerOf(socket).pid;
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

/** In a container whose first process asks for nobody's end, what has ended is listed for ever. */
function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== undefined && !isDead(stat);
}
