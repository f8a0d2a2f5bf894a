/** One channel while the hub runs: started, and started again until its platform answers. What is told of it holds no token. */
import type { Logger } from "../../lib/logger.ts";
import { startTimer } from "../../lib/long-timer.ts";
import { type Channel, ChannelFailed, type ChannelHealth, type Receive } from "../channel-port.ts";
import type { ChannelConfig } from "../ports.ts";

export type LiveChannelParts = {
  readonly receive: Receive;
  readonly logger: Logger;
  /** Its platform answered: what waits for it can go. */
  readonly onUp: () => void;
};

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 60_000;

export class LiveChannel {
  readonly channel: Channel;
  readonly #config: ChannelConfig;
  readonly #receive: Receive;
  readonly #logger: Logger;
  /** As people know it. */
  bot: string | undefined;
  #failure: ChannelHealth | undefined;
  lastError: string | undefined;
  #timer: Disposable | undefined;
  #closed = false;

  readonly #onUp: () => void;

  constructor(channel: Channel, config: ChannelConfig, parts: LiveChannelParts) {
    this.channel = channel;
    this.#config = config;
    this.#receive = parts.receive;
    this.#logger = parts.logger;
    this.#onUp = parts.onUp;
  }

  get health(): ChannelHealth {
    const { state, detail } = this.#failure ?? this.channel.health;
    return detail === undefined ? { state } : { state, detail: this.#scrubbed(detail) };
  }

  /** Rejects when the platform refuses us or can't be reached; the message holds no token. */
  async start(): Promise<string> {
    try {
      this.bot = await this.channel.start((incoming) => this.#receive(incoming));
      this.#failure = undefined;
      this.#onUp();
      return this.bot;
    } catch (error) {
      const again = error instanceof ChannelFailed ? error.again : "never";
      const detail = this.#scrubbed(error instanceof Error ? error.message : String(error));
      this.lastError = detail;
      this.#failure = { state: again === "later" ? "connecting" : "failed", detail };
      throw new ChannelFailed(detail, again, error instanceof ChannelFailed ? error.retryAfterMs : undefined);
    }
  }

  /** In the background, as long as it may help. */
  startSurely(round = 0): void {
    this.start().catch((error: unknown) => {
      const { message, again, retryAfterMs } = error as ChannelFailed;
      this.#logger.warn("a channel could not be started", { channel: this.#config.name, problem: message, again });
      if (again === "never" || this.#closed) return;
      const waitMs = Math.min(retryAfterMs ?? FIRST_WAIT_MS * 2 ** Math.min(round, 6), LONGEST_WAIT_MS);
      this.#timer = startTimer(waitMs, () => this.startSurely(round + 1));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#timer?.[Symbol.dispose]();
    await this.channel.close().catch((error: unknown) => {
      const problem = this.#scrubbed(error instanceof Error ? error.message : String(error));
      this.#logger.warn("a channel could not be closed", { channel: this.#config.name, problem });
    });
  }

  /** Adapters promise it; a token that got out can't be taken back. */
  #scrubbed(text: string): string {
    const { token, appToken } = this.#config;
    return [token, appToken].reduce<string>(
      (it, secret) => (secret === undefined || secret === "" ? it : it.replaceAll(secret, () => "[token]")),
      text,
    );
  }
}
