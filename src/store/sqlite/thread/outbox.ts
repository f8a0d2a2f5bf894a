/** What waits for chats and what came from them: small tables beside the log, behind the same lock. */
import type { StatementSync } from "node:sqlite";
import type { Forwarded, OutboxChange, OutboxRow, Seen } from "../../../hub/chat/outbox-port.ts";
import type { Connection } from "./connection.ts";

type Reaction = { readonly notice?: string | undefined };

const DELIVERIES_KEPT = 5_000;

export class Outbox {
  readonly #connection: Connection;
  readonly #statements: Readonly<Record<keyof typeof SQL, StatementSync>>;

  constructor(connection: Connection) {
    this.#connection = connection;
    const prepared = Object.entries(SQL).map(([name, sql]) => [name, connection.db.prepare(sql)]);
    this.#statements = Object.fromEntries(prepared) as Record<keyof typeof SQL, StatementSync>;
  }

  change({ add = [], put = [], drop = [], consumed, forwarded = [], forget = [] }: OutboxChange): readonly OutboxRow[] {
    const statements = this.#statements;
    const pages = 1 + add.length + put.length + drop.length;
    return this.#connection.transaction("process", pages, () => {
      const added = add.map((row): OutboxRow => {
        const whole = { ...row, state: "queued" } as const;
        return { ...whole, id: Number(statements.add.run(JSON.stringify(whole)).lastInsertRowid) };
      });
      for (const { id, ...content } of put) statements.put.run(JSON.stringify(content), id);
      for (const id of drop) statements.drop.run(id);
      if (consumed !== undefined) statements.consume.run(consumed);
      for (const it of forwarded) statements.forward.run(it.channel, it.threadId, it.sessionId, it.cursor);
      for (const it of forget) statements.forget.run(it.channel, it.threadId, it.sessionId);
      return added;
    });
  }

  rows(): readonly OutboxRow[] {
    const rows = this.#statements.rows.all();
    return rows.map((row) => ({ ...(JSON.parse(String(row["content"])) as OutboxRow), id: Number(row["id"]) }));
  }

  consumed(): number | undefined {
    const row = this.#statements.consumed.get();
    return row === undefined ? undefined : Number(row["sequence"]);
  }

  forwarded(): readonly Forwarded[] {
    return this.#statements.forwarded.all().map((row) => ({
      channel: String(row["channel"]),
      threadId: String(row["thread_id"]),
      sessionId: String(row["session_id"]),
      cursor: Number(row["cursor"]),
    }));
  }

  seen({ channel, id }: Seen): Reaction | undefined {
    const row = this.#statements.seen.get(channel, id);
    return row === undefined ? undefined : (JSON.parse(String(row["content"])) as Reaction);
  }

  saw({ channel, id }: Seen, reaction: Reaction): void {
    this.#connection.transaction("process", 1, () => {
      this.#statements.saw.run(channel, id, JSON.stringify(reaction));
      this.#statements.prune.run(channel, DELIVERIES_KEPT);
    });
  }
}

const SQL = {
  add: "INSERT INTO outbox (content) VALUES (?)",
  put: "UPDATE outbox SET content = ? WHERE id = ?",
  drop: "DELETE FROM outbox WHERE id = ?",
  rows: "SELECT id, content FROM outbox ORDER BY id",
  consume: "INSERT INTO outbox_consumed VALUES (1, ?) ON CONFLICT DO UPDATE SET sequence = excluded.sequence",
  consumed: "SELECT sequence FROM outbox_consumed",
  forward: "INSERT INTO outbox_forwarded VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET cursor = excluded.cursor",
  forwarded: "SELECT channel, thread_id, session_id, cursor FROM outbox_forwarded",
  forget: "DELETE FROM outbox_forwarded WHERE channel = ? AND thread_id = ? AND session_id = ?",
  seen: "SELECT content FROM received WHERE channel = ? AND delivery = ?",
  saw: "INSERT INTO received (channel, delivery, content) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET content = excluded.content",
  prune: `DELETE FROM received WHERE channel = ?1 AND id <= (
    SELECT id FROM received WHERE channel = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)`,
} as const;
