/** The commands that ran in a session, folded from its events. */
import type { WorkspaceEvent } from "../../protocol/events.ts";

export type Block = {
  readonly blockId: string;
  readonly command: string;
  readonly by: string;
  readonly cursor: number;
  /** Absent: it still runs. */
  readonly end?: {
    readonly cursor: number;
    readonly exitCode: number | undefined;
    readonly signal: string | undefined;
    readonly durationMs: number | undefined;
  };
};

export const BLOCK_EVENTS = ["agent_block_begin", "agent_block_end"] as const;

/** The newest: whoever looks for an older one finds it in the replay. */
const KEPT = 500;

type Told = Pick<WorkspaceEvent, "type" | "payload" | "cursor" | "source">;

export function foldBlocks(before: readonly Block[], { type, payload, cursor, source }: Told): readonly Block[] {
  const { blockId, cursor: place = cursor ?? 0 } = payload as { blockId?: string; cursor?: number };
  if (blockId === undefined) return before;
  if (type === "agent_block_begin") {
    const { cmd = "" } = payload as { cmd?: string };
    if (before.some((it) => it.blockId === blockId)) return before;
    return [...before.slice(1 - KEPT), { blockId, command: cmd, by: source.id, cursor: place }];
  }
  if (type !== "agent_block_end") return before;
  const { exitCode, signal, durationMs } = payload as { exitCode?: number; signal?: string; durationMs?: number };
  const at = before.findLastIndex((it) => it.blockId === blockId);
  const block = before[at];
  return block === undefined
    ? before
    : before.with(at, { ...block, end: { cursor: place, exitCode, signal, durationMs } });
}

export function outcomeText({ end }: Block): string {
  if (end === undefined) return "running";
  if (end.signal !== undefined) return `ended by ${end.signal}`;
  return end.exitCode === undefined ? "ended" : `exit ${end.exitCode}`;
}

export function tookText(ms: number | undefined): string {
  if (ms === undefined) return "";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${(ms / 1000).toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
