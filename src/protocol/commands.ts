/**
 * Commands of a project (seed 002): one that ends by itself, or one on a terminal of its own that is talked to. A project is
 * a workspace; the command runs on that workspace's host. Rules in docs/spec/commands.md.
 */
import { z } from "zod";
import { Id } from "./common.ts";
import { defineOperation, INPUT_BODY_LIMIT } from "./operation.ts";
import {
  cursor,
  if_prompt,
  inputErrors,
  OUTPUT_DEFAULT,
  OUTPUT_LIMIT,
  Redacted,
  runErrors,
  size,
  WAIT_BUDGET_MS,
  Waiting,
  why,
} from "./pty-shapes.ts";
import { INPUT_LIMIT } from "./sessions.ts";

/** Each may take four bytes, and a kernel takes no argument of 128 KiB. */
const COMMAND_LIMIT = 30_000;
export const EXECUTE_MS = 120_000;
const CLOSING_MS = 15_000;

const project_id = z.string().min(1).max(128).meta({ description: "The workspace; `default` exists" });
const session_id = z.string().min(1).max(128).meta({ description: "As start_interactive_command answered it" });
const command = z
  .string()
  .min(1)
  .max(COMMAND_LIMIT)
  .refine((it) => !it.includes("\0"), "a command can't hold a NUL")
  .meta({ description: "Shell text, run by a shell of its own (`-c`)" });
const cwd = z
  .string()
  .max(4096)
  .regex(/^\/[^\0]*$/, "an absolute path")
  .optional()
  .meta({ description: "Where it runs; absent: the home" });
const max_bytes = z.int().min(256).max(OUTPUT_LIMIT).default(OUTPUT_DEFAULT);

const patience = {
  wait_ms: z
    .int()
    .min(0)
    .max(WAIT_BUDGET_MS)
    .default(WAIT_BUDGET_MS)
    .meta({ description: "Answer at the latest after this long, with `final: false`" }),
  until: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .meta({ description: "Answer as soon as this is in the new output, though nobody waits for input" }),
  until_type: z.enum(["text", "regex"]).default("text"),
  max_bytes: max_bytes.meta({ description: "Budget for `output`: its head and tail" }),
};

const CommandOutput = z.object({
  session_id: Id,
  output: z.string().meta({ description: "What came since your last answer about this command" }),
  final: z.boolean().meta({ description: "It is over; nothing more will come" }),
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  reason: z
    .string()
    .optional()
    .meta({ description: "With `final`: how it ended: `exited`, `timeout`, `closed`, `stopped`, `host_lost` …" }),
  waiting: Waiting.optional(),
  matched: z.literal(true).optional().meta({ description: "`until` was seen" }),
  cursor: cursor.meta({ description: "Where the next answer's output begins" }),
  omitted_bytes: z.int(),
  redacted: Redacted,
  edited: z.string().optional().meta({ description: "A person changed the command: this is what runs" }),
  approval_id: z.string().optional().meta({ description: "The approval under which it runs" }),
});

const CommandResult = z.object({
  session_id: Id,
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
  timed_out: z.boolean(),
  truncated: z.boolean().meta({ description: "The middle of one of them is left out" }),
  duration_ms: z.int(),
  reason: z.string().optional().meta({ description: "How it ended: `exited`, `timeout`, `closed`, `host_lost` …" }),
  edited: z.string().optional(),
  approval_id: z.string().optional(),
});

const ENDED = ["stopped", "revoked"] as const;
const startErrors = [...runErrors, ...ENDED, "not_found", "control_refused", "limit_reached"] as const;

const usual = { method: "POST", roles: ["operator", "agent"], effect: "write" } as const;

export const commandOperations = {
  "command.execute": defineOperation({
    ...usual,
    name: "command.execute",
    summary:
      "Run a command that asks nothing, without a terminal, and get stdout, stderr and its exit code. Its input is empty: for what asks (sudo, apt without -y, ssh, passwd) use start_interactive_command.",
    path: "/projects/{project_id}/execute_command",
    input: z.object({
      project_id,
      command,
      cwd,
      timeout_ms: z
        .int()
        .min(1)
        .max(EXECUTE_MS)
        .default(EXECUTE_MS)
        .meta({ description: "Then it is killed, with all that it started" }),
      max_bytes: max_bytes.meta({ description: "Budget for each of stdout and stderr: head and tail" }),
      reason: why,
    }),
    output: CommandResult,
    errors: [...new Set(startErrors)],
    budgetMs: EXECUTE_MS + WAIT_BUDGET_MS + CLOSING_MS,
    tool: "execute_command",
    toolDefaults: { project_id: "default", timeout_ms: WAIT_BUDGET_MS },
  }),
  "command.start": defineOperation({
    ...usual,
    name: "command.start",
    summary:
      "Start a command that asks for input (sudo, installers, ssh, passwd, wizards) on a terminal of its own. Answers as soon as it waits for input (`waiting`), is over (`final`), or `until` is seen.",
    path: "/projects/{project_id}/start_interactive_command",
    input: z.object({
      project_id,
      command,
      cwd,
      cols: size.default(120),
      rows: size.default(40),
      lifetime_seconds: z.int().min(1).max(86_400).optional().meta({
        description: "Then it is killed, also if nobody asks any more; at most, and unless given, what the hub allows",
      }),
      reason: why,
      ...patience,
    }),
    output: CommandOutput,
    errors: [...new Set([...startErrors, "pattern_refused" as const])],
    budgetMs: WAIT_BUDGET_MS + CLOSING_MS,
    tool: "start_interactive_command",
    toolDefaults: { project_id: "default" },
  }),
  "command.send": defineOperation({
    ...usual,
    name: "command.send",
    summary:
      "Type into the command that start_interactive_command started, exactly as given (end an answer with \\n; control characters are typed too), and get what follows. With `terminate` and empty text: kill it.",
    path: "/projects/{project_id}/send_command_input",
    input: z
      .object({
        project_id,
        session_id,
        input_text: z.string().max(INPUT_LIMIT).meta({ description: "Raw; no newline is added" }),
        secret: z.boolean().default(false).meta({ description: "Never recorded, whatever is echoed" }),
        terminate: z
          .boolean()
          .default(false)
          .meta({ description: "With empty `input_text`: kill it and all it started" }),
        if_prompt,
        reason: why,
        ...patience,
      })
      .refine((it) => (it.input_text === "") === it.terminate, {
        message: "give input_text, or terminate with an empty input_text",
        path: ["input_text"],
      }),
    output: CommandOutput,
    errors: [...new Set([...inputErrors, ...ENDED, "control_refused" as const, "pattern_refused" as const])],
    bodyLimit: INPUT_BODY_LIMIT,
    secretInput: ["input_text"],
    budgetMs: WAIT_BUDGET_MS + CLOSING_MS,
    tool: "send_command_input",
    toolDefaults: { project_id: "default" },
  }),
  "command.wait": defineOperation({
    ...usual,
    effect: "read",
    name: "command.wait",
    summary:
      "Wait until the command asks for input anew, is over, or `until` is seen, and get the new output. For one that is over it answers at once; `from_cursor: 0` reads all of it again.",
    path: "/projects/{project_id}/wait_for_command",
    input: z.object({
      project_id,
      session_id,
      from_cursor: cursor
        .optional()
        .meta({ description: "Output from here on; absent: what you have not been told yet" }),
      ...patience,
    }),
    output: CommandOutput,
    errors: ["not_found", "pattern_refused", "cursor_expired", ...ENDED],
    budgetMs: WAIT_BUDGET_MS + CLOSING_MS,
    tool: "wait_for_command",
    toolDefaults: { project_id: "default" },
  }),
  "command.terminate": defineOperation({
    ...usual,
    effect: "destructive",
    name: "command.terminate",
    summary: "Kill the command and all that it started. Answers its last output and how it ended.",
    path: "/projects/{project_id}/terminate_command",
    input: z.object({ project_id, session_id, max_bytes: patience.max_bytes }),
    output: CommandOutput,
    errors: ["not_found", "forbidden", "control_refused", "host_offline", "unknown_outcome"],
    budgetMs: 20_000,
    tool: "terminate_command",
    toolDefaults: { project_id: "default" },
  }),
} as const;
