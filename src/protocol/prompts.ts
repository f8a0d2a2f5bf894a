/** What programs ask, and answers to it (seed 003). */
import { z } from "zod";
import { PROMPT_OUTCOMES, PROMPT_STATUSES } from "../domain/prompts/asked-prompt.ts";
import { AnyId, Id, Limit, Timestamp } from "./common.ts";
import { defineOperation } from "./operation.ts";

const PromptClassName = z.enum([
  "YES_NO",
  "CONFIRM_ENTER",
  "NUMBERED_CHOICE",
  "FREE_TEXT",
  "PASSWORD_INPUT",
  "CHAT_INPUT",
  "FOLDER_TRUST",
  "RAW_TERMINAL",
]);

export const AskedPrompt = z.object({
  prompt_id: z.string(),
  session_id: Id,
  conversation_id: z.string().optional(),
  status: z.enum(PROMPT_STATUSES),
  nonce: z.string().meta({ description: "Of this offer: a reply names it, and an older one is refused" }),
  class: PromptClassName,
  confidence: z.enum(["HIGH", "MED", "LOW"]),
  question: z.string().meta({ description: "The program's own words, secrets masked" }),
  choices: z.array(
    z.object({
      key: z.string(),
      label: z.string(),
      types: z.string().optional().meta({ description: "What is typed for it" }),
      highlighted: z.boolean().optional(),
      checked: z.boolean().optional(),
    }),
  ),
  default: z.string().optional().meta({ description: "What Enter alone means" }),
  accepts: z.array(z.string()),
  entry: z.enum(["line", "keys", "key", "arrows", "sideways", "buttons"]),
  multiple: z.boolean().optional(),
  buttons: z.enum(["yes_no", "enter", "choices", "text", "secret_link", "trust", "none"]),
  kind: z.string().meta({ description: "How the program waits, by the kernel" }),
  program: z.string().meta({ description: "Who reads the answer, by the kernel; empty: nobody could look" }),
  warning: z.string().optional().meta({ description: "The program isn't what its question claims" }),
  source: z.enum(["deterministic", "fused", "ml"]),
  disagreement: z.boolean(),
  escalate: z.boolean().meta({ description: "Somebody has to look at the terminal itself" }),
  asked_at: Timestamp,
  expires_at: Timestamp.meta({ description: "Until when this offer can be answered; then it is offered anew" }),
  answered_by: z.string().optional(),
  outcome: z.enum(PROMPT_OUTCOMES).optional(),
  feedback: z.array(z.string()),
});
export type AskedPrompt = z.infer<typeof AskedPrompt>;

const byPrompt = z.object({ prompt_id: AnyId });
/** The stall of a program takes two tries of 5 s and 2 s between them. */
export const OUTCOME_WAIT_MAX_MS = 20_000;

export const promptOperations = {
  "prompt.list": defineOperation({
    name: "prompt.list",
    summary: "List what programs ask, or asked, oldest first; of more than `limit`, the newest.",
    method: "GET",
    path: "/prompts",
    effect: "read",
    input: z.object({ status: z.enum(PROMPT_STATUSES).optional(), session_id: Id.optional(), limit: Limit }),
    output: z.array(AskedPrompt),
    roles: ["operator", "viewer", "agent"],
    tool: true,
  }),
  "prompt.get": defineOperation({
    name: "prompt.get",
    summary: "Read one question of a program.",
    method: "GET",
    path: "/prompts/{prompt_id}",
    effect: "read",
    input: byPrompt,
    output: AskedPrompt,
    roles: ["operator", "viewer", "agent"],
    errors: ["not_found"],
    tool: true,
  }),
  "prompt.reply": defineOperation({
    name: "prompt.reply",
    summary:
      "Answer a program's question, once. It is typed as the program wants it, and only if that very question still waits; a person's answer leaves control where it is. What isn't clearly an answer is asked back.",
    method: "POST",
    path: "/prompts/{prompt_id}/reply",
    effect: "write",
    input: byPrompt
      .extend({
        nonce: z.string().min(1).max(200),
        value: z.string().max(8_000).optional().meta({ description: "The answer in words; of a password, itself" }),
        choice: z.string().min(1).max(300).optional().meta({ description: "A choice's `key`, or `default`" }),
        wait_ms: z
          .int()
          .min(0)
          .max(OUTCOME_WAIT_MAX_MS)
          .default(0)
          .meta({ description: "How long to wait for what comes of it" }),
      })
      .refine((it) => (it.value === undefined) !== (it.choice === undefined), {
        message: "exactly one of value and choice",
        path: ["value"],
      }),
    output: AskedPrompt,
    roles: ["operator", "agent"],
    errors: [
      "not_found",
      "invalid_transition",
      "session_paused",
      "control_refused",
      "lease_expired",
      "stale_epoch",
      "stopped",
      "paused",
      "prompt_gone",
      "secret_for_person",
      "policy_denied",
      "approval_pending",
      "limit_reached",
      "host_offline",
      "unknown_outcome",
    ],
    secretInput: ["value"],
    budgetMs: OUTCOME_WAIT_MAX_MS + 15_000,
    tool: true,
    toolDefaults: { wait_ms: 15_000 },
  }),
  "prompt.secret_link": defineOperation({
    name: "prompt.secret_link",
    summary:
      "Make a link to a page on which you can give a program the secret that it asks for. It works once, for this offer of the question, and answers as you: give it to nobody else.",
    method: "POST",
    path: "/prompts/{prompt_id}/secret_link",
    status: 201,
    effect: "write",
    input: byPrompt.extend({ nonce: z.string().min(1).max(200) }),
    output: z.object({ url: z.string(), expires_at: Timestamp }),
    roles: ["operator"],
    errors: ["not_found", "prompt_gone", "limit_reached"],
    idempotency: "memory",
  }),
} as const;
