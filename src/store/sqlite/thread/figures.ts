/** The log's figures as the file has them: what was saved, and what has to be counted again. Reads only. */
import type { DatabaseSync } from "node:sqlite";
import { damaged } from "../store-unusable.ts";

/** What a row costs beside its payload: its header, its index entries, its share of half-empty pages. */
export const ROW_BYTES = 64;

export const CLASSES = [0, 1, 2] as const;
export type ClassId = (typeof CLASSES)[number];
export type ByClass = [activity: number, audit: number, housekeeping: number];

/** Housekeeping counts as audit. */
export type KeptBytes = [activity: number, audit: number];

export type Figures = { last: number; lastAt: number; ceiling: number; bytes: KeptBytes; floors: ByClass };

type MetaRow = Record<
  | "ceiling"
  | "last"
  | "last_at"
  | "counted"
  | "activity_bytes"
  | "audit_bytes"
  | "activity_floor"
  | "audit_floor"
  | "housekeeping_floor"
  | "clean",
  number
> & { boot_id: string };

export type Meta = {
  readonly row: MetaRow;
  /** The machine has not gone down since the file was last opened. */
  readonly isSameRun: boolean;
  /** Power may have been lost while the file was in use. */
  readonly isDoubtful: boolean;
};

export function readMeta(db: DatabaseSync, file: string, bootId: string): Meta {
  const row = db.prepare("SELECT * FROM meta").get() as unknown as MetaRow | undefined;
  if (row === undefined) throw damaged(file, "its figures are gone");
  const isSameRun = bootId !== "" && row.boot_id === bootId;
  return { row, isSameRun, isDoubtful: row.clean === 0 && !isSameRun };
}

export function readFigures(db: DatabaseSync, { row: meta }: Meta): Figures {
  const newest = db.prepare("SELECT sequence, at FROM events ORDER BY sequence DESC LIMIT 1").get();
  // The sums are saved with the ceiling, not with every commit: what came after is counted again here.
  const uncounted = db
    .prepare(
      `SELECT total((octet_length(payload) + ${ROW_BYTES}) * (class = 0)) AS activity,
              total((octet_length(payload) + ${ROW_BYTES}) * (class > 0)) AS audit FROM events WHERE sequence > ?`,
    )
    .get(meta.counted);
  return {
    last: Math.max(meta.last, Number(newest?.["sequence"] ?? 0)),
    lastAt: Math.max(meta.last_at, Number(newest?.["at"] ?? 0)),
    ceiling: meta.ceiling,
    bytes: [meta.activity_bytes + Number(uncounted?.["activity"]), meta.audit_bytes + Number(uncounted?.["audit"])],
    floors: [meta.activity_floor, meta.audit_floor, meta.housekeeping_floor],
  };
}
