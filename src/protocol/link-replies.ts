/** What hosts answer to requests: the `fields` of a REPLY. Bodies are named where there is one. */
import { z } from "zod";
import { SAFE_POINT_ACTIONS } from "../domain/control-state.ts";
import { AnyObject } from "./common.ts";
import type { ErrorCode } from "./errors.ts";

/** Why a host may refuse. Who may ask, and what people decided, are the hub's to say. */
export const HOST_REFUSALS: ReadonlySet<string> = new Set<ErrorCode>([
  "invalid_request",
  "not_found",
  "invalid_transition",
  "busy",
  "interactive_active",
  "shell_idle",
  "control_refused",
  "lease_expired",
  "stale_epoch",
  "stopped",
  "paused",
  "revoked",
  "policy_denied",
  "approval_stale",
  "prompt_gone",
  "too_large",
  "limit_reached",
  "unknown_outcome",
  "kind_unavailable",
  "host_offline",
  "storage_unavailable",
]);

const count = z.int().min(0);
const size = { cols: z.int(), rows: z.int() };

export const AdoptReply = z.object({
  /** What comes next is the frame after this one. */
  acknowledged: count,
  order: count,
  /** The largest input number that the host was given. */
  inputs: count,
});
/** Only when the input changed it: the control state. */
const control = AnyObject.optional();
export const InputReply = z.object({ position: count, cursor: count, bytes: count, control });
export const RunReply = z.object({ seq: count, cursor: count, position: count, began_at: z.number(), control });
/** And the fields of the control state. */
export const ControlReply = z.looseObject({ position: count, action: z.enum(SAFE_POINT_ACTIONS).optional() });
export const StatusReply = z.object({
  mode: z.enum(["idle", "block_running", "interactive"]),
  block_id: z.string().optional(),
  run_id: z.string().optional(),
  pid: z.int().optional(),
  shell: z.string(),
  integration: z.enum(["marks", "kernel", "none"]),
  cwd: z.string().optional(),
  /** Where the shell is by the kernel's word, if that still is a directory. */
  directory: z.string().optional(),
  /** Of whoever the session runs as. */
  home: z.string().optional(),
  /** While a block or a run is active: the programs of the group in front, its first one first. */
  foreground: z
    .object({
      programs: z.array(z.string()).min(1),
      /** It waits for a line, and nothing was typed since it began to wait. */
      at_empty_prompt: z.boolean(),
      /** A line that is typed now is not shown. */
      hides_lines: z.boolean().optional(),
      /** Present: one of them was seen to wait for input, and nothing went in since. */
      waits: z.object({ prompt_id: z.string(), for: z.enum(["line", "key"]) }).optional(),
    })
    .optional(),
  ...size,
});
/** Body: the lines, joined by newlines, UTF-8. */
export const ScreenReply = z.object({
  ...size,
  cursor_row: count,
  cursor_col: count,
  alt_screen: z.boolean(),
  title: z.string(),
  cursor: count,
});
/** Body: what to write to a terminal that was just reset, UTF-8. */
export const SnapshotReply = z.object({ ...size, cursor: count });
export const ShutdownReply = z.object({ sessions: count });
/** Of PREPARE. `parts`: a digest for each thing that is bound, by a name that a person understands. */
export const PreparedReply = z.object({
  epoch: count,
  /** Over `parts`. */
  digest: z.string(),
  /** Resolved. */
  cwd: z.string(),
  /** `cwd`, `environment`, `functions`, `program:ls`, `script:./x.sh` … */
  parts: z.record(z.string(), z.string()),
  /** What the programs and scripts are: path by name, for people. */
  resolved: z.record(z.string(), z.string()),
  /** Of the above what could not be bound, and why. */
  unbound: z.array(z.object({ what: z.string(), reason: z.string() })),
  control,
});
