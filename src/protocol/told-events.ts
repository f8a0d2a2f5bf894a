/**
 * What a host may tell of its sessions, by type: the payloads that the hub's desks read. Fields that stand nowhere here pass as
 * they are. Rules RML-20, RML-24 in docs/spec/remote-hosts.md.
 */
import { z } from "zod";
import type { EventType } from "../domain/event.ts";

const count = z.int().min(0);
const side = z.int().min(1).max(1000);
const name = z.string().max(200);
const path = z.string().max(4096);
const pid = z.int();
/** A full body of masks has fewer. */
const ENTRIES_MAX = 65_536;

const block = { blockId: name, seq: count.optional(), cursor: count.optional(), runId: name.optional() };

/** Of whatever changes control; the rest of the state is read by who folds it, which takes anything. */
const Control = z.looseObject({
  change: name.optional(),
  reason: z.string().nullable().optional(),
  requested_by: z.looseObject({ agent_id: z.string(), reason: z.string() }).nullable().optional(),
});

const Process = z.looseObject({ pid, program: path });

export const TOLD_EVENTS = {
  prompt: z.looseObject({
    promptId: name,
    kind: name,
    program: path.optional(),
    confidence: name.optional(),
    pid: pid.optional(),
    evidence: z.looseObject({ echo: z.boolean().optional(), canonical: z.boolean().optional() }).optional(),
    exitCode: z.int().optional(),
    cwd: path.optional(),
    blockId: name.optional(),
  }),
  // That a question is gone is seen at the host; all else that becomes of one is decided at the hub.
  prompt_decision: z.strictObject({ promptId: name, status: z.literal("gone") }),
  log_line: z.looseObject({}),
  stderr: z.looseObject({ cursor: count, length: count }),
  agent_block_begin: z.looseObject({
    ...block,
    cmd: z.string().optional(),
    cwd: path.optional(),
    ts: z.number().optional(),
  }),
  agent_block_delta: z.looseObject({ ...block, length: count }),
  agent_block_end: z.looseObject({
    ...block,
    exitCode: z.int().optional(),
    signal: name.optional(),
    cwd: path.optional(),
    integration: name.optional(),
    durationMs: z.number().optional(),
    canceled: z.boolean().optional(),
  }),
  quiet: z.looseObject({ ms: z.number() }),
  redacted: z.looseObject({ ranges: z.array(z.tuple([count, count])).max(ENTRIES_MAX) }),
  keyframe: z.looseObject({ cursor: count, cols: side, rows: side, data: z.string() }),
  input: z.looseObject({ bytes: count, epoch: count, text: z.string().optional() }),
  resize: z.looseObject({ cols: side, rows: side }),
  control_handoff: Control,
  intent: Control,
  safe_point: Control,
  receipt: Control.extend({
    stop_epoch: count.optional(),
    killed: z.array(Process).max(ENTRIES_MAX).optional(),
    killed_count: count.optional(),
    survivors: z
      .array(Process.extend({ reason: z.string() }))
      .max(ENTRIES_MAX)
      .optional(),
  }),
  approval_violated: z.looseObject({
    blockId: name,
    changed: z.array(z.looseObject({ what: path, path })).max(ENTRIES_MAX),
  }),
} as const satisfies Partial<Record<EventType, z.ZodType>>;

export type ToldType = keyof typeof TOLD_EVENTS;

export function isTold(type: string): type is ToldType {
  return Object.hasOwn(TOLD_EVENTS, type);
}
