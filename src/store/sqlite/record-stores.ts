/** Credentials, remembered answers and what waits for chats, kept beside the log. */
import type { Forwarded, OutboxChange, OutboxRow, OutboxStore, Seen } from "../../hub/chat/outbox-port.ts";
import type { AnswerStore, Credential, CredentialStore, RememberedAnswer } from "../../hub/ports.ts";
import type { StoreWorker } from "./store-worker.ts";

export class SqliteCredentialStore implements CredentialStore {
  readonly #worker: StoreWorker;

  constructor(worker: StoreWorker) {
    this.#worker = worker;
  }

  async all(): Promise<readonly Credential[]> {
    return await this.#worker.call("allCredentials", undefined);
  }

  async put(credential: Credential): Promise<void> {
    await this.#worker.call("putCredential", credential);
  }

  async remove(tokenIds: readonly string[]): Promise<void> {
    await this.#worker.call("removeCredentials", tokenIds);
  }
}

export class SqliteAnswerStore implements AnswerStore {
  readonly #worker: StoreWorker;
  readonly #now: () => number;

  constructor(worker: StoreWorker, now: () => number) {
    this.#worker = worker;
    this.#now = now;
  }

  async get(scope: string, key: string): Promise<RememberedAnswer | undefined> {
    return await this.#worker.call("getAnswer", { scope, key });
  }

  async put(scope: string, key: string, answer: RememberedAnswer): Promise<void> {
    await this.#worker.call("putAnswer", { scope, key, answer, at: this.#now() });
  }

  async forget(scope: string, key: string): Promise<void> {
    await this.#worker.call("forgetAnswer", { scope, key });
  }

  /** `olderThanMs` is an age. */
  async prune(olderThanMs: number): Promise<void> {
    await this.#worker.call("pruneAnswers", { before: this.#now() - olderThanMs });
  }
}

export class SqliteOutboxStore implements OutboxStore {
  readonly #worker: StoreWorker;

  constructor(worker: StoreWorker) {
    this.#worker = worker;
  }

  async change(change: OutboxChange): Promise<readonly OutboxRow[]> {
    return await this.#worker.call("changeOutbox", change);
  }

  async rows(): Promise<readonly OutboxRow[]> {
    return await this.#worker.call("outboxRows", undefined);
  }

  async consumed(): Promise<number | undefined> {
    return await this.#worker.call("outboxConsumed", undefined);
  }

  async forwarded(): Promise<readonly Forwarded[]> {
    return await this.#worker.call("outboxForwarded", undefined);
  }

  async seen(delivery: Seen): Promise<{ readonly notice?: string | undefined } | undefined> {
    return await this.#worker.call("seenDelivery", delivery);
  }

  async saw({ channel, id }: Seen, reaction: { readonly notice?: string | undefined }): Promise<void> {
    await this.#worker.call("sawDelivery", { channel, id, reaction });
  }
}
