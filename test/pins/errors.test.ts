import { expect, test } from "vitest";
import { ERRORS } from "../../src/protocol/errors.ts";

test("[HTP-5] codes and statuses are what clients rely on", () => {
  const rows = Object.entries(ERRORS).map(([code, row]) => `${code} ${row.http}`);

  expect(rows.sort()).toEqual([
    "approval_decided 409",
    "approval_expired 403",
    "approval_pending 202",
    "approval_rejected 403",
    "approval_stale 409",
    "busy 409",
    "channel_failed 502",
    "control_refused 409",
    "cursor_expired 410",
    "forbidden 403",
    "host_offline 503",
    "interactive_active 409",
    "internal 500",
    "invalid_request 400",
    "invalid_transition 409",
    "kind_unavailable 503",
    "lease_expired 409",
    "limit_reached 429",
    "needs_open 409",
    "not_found 404",
    "origin_refused 403",
    "pattern_refused 400",
    "paused 409",
    "policy_denied 403",
    "prompt_gone 409",
    "revoked 409",
    "secret_for_person 403",
    "session_paused 409",
    "shell_idle 409",
    "stale_epoch 409",
    "stopped 409",
    "storage_unavailable 503",
    "too_large 413",
    "unauthenticated 401",
    "unknown_outcome 502",
  ]);
});
