/**
 * The socket on which Slack tells what people wrote and pressed. One connection at a time, and always a next one until it is closed:
 * at once when a good one ended, else later and later. The library's own way of reconnecting isn't used: it leaves a rejection
 * unhandled when Slack can't be reached, which ends the process. Rules CHN-79, CHN-88..CHN-90 in docs/spec/channels.md.
 */
import { setTimeout as pause } from "node:timers/promises";
import type { SocketModeClient, SocketModeOptions } from "@slack/socket-mode";
import { ChannelFailed, type ChannelHealth } from "../../hub/channel-port.ts";
import type { Logger } from "../../lib/logger.ts";
import { failureOf } from "./failures.ts";
import type { Envelope } from "./incoming.ts";

export type ConnectionOptions = {
  readonly socket: Pick<SocketModeOptions, "appToken" | "logger" | "clientOptions">;
  readonly logger: Logger;
  readonly receive: (envelope: Envelope) => void;
  /** Before the second try; doubled for each further one. */
  readonly retryMs: number;
  /** Ends what is under way. */
  readonly ending: AbortSignal;
};

type Live = { readonly client: SocketModeClient; readonly over: Promise<void>; readonly since: number };
type Delivered = Envelope & { readonly ack: () => Promise<void> };

const RETRY_MAX_MS = 60_000;
/** A connection that ends sooner than this counts as a failed try: Slack may be sending us away again and again. */
const GOOD_MS = 10_000;
const HELLO_MS = 20_000;
/** How long the other side has to agree that a connection is closed. */
const GOODBYE_MS = 1_000;
const OPENING = "apps.connections.open";

export class SlackConnection {
  readonly #options: ConnectionOptions;
  #health: ChannelHealth = { state: "connecting" };
  #client: SocketModeClient | undefined;
  #kept: Promise<void> = Promise.resolve();

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get health(): ChannelHealth {
    return this.#health;
  }

  /** Resolves when Slack said hello. */
  async open(): Promise<void> {
    const first = await this.#connect();
    this.#kept = this.#keep(first);
  }

  /** After the signal for the end was given. */
  async close(): Promise<void> {
    if (this.#client !== undefined) await goodbye(this.#client);
    await this.#kept;
  }

  async #keep(first: Live): Promise<void> {
    let live: Live | undefined = first;
    let failures = 0;
    let waitMs = 0;
    for (;;) {
      if (live !== undefined) {
        await live.over;
        failures = performance.now() - live.since < GOOD_MS ? failures : 0;
      }
      await this.#pause(Math.max(waitMs, this.#backOff(failures)));
      if (this.#options.ending.aborted) return;
      failures += 1;
      waitMs = 0;
      live = await this.#connect().catch((error: unknown) => {
        waitMs = error instanceof ChannelFailed ? (error.retryAfterMs ?? 0) : 0;
        return undefined;
      });
    }
  }

  async #connect(): Promise<Live> {
    const { SocketModeClient } = await import("@slack/socket-mode");
    const client = new SocketModeClient({ ...this.#options.socket, autoReconnectEnabled: false });
    const over = new Promise<void>((resolve) => client.once("disconnected", () => resolve()));
    client.on("slack_event", (delivered: Delivered) => this.#take(delivered));
    client.on("ws_message", (data: unknown) => this.#watch(client, data));
    client.once("disconnected", () => this.#down("Slack's socket is closed"));
    this.#client = client;
    try {
      await this.#hello(client);
    } catch (error) {
      await goodbye(client);
      throw this.#failed(error);
    }
    this.#health = { state: "up" };
    this.#options.logger.info("slack connected");
    return { client, over, since: performance.now() };
  }

  async #hello(client: SocketModeClient): Promise<void> {
    const timer = setTimeout(() => void goodbye(client), HELLO_MS);
    try {
      await client.start();
    } finally {
      clearTimeout(timer);
    }
    // Told to end between the address and the socket, the library opens the socket all the same.
    this.#options.ending.throwIfAborted();
  }

  /** First of all: Slack gives three seconds, and what comes of it may take longer. */
  #take({ ack, type, body }: Delivered): void {
    ack().catch(() => this.#options.logger.debug("slack delivery not acknowledged; it will come again"));
    this.#options.receive({ type, body });
  }

  /** The library says goodbye when Slack asks for it, and would wait half a minute for the answer. */
  #watch(client: SocketModeClient, data: unknown): void {
    if (typeof data !== "string" || !/"type"\s*:\s*"disconnect"/u.test(data.slice(0, 200))) return;
    this.#down("Slack asked to connect anew");
    const impatient = setTimeout(() => void client.disconnect(), GOODBYE_MS);
    client.once("disconnected", () => clearTimeout(impatient));
  }

  #down(detail: string): void {
    if (this.#health.state === "up") this.#options.logger.info("slack disconnected", { detail });
    if (this.#health.state !== "failed") this.#health = { state: "connecting", detail };
  }

  #failed(error: unknown): ChannelFailed {
    const { failed, refused } = failureOf(OPENING, error ?? new ChannelFailed("Slack closed the socket", "later"));
    if (!this.#options.ending.aborted) this.#options.logger.warn("slack connection failed", { detail: failed.message });
    this.#health = { state: refused ? "failed" : "connecting", detail: failed.message };
    return failed;
  }

  #backOff(failures: number): number {
    if (failures === 0) return 0;
    const fullMs = Math.min(RETRY_MAX_MS, this.#options.retryMs * 2 ** Math.min(failures - 1, 20));
    return fullMs * (0.5 + Math.random() / 2);
  }

  async #pause(ms: number): Promise<void> {
    await pause(ms, undefined, { signal: this.#options.ending, ref: false }).catch(() => undefined);
  }
}

/** Asked a second time, the library no longer waits for the other side. */
async function goodbye(client: SocketModeClient): Promise<void> {
  const impatient = setTimeout(() => void client.disconnect(), GOODBYE_MS);
  try {
    await client.disconnect();
  } finally {
    clearTimeout(impatient);
  }
}
