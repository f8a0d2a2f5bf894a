import { LogLevel } from "@slack/web-api";
import { expect, test } from "vitest";
import { createLogger } from "../../lib/logger.ts";
import { quietLog } from "./quiet-log.ts";

test("[CHN-92] a library's line is told without tokens of any shape and without the socket's address", () => {
  const lines: string[] = [];
  const logger = createLogger("debug", (line) => void lines.push(line));
  const log = quietLog(logger, ["a token of no known shape"], LogLevel.ERROR);
  log.debug("whole messages of people");
  log.warn("http request failed", new Error("a token of no known shape"), "xoxb-123456789012-AbCdEfGhIjKlMnOp");
  log.error(`WebSocket wss://wss-primary.slack.com/link/?ticket=abc&app_id=def closed ${"x".repeat(1_000)}`);

  const [warned = "", erred = "", ...more] = lines.map((line) => String(JSON.parse(line).said));
  expect(warned).toBe("http request failed Error: *** xoxb-*****************************");
  expect(erred.slice(0, 40)).toBe("WebSocket wss://*** closed xxxxxxxxxxxxx");
  expect(erred).toHaveLength(300);
  expect(more).toEqual([]);
});
