/** What a failed call of Slack means for whoever wanted it. No message holds more than names of methods and codes. Rules CHN-85..CHN-87. */
import type { WebAPIHTTPError, WebAPIPlatformError, WebAPIRateLimitedError } from "@slack/web-api";
import { ChannelFailed } from "../../hub/channel-port.ts";

export type SlackFailure = {
  readonly failed: ChannelFailed;
  /** Slack's own word for it. */
  readonly code?: string | undefined;
  /** Nothing will work until somebody gives us another token. */
  readonly refused: boolean;
};

/** The token is no longer worth anything, or never was. */
const REFUSED = new Set([
  "invalid_auth",
  "not_authed",
  "account_inactive",
  "token_revoked",
  "token_expired",
  "user_removed_from_team",
  "team_disabled",
  "not_allowed_token_type",
]);
/** Slack's own trouble. Any other word of Slack says that the same will be refused again. */
const PASSING = new Set([
  "ratelimited",
  "rate_limited",
  "internal_error",
  "fatal_error",
  "service_unavailable",
  "request_timeout",
]);
const PASSING_STATUS = new Set([408, 425, 429]);
const WORD = /^[a-z\d_:,]{1,100}$/u;

export function failureOf(method: string, error: unknown): SlackFailure {
  if (error instanceof ChannelFailed) return { failed: error, refused: false };
  const coded = error as Coded;
  switch (coded?.code) {
    case "slack_webapi_platform_error":
      return refusal(method, coded.data);
    case "slack_webapi_rate_limited_error":
      return later(`Slack asks to wait (${method})`, coded.retryAfter * 1_000);
    case "slack_webapi_http_error": {
      const passing = coded.statusCode >= 500 || PASSING_STATUS.has(coded.statusCode);
      const message = `Slack answered ${coded.statusCode} to ${method}`;
      return passing ? later(message) : { failed: new ChannelFailed(message, "never"), refused: false };
    }
    default:
      return later(`Slack couldn't be reached (${method})`);
  }
}

type Coded =
  | { readonly code: "slack_webapi_platform_error"; readonly data: WebAPIPlatformError["data"] }
  | { readonly code: "slack_webapi_rate_limited_error"; readonly retryAfter: WebAPIRateLimitedError["retryAfter"] }
  | { readonly code: "slack_webapi_http_error"; readonly statusCode: WebAPIHTTPError["statusCode"] }
  | { readonly code?: undefined }
  | undefined;

function refusal(method: string, data: WebAPIPlatformError["data"]): SlackFailure {
  const code = data.error;
  // A page of somebody between us and Slack: it comes as the text of the error.
  if (!WORD.test(code)) return later(`Slack's answer to ${method} couldn't be read`);
  if (PASSING.has(code)) return { ...later(`Slack had trouble with ${method}: ${code}`), code };
  const needed =
    code === "missing_scope" && "needed" in data && WORD.test(String(data.needed)) ? ` (${String(data.needed)})` : "";
  return {
    failed: new ChannelFailed(`Slack refused ${method}: ${code}${needed}`, "never"),
    code,
    refused: REFUSED.has(code),
  };
}

function later(message: string, retryAfterMs?: number): SlackFailure {
  return { failed: new ChannelFailed(message, "later", retryAfterMs), refused: false };
}
