/** What is known of a terminal, as its operations answer it (docs/spec/pty.md). */
import type { Session } from "../domain/session.ts";
import type { Output } from "../protocol/operations.ts";
import type { BlockRecord } from "./block-desk.ts";

type RunOutput = Output<"pty.exec_block">;

export function placeOf({ sessionId }: Session): { readonly ok: true; readonly workspace_session_id: string } {
  return { ok: true, workspace_session_id: sessionId };
}

/** Where its programs run. */
export function levelOf({ containment, containmentMissing: missing }: Session) {
  return { containment, ...(missing === undefined ? {} : { containment_missing: missing }) };
}

export function waitingOf({
  kind,
  program,
  promptId,
  confidence,
}: {
  kind: string;
  program: string;
  promptId: string;
  confidence: string;
}) {
  return { kind: kind as "line", program, prompt_id: promptId, confidence };
}

export function endOf({
  exitCode,
  signal,
  cwd,
  integration,
  durationMs,
}: NonNullable<BlockRecord["end"]>): Partial<RunOutput> {
  return {
    ...(exitCode === undefined ? {} : { exit_code: exitCode }),
    ...(signal === undefined ? {} : { signal }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(integration === undefined ? {} : { integration }),
    ...(durationMs === undefined ? {} : { duration_ms: Math.round(durationMs) }),
  };
}

export function blockOf(block: BlockRecord): Output<"pty.blocks">["blocks"][number] {
  const { blockId, seq, command, cwd, runId, cursor, at, end } = block;
  return {
    block_id: blockId,
    seq,
    command,
    ...(cwd === undefined ? {} : { cwd }),
    interactive: runId !== undefined,
    ...(runId === undefined ? {} : { session_id: runId }),
    cursor,
    ts_begin: at,
    ...(end === undefined
      ? {}
      : { ...endOf(end), ...(cwd === undefined ? {} : { cwd }), end_cursor: end.cursor, ts_end: end.at }),
    ...(end?.canceled === undefined ? {} : { canceled: end.canceled }),
  };
}
