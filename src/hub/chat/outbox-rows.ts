/** The rows of the outbox in memory, found by what is asked for them: with thousands that wait, no question looks through all of them. */
import { type Thread, threadKey } from "../../domain/conversation.ts";
import type { Forwarded, OutboxChange, OutboxRow } from "./outbox-port.ts";

export class OutboxRows {
  readonly #all = new Map<number, OutboxRow>();
  readonly #inThread = new Map<string, Map<number, OutboxRow>>();
  readonly #about = new Map<string, Map<number, OutboxRow>>();
  readonly #forwarded = new Map<string, Map<string, Forwarded>>();

  /** As it was stored; `added` with the numbers that they got. */
  apply({ drop = [], put = [], forwarded = [], forget = [] }: OutboxChange, added: readonly OutboxRow[]): void {
    for (const id of drop) this.#drop(id);
    for (const row of [...put, ...added]) this.#put(row);
    for (const it of forwarded) within(this.#forwarded, it.sessionId).set(threadKey(it), it);
    for (const it of forget) without(this.#forwarded, it.sessionId, threadKey(it));
  }

  get(id: number): OutboxRow | undefined {
    return this.#all.get(id);
  }

  /** Oldest first, as everywhere here. */
  all(): readonly OutboxRow[] {
    return [...this.#all.values()];
  }

  in(thread: Thread): Iterable<OutboxRow> {
    return this.#inThread.get(threadKey(thread))?.values() ?? [];
  }

  about(what: string): readonly OutboxRow[] {
    return [...(this.#about.get(what)?.values() ?? [])];
  }

  forwarded(): readonly Forwarded[] {
    return [...this.#forwarded.values()].flatMap((it) => [...it.values()]);
  }

  forwardedOf(sessionId: string): readonly Forwarded[] {
    return [...(this.#forwarded.get(sessionId)?.values() ?? [])];
  }

  #put(row: OutboxRow): void {
    const before = this.#all.get(row.id);
    if (before?.about !== undefined && before.about !== row.about) without(this.#about, before.about, row.id);
    this.#all.set(row.id, row);
    within(this.#inThread, threadKey(row)).set(row.id, row);
    if (row.about !== undefined) within(this.#about, row.about).set(row.id, row);
  }

  #drop(id: number): void {
    const row = this.#all.get(id);
    if (row === undefined) return;
    this.#all.delete(id);
    without(this.#inThread, threadKey(row), id);
    if (row.about !== undefined) without(this.#about, row.about, id);
  }
}

function within<K, V>(groups: Map<string, Map<K, V>>, name: string): Map<K, V> {
  const group = groups.get(name) ?? new Map<K, V>();
  groups.set(name, group);
  return group;
}

function without<K, V>(groups: Map<string, Map<K, V>>, name: string, key: K): void {
  const group = groups.get(name);
  group?.delete(key);
  if (group?.size === 0) groups.delete(name);
}
