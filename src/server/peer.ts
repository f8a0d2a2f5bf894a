/**
 * Who is at the other end of a unix socket, by the kernel's word (SO_PEERCRED). Node has no call for it; `koffi`
 * reaches the C library.
 */
import type { Socket } from "node:net";

export type Peer = { readonly pid: number; readonly uid: number };
export type PeerReader = (socket: Socket) => Peer;

const SOL_SOCKET = 1;
const SO_PEERCRED = 17;

/** Throws where this can't be known; the operator's socket then stays shut. */
export async function openPeerReader(): Promise<PeerReader> {
  const { default: koffi } = await import("koffi");
  const getsockopt = koffi.load("libc.so.6").func("int getsockopt(int, int, int, _Out_ uint8_t *, _Inout_ int *)");
  return (socket) => {
    const { _handle: handle } = socket as unknown as { _handle?: { fd?: number } };
    const credentials = Buffer.alloc(12);
    const result: unknown = getsockopt(handle?.fd ?? -1, SOL_SOCKET, SO_PEERCRED, credentials, [credentials.length]);
    if (result !== 0) throw new Error("the kernel did not name the peer");
    return { pid: credentials.readInt32LE(0), uid: credentials.readUInt32LE(4) };
  };
}
