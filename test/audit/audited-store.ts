/** A store with an audit file and a kept head, without a hub around it. */
import { join } from "node:path";
import type { Retention } from "../../src/hub/ports.ts";
import { AuditWriter } from "../../src/hub/audit-writer.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { HeadFiles } from "../../src/store/audit/head-files.ts";
import { JsonLinesFile } from "../../src/store/audit/json-lines-file.ts";
import { openSqliteStore, type SqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { headsIn } from "./audited-hub.ts";

export type AuditedStore = {
  readonly store: SqliteStore;
  readonly writer: AuditWriter;
  /** As the retention desk does it. */
  readonly prune: (limits: Partial<Retention>) => Promise<number>;
  readonly close: () => Promise<void>;
};

const ALL_KEPT: Retention = {
  activityMaxAgeMs: 1e12,
  activityMaxBytes: 1e12,
  auditMaxAgeMs: 1e12,
  auditMaxBytes: 1e12,
  keep: new Set(),
  keepEvents: new Set(),
};

export async function openAudited(dataDir: string, now: () => number = Date.now): Promise<AuditedStore> {
  const store = await openSqliteStore(dataDir, { now });
  const { audit: trail, events: log } = store;
  const keeper = new HeadFiles(headsIn(dataDir), { chainId: trail.chainId, dataDir });
  const file = new JsonLinesFile(join(dataDir, "audit.jsonl"));
  const logger = createLogger("error", () => undefined);
  const writer = new AuditWriter({ log, trail, file, keeper, logger });
  await writer.catchUp();
  const prune = async (limits: Partial<Retention>): Promise<number> => {
    await writer.catchUp();
    const { audit } = await log.prune({ ...ALL_KEPT, ...limits, written: writer.written });
    await writer.catchUp();
    return audit;
  };
  const close = async (): Promise<void> => {
    await writer.close();
    await store.close();
  };
  return { store, writer, prune, close };
}
