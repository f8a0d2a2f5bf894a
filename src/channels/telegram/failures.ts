/**
 * What went wrong at Telegram, in words that may be shown and logged. The address of every call holds the token and errors of
 * libraries hold the address, so nothing of them is passed on but codes; Telegram's own words may quote what we sent, so quotes go.
 */
import type { GrammyError, HttpError } from "grammy";
import { ChannelFailed } from "../../hub/channel-port.ts";

type Failure = Pick<GrammyError, "method" | "error_code" | "description" | "parameters">;

export class TelegramFailed extends ChannelFailed {
  /** Of Telegram's answer; none when there was none. */
  readonly status: number | undefined;
  readonly description: string;

  constructor(
    message: string,
    again: { readonly again: "later" | "never"; readonly retryAfterMs?: number },
    from?: Failure,
  ) {
    super(message, again.again, again.retryAfterMs);
    this.status = from?.error_code;
    this.description = from === undefined ? "" : withoutQuotes(from.description);
  }
}

export const BAD_TOKEN = "Telegram doesn't know this token: take a new one from @BotFather and add the channel again";
const CONFLICT = "another program reads this bot's messages: end it, or use a bot of its own here";
const WEBHOOK = "this bot's messages go to a webhook: remove it (deleteWebhook), or use a bot of its own here";

/** Telegram answered, and it is a refusal. */
export function refused(failure: Failure): TelegramFailed {
  const { method, error_code: status, description, parameters } = failure;
  if (status === 429) {
    const seconds = parameters.retry_after ?? 1;
    return new TelegramFailed(
      `Telegram asks to wait for ${seconds} s`,
      { again: "later", retryAfterMs: seconds * 1000 },
      failure,
    );
  }
  if (status >= 500) return new TelegramFailed(`Telegram has a fault (${status})`, { again: "later" }, failure);
  // A token of the wrong form is "Not Found": it is part of the address.
  if (status === 401 || status === 404) return new TelegramFailed(BAD_TOKEN, { again: "never" }, failure);
  if (status === 409) {
    return new TelegramFailed(/webhook/i.test(description) ? WEBHOOK : CONFLICT, { again: "later" }, failure);
  }
  const words = withoutQuotes(description);
  return new TelegramFailed(`Telegram refused ${method}: ${words}`, { again: "never" }, failure);
}

/** There was no answer, or none that can be read. */
export function unreached({ error }: Pick<HttpError, "error">, timedOut: boolean): TelegramFailed {
  if (timedOut) return new TelegramFailed("Telegram doesn't answer in time", { again: "later" });
  const code = (error as { readonly code?: unknown } | undefined)?.code;
  const named = typeof code === "string" && /^[A-Z_]+$/.test(code) ? ` (${code})` : "";
  return new TelegramFailed(`Telegram can't be reached${named}`, { again: "later" });
}

function withoutQuotes(description: string): string {
  return description.replaceAll(/(["']).*\1/gs, "…").slice(0, 200);
}
