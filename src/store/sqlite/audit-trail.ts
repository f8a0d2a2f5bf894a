/** The chain over all decisions, read through the store's thread. */
import type { ChainHead } from "../../domain/audit-chain.ts";
import type { AuditHead, AuditPage, AuditTrail } from "../../hub/ports.ts";
import type { StoreWorker } from "./store-worker.ts";

export class SqliteAuditTrail implements AuditTrail {
  readonly chainId: string;
  readonly #worker: StoreWorker;

  constructor(worker: StoreWorker) {
    this.#worker = worker;
    this.chainId = worker.opened.chainId;
  }

  async find(heads: readonly AuditHead[]): Promise<ChainHead | undefined> {
    return await this.#worker.call("findHead", heads);
  }

  async after(place: ChainHead | undefined): Promise<AuditPage | undefined> {
    return await this.#worker.call("auditPage", place);
  }
}
