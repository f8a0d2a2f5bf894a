/** Removes rows, and remembers with the same transaction that they are gone. Rules LOG-8, LOG-10. */
import type { StatementSync } from "node:sqlite";
import type { AuditChain } from "./audit-chain.ts";
import type { Connection } from "./connection.ts";
import type { ByClass, ClassId } from "./figures.ts";
import type { Ledger } from "./ledger.ts";

export type Candidate = [
  sequence: number,
  stream: number,
  retention: ClassId,
  at: number,
  bytes: number,
  typeName: string,
];

export class Removal {
  readonly #connection: Connection;
  readonly #ledger: Ledger;
  readonly #chain: AuditChain;
  readonly #delete: StatementSync;
  readonly #remember: StatementSync;

  constructor(connection: Connection, ledger: Ledger, chain: AuditChain) {
    this.#connection = connection;
    this.#ledger = ledger;
    this.#chain = chain;
    this.#delete = connection.db.prepare("DELETE FROM events WHERE sequence = ?");
    // The version would be forgotten with the stream's last event, and a decision made twice.
    this.#remember = connection.db.prepare(
      `UPDATE streams SET version = max(version, ?2, ?3, ?4), activity_floor = max(activity_floor, ?2),
       audit_floor = max(audit_floor, ?3), housekeeping_floor = max(housekeeping_floor, ?4) WHERE id = ?1`,
    );
  }

  /** Answers how many they were. */
  remove(rows: readonly Candidate[], now: number): number {
    if (rows.length === 0) return 0;
    const figures = this.#ledger.figures();
    const links = this.#chain.state;
    const decisions = rows.flatMap(([sequence, , retention]) => (retention === 0 ? [] : [sequence]));
    try {
      this.#connection.transaction("process", rows.length, () => {
        this.#chain.remove(decisions, Math.max(now, this.#ledger.lastAt));
        const floors = new Map<number, ByClass>();
        for (const row of rows) this.#removeRow(row, floors);
        for (const [stream, floor] of floors) this.#remember.run(stream, ...floor);
        this.#ledger.save();
      });
    } catch (error) {
      this.#ledger.restore(figures);
      this.#chain.restore(links);
      throw error;
    }
    return rows.length;
  }

  #removeRow([sequence, stream, retention, , bytes]: Candidate, floors: Map<number, ByClass>): void {
    this.#delete.run(sequence);
    this.#ledger.bytes[retention === 0 ? 0 : 1] -= bytes;
    this.#ledger.floors[retention] = Math.max(this.#ledger.floors[retention], sequence);
    const floor = floors.get(stream) ?? [0, 0, 0];
    floor[retention] = sequence;
    floors.set(stream, floor);
  }
}
