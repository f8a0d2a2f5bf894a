/** `sidestick audit verify`: the store, the audit file and the heads of a data directory, without its hub. */
import { hash } from "node:crypto";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { LineWalk } from "../domain/audit-lines.ts";
import { readCheckpoint } from "../domain/audit-chain.ts";
import { type AuditReport, verifyAudit } from "../domain/audit-report.ts";
import { headsOf, readHeads } from "../store/audit/head-files.ts";
import { followLines, wholeLines } from "../store/audit/read-lines.ts";
import type { StoredChain } from "../domain/audit-verify.ts";
import { lookInto } from "../store/sqlite/store-snapshot.ts";
import { hasChain, storedChain } from "../store/sqlite/stored-chain.ts";

export const AUDIT_FILE = "audit.jsonl";

/** A hub that writes meanwhile may have gone on between two looks: only what is wrong again and again is. */
const ATTEMPTS = 3;

/** What is left of a store that is gone, or was put back by one from before the chain. */
const NOTHING: StoredChain = { checkpoints: [], removed: [], decisions: () => [], unlinked: () => undefined };

const sha256 = (text: string): string => hash("sha256", text, "hex");

/** Undefined where there is no store, or one that no hub with an audit chain has opened. */
export async function verifyDataDir(dataDir: string, headsDir: string): Promise<AuditReport | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    const report = await verifyOnce(dataDir, headsDir);
    if (report === undefined || report.ok || attempt === ATTEMPTS) return report;
  }
}

/** The lines of a data directory, oldest first. */
export async function* auditLines(dataDir: string): AsyncGenerator<{ line: string; end: number }> {
  const path = join(dataDir, AUDIT_FILE);
  if (await exists(path)) yield* wholeLines(path);
}

/** Those that are written from an offset on, until it is aborted. */
export function newAuditLines(dataDir: string, from: number, signal: AbortSignal): AsyncGenerator<string> {
  return followLines(join(dataDir, AUDIT_FILE), from, signal);
}

/** Heads first, the store last: what is kept outside was in the store before. */
async function verifyOnce(dataDir: string, headsDir: string): Promise<AuditReport | undefined> {
  const file = join(dataDir, "events.db");
  const linesPlace = join(dataDir, AUDIT_FILE);
  const heads = await readHeads(headsDir);
  const lines = new LineWalk(sha256);
  for await (const { line } of auditLines(dataDir)) lines.take(line);
  const judge = (stored: StoredChain): AuditReport => {
    const chainId = readCheckpoint(stored.checkpoints.at(-1)?.body ?? "")?.chainId ?? "";
    return verifyAudit({ stored, lines, linesPlace, kept: headsOf({ chainId, dataDir }, heads) }, sha256);
  };
  const isKnown = lines.count > 0 || headsOf({ chainId: "", dataDir }, heads).length > 0;
  if (!(await exists(file))) return isKnown ? judge(NOTHING) : undefined;
  return lookInto(file, (db) => {
    if (hasChain(db)) return judge(storedChain(db, sha256));
    return isKnown ? judge(NOTHING) : undefined;
  });
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
