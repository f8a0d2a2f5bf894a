/** Credentials and remembered answers: small tables beside the log, behind the same lock. */
import type { StatementSync } from "node:sqlite";
import type { Credential, RememberedAnswer } from "../../../hub/ports.ts";
import type { AnswerKey } from "../messages.ts";
import type { Connection } from "./connection.ts";

export class Credentials {
  readonly #connection: Connection;
  readonly #all: StatementSync;
  readonly #put: StatementSync;
  readonly #remove: StatementSync;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#all = connection.db.prepare("SELECT content FROM credentials ORDER BY rowid");
    this.#put = connection.db.prepare(
      "INSERT INTO credentials VALUES (?1, ?2) ON CONFLICT DO UPDATE SET content = excluded.content",
    );
    this.#remove = connection.db.prepare("DELETE FROM credentials WHERE token_id = ?");
  }

  all(): readonly Credential[] {
    return this.#all.all().map((row) => JSON.parse(String(row["content"])) as Credential);
  }

  put(credential: Credential): void {
    this.#connection.transaction("power", 1, () => this.#put.run(credential.tokenId, JSON.stringify(credential)));
  }

  remove(tokenIds: readonly string[]): void {
    this.#connection.transaction("power", 1, () => tokenIds.forEach((tokenId) => this.#remove.run(tokenId)));
  }
}

export class Answers {
  readonly #connection: Connection;
  readonly #get: StatementSync;
  readonly #put: StatementSync;
  readonly #forget: StatementSync;
  readonly #prune: StatementSync;

  constructor(connection: Connection) {
    this.#connection = connection;
    this.#get = connection.db.prepare("SELECT content FROM answers WHERE scope = ? AND key = ?");
    this.#put = connection.db.prepare(
      "INSERT INTO answers VALUES (?1, ?2, ?3, ?4) ON CONFLICT DO UPDATE SET at = excluded.at, content = excluded.content",
    );
    this.#forget = connection.db.prepare("DELETE FROM answers WHERE scope = ? AND key = ?");
    this.#prune = connection.db.prepare("DELETE FROM answers WHERE at < ?");
  }

  get({ scope, key }: AnswerKey): RememberedAnswer | undefined {
    const row = this.#get.get(scope, key);
    return row === undefined ? undefined : (JSON.parse(String(row["content"])) as RememberedAnswer);
  }

  put({ scope, key }: AnswerKey, answer: RememberedAnswer, at: number): void {
    // A forgotten `started` would let a retry act a second time on a host that did not lose power;
    // a forgotten `done` only makes the outcome unknown.
    const durability = answer.state === "started" ? "power" : "process";
    this.#connection.transaction(durability, 1, () => this.#put.run(scope, key, at, JSON.stringify(answer)));
  }

  forget({ scope, key }: AnswerKey): void {
    this.#connection.transaction("process", 1, () => this.#forget.run(scope, key));
  }

  prune(before: number): void {
    this.#connection.transaction("process", 1, () => this.#prune.run(before));
  }
}
