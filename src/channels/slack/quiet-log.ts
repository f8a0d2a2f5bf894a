/**
 * What Slack's libraries say, for our log: at `debug` only, and without tokens or the address of the socket, whose query is a ticket
 * to our events. Their own `debug` lines hold whole messages of people, so those go nowhere. Rule CHN-92.
 */
import type { Logger as SlackLogger, LogLevel } from "@slack/web-api";
import { redactText } from "../../domain/redaction/redact-text.ts";
import type { Logger } from "../../lib/logger.ts";

const LINE_MAX = 300;

export function quietLog(logger: Logger, secrets: readonly string[], level: LogLevel): SlackLogger {
  const say = (...said: unknown[]): void => {
    logger.debug("slack library", { said: withoutSecrets(said.map(String).join(" "), secrets).slice(0, LINE_MAX) });
  };
  return {
    debug: () => undefined,
    info: say,
    warn: say,
    error: say,
    setLevel: () => undefined,
    getLevel: () => level,
    setName: () => undefined,
  };
}

function withoutSecrets(text: string, secrets: readonly string[]): string {
  const left = secrets.reduce((line, secret) => line.replaceAll(secret, "***"), text);
  return redactText(left.replaceAll(/wss?:\/\/\S+/gu, "wss://***"));
}
