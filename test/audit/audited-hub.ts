/** A data directory that a hub has filled with decisions of several kinds, and ways to change copies of it. */
import { cp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { AuditReport } from "../../src/domain/audit-report.ts";
import { verifyDataDir } from "../../src/main/audit.ts";
import { startHub } from "../../src/main/hub.ts";
import { readSettings } from "../../src/main/settings.ts";
import { operatorClient } from "../support/hub.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { temporaryDirectory } from "../support/temporary.ts";

export type Audited = { readonly dataDir: string; readonly heads: string };

/** Fills it through the hub's own doors, and closes the hub. */
export async function auditedDirectory(dataDir: string): Promise<Audited> {
  const args = ["--port", "0", "--data-dir", dataDir];
  const settings = readSettings(args, { XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir });
  const hub = await startHub(settings, [new MemoryDriver("terminal")]);
  const operator = operatorClient(dataDir);
  await operator.token.create({ role: "agent", name: "bot" });
  for (const title of ["one", "two"]) {
    const { sessionId } = await operator.session.create({ kind: "terminal", title });
    await operator.session.input({ sessionId, data: "echo\n" });
    await operator.session.pause({ sessionId });
    const { requestId } = await operator.approval.request({ sessionId, kind: "tool", payload: { title } });
    await operator.approval.resolve({ requestId, status: title === "one" ? "approved" : "rejected" });
    await operator.session.close({ sessionId });
  }
  await hub.close();
  return { dataDir, heads: headsIn(dataDir) };
}

/** Where the test hubs keep their heads. */
export function headsIn(dataDir: string): string {
  return join(dataDir, "sidestick", "audit-heads");
}

export async function copyOf({ dataDir }: Audited): Promise<Audited> {
  const copy = await temporaryDirectory();
  await cp(join(dataDir, "events.db"), join(copy, "events.db"));
  await cp(join(dataDir, "audit.jsonl"), join(copy, "audit.jsonl"));
  await cp(headsIn(dataDir), headsIn(copy), { recursive: true });
  return { dataDir: copy, heads: headsIn(copy) };
}

export async function verify({ dataDir, heads }: Audited): Promise<AuditReport> {
  const report = await verifyDataDir(dataDir, heads);
  if (report === undefined) throw new Error(`there is no chain in ${dataDir}`);
  return report;
}

/** What is found in a copy after SQL. */
export async function findingAfter(audited: Audited, sql: string): Promise<string> {
  const copy = await copyOf(audited);
  runSql(copy, sql);
  return foundIn(copy);
}

export async function foundIn(audited: Audited): Promise<string> {
  const { finding } = await verify(audited);
  return finding === undefined ? "nothing" : `${finding.kind} ${finding.sequence}`;
}

export function runSql({ dataDir }: Audited, sql: string): void {
  const db = new DatabaseSync(join(dataDir, "events.db"));
  db.exec(sql);
  db.close();
}

/** Sequences of all decisions, oldest first. */
export function decisionsIn({ dataDir }: Audited): number[] {
  const db = new DatabaseSync(join(dataDir, "events.db"), { readOnly: true });
  const rows = db.prepare("SELECT sequence FROM events WHERE class > 0 ORDER BY sequence").all();
  db.close();
  return rows.map((row) => Number(row["sequence"]));
}

/** What is found in a copy whose audit file was rewritten. */
export async function findingInLines(audited: Audited, change: (lines: string[]) => string[]): Promise<string> {
  const copy = await copyOf(audited);
  const path = join(copy.dataDir, "audit.jsonl");
  const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1);
  await writeFile(
    path,
    change(lines)
      .map((line) => `${line}\n`)
      .join(""),
  );
  return foundIn(copy);
}
