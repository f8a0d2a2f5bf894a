/** An open way to a host: bytes in both directions, whatever carries them. */
import { once } from "node:events";
import { createConnection } from "node:net";
import type { Duplex } from "node:stream";
import type { Channel } from "../../protocol/link.ts";

export type Wire = {
  readonly stream: Duplex;
  /** Called once, in the turn in which the wire is had. A chunk is the wire's again afterwards. */
  readonly listen: (heard: (chunk: Uint8Array) => void) => void;
};

/** Makes one, or waits until the host does. Rejects when there is none, or when it is given up. */
export type Connect = (channel: Channel, givenUp: AbortSignal) => Promise<Wire>;

const READ_BYTES = 256 * 1024;

/** Rejects with Node's own error (ENOENT, ECONNREFUSED) when nobody listens there. */
export function socketAt(path: string): Connect {
  return async () => {
    // One buffer for all reads: one for each would have the collector at work all the time under bulk output.
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    let hear: ((chunk: Uint8Array) => void) | undefined;
    const callback = (count: number): boolean => {
      hear?.(buffer.subarray(0, count));
      return true;
    };
    const stream = createConnection({ path, onread: { buffer, callback } });
    await once(stream, "connect");
    return { stream, listen: (heard) => (hear = heard) };
  };
}
