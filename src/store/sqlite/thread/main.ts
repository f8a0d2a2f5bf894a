/**
 * The store's thread: the only place that touches SQLite, so that a slow disk never stops the hub's loop. Takes
 * messages in order; appends that wait together are stored together.
 */
import { type MessagePort, parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { CursorExpired } from "../../../hub/ports.ts";
import type {
  AppendMessage,
  CallMessage,
  CallName,
  Calls,
  Failure,
  FromThread,
  ThreadData,
  ToThread,
} from "../messages.ts";
import { ROW_WIDTH } from "../messages.ts";
import { Appender } from "./appender.ts";
import { AuditChain } from "./audit-chain.ts";
import { AuditCompactor } from "./audit-compactor.ts";
import { AuditTrailReader } from "./audit-trail.ts";
import { Connection } from "./connection.ts";
import { Ledger } from "./ledger.ts";
import { MIGRATIONS } from "./migrations.ts";
import { readTypes, Sources, Streams } from "./names.ts";
import { Outbox } from "./outbox.ts";
import { Pruner } from "./pruner.ts";
import { Reader } from "./reader.ts";
import { Answers, Credentials } from "./records.ts";
import { explain, isFatal, textOf } from "./sqlite-errors.ts";

/** Rows of one transaction: bounds how long the first append of a group waits for the others. */
const GROUP_ROWS = 2_000;

type Handlers = {
  [Name in CallName]: (argument: Calls[Name]["argument"]) => Calls[Name]["result"] | Promise<Calls[Name]["result"]>;
};

type Parts = {
  readonly ledger: Ledger;
  readonly chain: AuditChain;
  readonly streams: Streams;
  readonly reader: Reader;
};

class StoreThread {
  readonly #port: MessagePort;
  readonly #file: string;
  readonly #connection: Connection;
  readonly #appender: Appender;
  readonly #handlers: Handlers;
  #closing = false;
  #pruning: Promise<unknown> = Promise.resolve();

  constructor(port: MessagePort, data: ThreadData) {
    this.#port = port;
    this.#file = data.file;
    const connection = Connection.open(data.file, data.bootId);
    this.#connection = connection;
    const { db } = connection;
    const ledger = new Ledger(connection, data.file, data.bootId);
    const names = { streams: new Streams(db), sources: new Sources(db), types: readTypes(db) };
    const chain = new AuditChain(db, data.file);
    this.#appender = new Appender({ connection, ledger, chain, ...names });
    this.#handlers = this.#calls({
      ledger,
      chain,
      streams: names.streams,
      reader: new Reader({ db, ledger, ...names }),
    });
    // Nothing is written before everything was read and every statement fits the tables.
    connection.transaction("power", 1, () => {
      chain.begin(Math.max(data.now, ledger.lastAt));
      ledger.save();
    });
    connection.emptyLog();
    const sqliteVersion = String(db.prepare("SELECT sqlite_version() AS version").get()?.["version"]);
    this.#post({
      kind: "opened",
      head: ledger.head,
      lastAt: ledger.lastAt,
      types: names.types,
      sqliteVersion,
      schemaVersion: MIGRATIONS.length,
      chainId: chain.newest.chainId,
    });
    port.on("message", (message: ToThread) => this.#take(message));
  }

  #calls({ ledger, chain, streams, reader }: Parts): Handlers {
    const { db } = this.#connection;
    const trail = new AuditTrailReader(db, chain);
    const compactor = new AuditCompactor(this.#connection, chain, trail);
    const pruner = new Pruner(this.#connection, { ledger, streams, chain, compactor });
    const credentials = new Credentials(this.#connection);
    const answers = new Answers(this.#connection);
    const outbox = new Outbox(this.#connection);
    return {
      page: (request) => reader.page(request),
      last: ({ sessionId, type }) => reader.last(sessionId, type),
      lastPlaced: ({ sessionId }) => reader.lastPlaced(sessionId),
      prune: async (request) => {
        const earlier = this.#pruning;
        const pruned = earlier.catch(() => undefined).then(() => pruner.prune(request, () => this.#pause()));
        this.#pruning = pruned;
        return await pruned;
      },
      findHead: (heads) => trail.find(heads),
      auditPage: (place) => {
        // Else a loss of power could leave more outside than inside, which looks like a truncation.
        if (!this.#connection.isFlushed) this.#connection.transaction("power", 1, () => ledger.save());
        return trail.page(place);
      },
      integrityCheck: () => {
        const found = db.prepare("PRAGMA integrity_check(10)").all();
        return found.map((row) => String(row["integrity_check"])).join("; ");
      },
      allCredentials: () => credentials.all(),
      putCredential: (credential) => credentials.put(credential),
      removeCredentials: (tokenIds) => credentials.remove(tokenIds),
      getAnswer: (key) => answers.get(key),
      putAnswer: (put) => answers.put(put, put.answer, put.at),
      forgetAnswer: (key) => answers.forget(key),
      pruneAnswers: ({ before }) => answers.prune(before),
      changeOutbox: (change) => outbox.change(change),
      outboxRows: () => outbox.rows(),
      outboxConsumed: () => outbox.consumed(),
      outboxForwarded: () => outbox.forwarded(),
      seenDelivery: (delivery) => outbox.seen(delivery),
      sawDelivery: ({ reaction, ...delivery }) => outbox.saw(delivery, reaction),
      close: async () => await this.#close(ledger),
    };
  }

  #take(first: ToThread): void {
    let next: ToThread | undefined = first;
    while (next !== undefined) {
      if (next.kind === "call") {
        void this.#call(next);
        next = this.#receive();
        continue;
      }
      const group = [next];
      let rows = next.rows.length / ROW_WIDTH;
      for (next = this.#receive(); next?.kind === "append" && rows < GROUP_ROWS; next = this.#receive()) {
        group.push(next);
        rows += next.rows.length / ROW_WIDTH;
      }
      this.#append(group);
    }
  }

  #receive(): ToThread | undefined {
    return receiveMessageOnPort(this.#port)?.message as ToThread | undefined;
  }

  #append(group: readonly AppendMessage[]): void {
    try {
      const outcomes = this.#appender.write(group);
      this.#post({ kind: "appended", outcomes });
    } catch (error) {
      const count = group.reduce((sum, message) => sum + message.streams.length, 0);
      this.#post({ kind: "append_failed", count, failure: this.#failure(error) });
    }
    this.#connection.checkpointWhenDue();
  }

  async #call(message: CallMessage): Promise<void> {
    try {
      const handler = this.#handlers[message.name] as (argument: unknown) => unknown;
      const answer = handler(message.argument);
      // Not awaited when it is there already: a page must be answered before any append that follows it.
      const result = answer instanceof Promise ? await answer : answer;
      this.#post({ kind: "answer", id: message.id, result });
    } catch (error) {
      this.#post({ kind: "failed", id: message.id, failure: this.#failure(error) });
    }
    if (message.name === "close") this.#port.close();
    else this.#connection.checkpointWhenDue();
  }

  async #close(ledger: Ledger): Promise<void> {
    this.#closing = true;
    await this.#pruning.catch(() => undefined);
    if (this.#connection.broken === undefined) this.#connection.transaction("power", 1, () => ledger.save(1));
    this.#connection.close();
  }

  /** Resolves after the messages that wait have been taken; false when the store is being closed. */
  async #pause(): Promise<boolean> {
    await new Promise((resolve) => setImmediate(resolve));
    return !this.#closing;
  }

  #failure(error: unknown): Failure {
    const { broken } = this.#connection;
    const cause = textOf(error);
    const message = isFatal(error) ? `Reading ${this.#file} failed (${cause}).` : cause;
    const oldest = error instanceof CursorExpired ? { oldest: error.oldest } : {};
    return { message: broken ?? message, cause, fatal: broken !== undefined, ...oldest };
  }

  #post(message: FromThread): void {
    this.#port.postMessage(message, []);
  }
}

function start(port: MessagePort): void {
  const data = workerData as ThreadData;
  try {
    void new StoreThread(port, data);
  } catch (error) {
    const unusable = explain(error, data.file);
    if (unusable === undefined) throw error;
    const { message: sentence, remedy } = unusable;
    const cause = error instanceof Error ? error.message : "";
    port.postMessage({ kind: "unusable", sentence, remedy, cause } satisfies FromThread, []);
  }
}

start(parentPort!);
