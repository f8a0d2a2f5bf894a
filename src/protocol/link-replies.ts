/** What hosts answer to requests: the `fields` of a REPLY. Bodies are named where there is one. */
import { z } from "zod";
import { SAFE_POINT_ACTIONS } from "../domain/control-state.ts";
import { AnyObject } from "./common.ts";

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
