/** Connections that a host has made and that its link has not yet taken: one of each channel, the newest. */
import type { Duplex } from "node:stream";
import type { Channel } from "../../protocol/link.ts";
import type { Connect, Wire } from "./wire.ts";

export class WaitingWires {
  readonly #streams = new Map<Channel, Duplex>();
  readonly #takers = new Map<Channel, (stream: Duplex) => void>();

  offer(channel: Channel, stream: Duplex): void {
    // Until somebody listens to it.
    stream.on("error", () => stream.destroy());
    const taker = this.#takers.get(channel);
    if (taker !== undefined) return taker(stream);
    this.#streams.get(channel)?.destroy();
    this.#streams.set(channel, stream);
    stream.once("close", () => this.#streams.get(channel) === stream && this.#streams.delete(channel));
  }

  readonly take: Connect = async (channel, givenUp) => {
    const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
    const end = (): void => reject(new Error("nobody waits for the host any more"));
    givenUp.addEventListener("abort", end, { once: true });
    const waiting = this.#streams.get(channel);
    this.#streams.delete(channel);
    if (givenUp.aborted) end();
    else if (waiting !== undefined) resolve(waiting);
    else this.#takers.set(channel, resolve);
    try {
      return wireOf(await promise);
    } finally {
      this.#takers.delete(channel);
      givenUp.removeEventListener("abort", end);
    }
  };

  close(): void {
    for (const stream of this.#streams.values()) stream.destroy();
  }
}

function wireOf(stream: Duplex): Wire {
  return { stream, listen: (heard) => stream.on("data", heard) };
}
