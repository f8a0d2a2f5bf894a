/** What the terminal operations take and answer (seed 001, in snake_case as published). */
import { HANDOFF_REASONS } from "../domain/control-state.ts";
import { z } from "zod";
import { Id } from "./common.ts";

/** The longest a call waits: below the 60 s after which MCP clients give up. */
export const WAIT_BUDGET_MS = 45_000;
export const COMMAND_LIMIT = 64 * 1024;
export const OUTPUT_DEFAULT = 32 * 1024;
export const OUTPUT_LIMIT = 1024 * 1024;

export const conversation_id = z
  .string()
  .min(1)
  .max(256)
  .meta({ description: "Your thread; it owns one terminal, made on first use" });
export const session_id = z
  .string()
  .min(1)
  .max(128)
  .optional()
  .meta({ description: "The interactive run; absent: the active one" });
export const cursor = z.int().min(0);
export const size = z.int().min(1).max(1000);
export const byConversation = z.object({ conversation_id });
export const byRun = z.object({ conversation_id, session_id });
export const if_prompt = z
  .string()
  .max(200)
  .optional()
  .meta({ description: "Type only if this prompt (`prompt_id`) still waits; else `prompt_gone`" });

export const WaitingKind = z.enum(["line", "password", "line_editor", "pager", "editor", "tui", "opaque"]);
export const Waiting = z
  .object({ kind: WaitingKind, program: z.string(), prompt_id: z.string(), confidence: z.string() })
  .meta({ description: "The program waits for input" });
export const Integration = z
  .enum(["marks", "kernel", "none"])
  .meta({ description: "How it is known: shell integration, kernel state alone, or not" });
export const Redacted = z.array(z.tuple([cursor, cursor])).meta({ description: "Ranges of bytes that were masked" });

export const place = {
  ok: z.literal(true),
  workspace_session_id: Id,
};

/** Shown to a person as the agent's own words, should policy ask one. */
export const why = z
  .string()
  .max(500)
  .optional()
  .meta({ description: "Why you want this; shown, as your words, to the person who is asked" });

export const runInput = z.object({
  conversation_id,
  command: z.string().min(1).max(COMMAND_LIMIT).meta({ description: "Shell text, run exactly as given, as one block" }),
  cwd: z.string().min(1).max(4096).optional().meta({ description: "Change there first; it stays for later commands" }),
  cols: size.optional().meta({ description: "With `rows`: the terminal's size, set before it runs" }),
  rows: size.optional(),
  workspace_id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .meta({ description: "Where a terminal that this makes runs; refused if the conversation's is in another" }),
  reason: why,
  wait_ms: z
    .int()
    .min(0)
    .max(WAIT_BUDGET_MS)
    .default(0)
    .meta({ description: "Wait this long for the end, or until the program waits for input" }),
  max_bytes: z
    .int()
    .min(256)
    .max(OUTPUT_LIMIT)
    .default(OUTPUT_DEFAULT)
    .meta({ description: "Budget for `output`: its head and tail" }),
});

export const runOutput = {
  ...place,
  block_id: Id,
  seq: z.int(),
  ts_begin: z.int(),
  cursor: cursor.meta({ description: "Where its output begins" }),
  position: z.int(),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  cwd: z.string().optional(),
  end_cursor: cursor.optional(),
  output: z.string().optional(),
  omitted_bytes: z.int().optional(),
  duration_ms: z.int().optional(),
  integration: Integration.optional(),
  redacted: Redacted.optional(),
  waiting: Waiting.optional(),
  pending: z.literal(true).optional().meta({ description: "It still runs; go on with wait_for" }),
  edited: z.string().optional().meta({ description: "A person changed the command: this is what ran" }),
  approval_id: z.string().optional().meta({ description: "The approval under which it ran" }),
};

export const MatchType = z.enum(["substring", "regex", "token", "screen"]);
export const ConditionInput = z.object({
  match: z.string().min(1).max(4096),
  match_type: MatchType.optional(),
  idle_ms: z.int().min(1).max(60_000).optional(),
});

export const waitFields = {
  match: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .meta({ description: "What to wait for. PROMPT, EOF, INPUT and IDLE are tokens unless match_type says otherwise" }),
  match_type: MatchType.optional().meta({ description: "Default: substring (a token for the token names)" }),
  idle_ms: z.int().min(1).max(60_000).optional().meta({ description: "For IDLE: this long without output" }),
  conditions: z
    .array(ConditionInput)
    .min(1)
    .max(16)
    .optional()
    .meta({ description: "Several at once; the first wins" }),
  from_cursor: cursor
    .optional()
    .meta({ description: "Search from this byte; absent: where the active or last block began" }),
  from_position: z.int().min(0).optional().meta({ description: "For tokens: only what happened after this position" }),
  timeout_ms: z.int().min(0).max(86_400_000).default(30_000),
  max_bytes: z.int().min(1).optional().meta({ description: "Give up after so many new bytes" }),
  view: z.enum(["text", "raw"]).default("text").meta({ description: "How match_text is given" }),
};

export const waitOutput = {
  ...place,
  matched: z.boolean(),
  which: z.int().optional().meta({ description: "Index of the condition that matched" }),
  reason: z.enum(["match", "timeout", "max_bytes", "pending", "revoked", "closed"]),
  control_reason: z
    .enum(HANDOFF_REASONS)
    .optional()
    .meta({ description: "With `revoked`: why you lost control; control_wait tells when you have it again" }),
  epoch: z.int().optional(),
  match_text: z.string().optional(),
  match_begin: cursor.optional(),
  cursor: cursor.meta({ description: "Just after the match, or where to resume: the next from_cursor" }),
  position: z.int().meta({ description: "The next from_position" }),
  pending: z.literal(true).optional(),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  cwd: z.string().optional(),
  integration: Integration.optional(),
  kind: z.string().optional(),
  program: z.string().optional(),
  confidence: z.string().optional(),
  prompt_id: z.string().optional(),
  question: z.string().optional().meta({ description: "With INPUT: the last line that the program printed" }),
};

export const hasCondition = {
  check: (it: { match?: unknown; conditions?: unknown }) => (it.match === undefined) !== (it.conditions === undefined),
  message: "give exactly one of match, conditions",
};

export const sent = z.object({ ...place, bytes: z.int(), position: z.int(), cursor });
/** Of what policy may ask a person about. */
const ASKED = [
  "policy_denied",
  "approval_pending",
  "approval_rejected",
  "approval_expired",
  "approval_stale",
  "limit_reached",
] as const;
export const inputErrors = [
  "not_found",
  "invalid_transition",
  "session_paused",
  "shell_idle",
  "prompt_gone",
  "stale_epoch",
  "secret_for_person",
  ...ASKED,
  "host_offline",
  "unknown_outcome",
] as const;
export const runErrors = [
  "not_found",
  "busy",
  "interactive_active",
  "session_paused",
  "invalid_transition",
  "kind_unavailable",
  "needs_open",
  ...ASKED,
  "host_offline",
  "unknown_outcome",
] as const;

export const Block = z.object({
  block_id: Id,
  seq: z.int(),
  command: z.string(),
  cwd: z.string().optional(),
  interactive: z.boolean(),
  session_id: z.string().optional(),
  cursor,
  end_cursor: cursor.optional(),
  ts_begin: z.int(),
  ts_end: z.int().optional(),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  duration_ms: z.int().optional(),
  integration: Integration.optional(),
  canceled: z.boolean().optional(),
});
export type Block = z.infer<typeof Block>;
