/**
 * The main thread's end of the store's thread. Calls are answered by id, appends in the order they were made. When
 * the thread dies, everything that waits and everything that follows is rejected.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../lib/thread.ts";
import { CursorExpired, StorageFailed } from "../../hub/ports.ts";
import { AppendBatch, type AppendRequest } from "./append-batch.ts";
import type { CallName, Calls, Failure, FromThread, Opened, ThreadData } from "./messages.ts";
import { StoreUnusable } from "./store-unusable.ts";

/** Payload characters of one message: a larger one would hold back the answers to the first of its appends. */
const MESSAGE_CHARACTERS = 1 << 20;

type PendingCall = { resolve: (result: unknown) => void; reject: (error: Error) => void };

/** `settle` gets the append's outcome (see `FromThread`). */
export type PendingAppend = { settle: (outcome: number) => void; reject: (error: Error) => void };

export class StoreWorker {
  readonly opened: Opened;
  readonly file: string;
  readonly #worker: Worker;
  readonly #typeIds: ReadonlyMap<string, number>;
  readonly #calls = new Map<number, PendingCall>();
  readonly #appends: PendingAppend[] = [];
  #batch: AppendBatch | undefined;
  #batchCharacters = 0;
  #nextCall = 1;
  #problem: StorageFailed | undefined;
  #dead = false;
  #closing: Promise<void> | undefined;
  #onDeath: () => void = () => {};

  private constructor(worker: Worker, file: string, opened: Opened) {
    this.#worker = worker;
    this.file = file;
    this.opened = opened;
    this.#typeIds = new Map(opened.types.flatMap((name, id) => (name === undefined ? [] : [[name, id] as const])));
    worker.on("message", (message: FromThread) => this.#receive(message));
    worker.on("error", (error) => this.#died(error));
    worker.on("exit", () => this.#died(new Error("it was stopped")));
  }

  /** Throws `StoreUnusable` when the file can't be used as it is. */
  static async open(data: ThreadData): Promise<StoreWorker> {
    const url = new URL("thread/main.ts", import.meta.url);
    const worker = startThread(url, { workerData: data, name: "store" });
    const first = await new Promise<FromThread>((resolve, reject) => {
      worker.once("message", resolve);
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the store's thread ended before it had opened the store")));
    });
    if (first.kind === "opened") return new StoreWorker(worker, data.file, first);
    // Its lock goes with the thread: whoever repairs the file must not find it still locked.
    await worker.terminate();
    if (first.kind !== "unusable") throw new Error(`unexpected first message: ${first.kind}`);
    throw new StoreUnusable(first.sentence, first.remedy, { cause: new Error(first.cause) });
  }

  /** Why nothing can be stored any more, if so. */
  get problem(): StorageFailed | undefined {
    return this.#problem;
  }

  /** Called once, when the thread is gone: nothing can be read any more either. */
  onDeath(listener: () => void): void {
    this.#onDeath = listener;
  }

  /** Answers the size of the payloads; throws if one can't be stored as JSON. */
  append(request: AppendRequest, pending: PendingAppend): number {
    if (this.#problem !== undefined) throw this.#problem;
    if (this.#batch === undefined) {
      this.#batch = new AppendBatch(this.#typeIds);
      queueMicrotask(() => this.#flush());
    }
    const characters = this.#batch.add(request);
    this.#appends.push(pending);
    this.#batchCharacters += characters;
    if (this.#batchCharacters >= MESSAGE_CHARACTERS) this.#flush();
    return characters;
  }

  async call<Name extends CallName>(name: Name, argument: Calls[Name]["argument"]): Promise<Calls[Name]["result"]> {
    if (this.#dead) throw this.#problem!;
    this.#flush(); // a read sees the appends that were made before it
    const id = this.#nextCall;
    this.#nextCall += 1;
    const answer = new Promise<unknown>((resolve, reject) => this.#calls.set(id, { resolve, reject }));
    this.#worker.postMessage({ kind: "call", id, name, argument }, []);
    return (await answer) as Calls[Name]["result"];
  }

  async close(): Promise<void> {
    if (!this.#dead) this.#closing ??= this.#close();
    await this.#closing;
  }

  async #close(): Promise<void> {
    const gone = new Promise((resolve) => this.#worker.once("exit", resolve));
    await this.call("close", undefined);
    await gone;
  }

  #flush(): void {
    const batch = this.#batch;
    this.#batch = undefined;
    this.#batchCharacters = 0;
    if (batch !== undefined && !batch.isEmpty && !this.#dead) this.#worker.postMessage(batch.message(), []);
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case "appended": {
        const settled = this.#appends.splice(0, message.outcomes.length);
        settled.forEach((append, index) => append.settle(message.outcomes[index]!));
        return;
      }
      case "append_failed": {
        const error = this.#errorFrom(message.failure);
        for (const append of this.#appends.splice(0, message.count)) append.reject(error);
        return;
      }
      case "answer":
        this.#take(message.id)?.resolve(message.result);
        return;
      case "failed":
        this.#take(message.id)?.reject(this.#errorFrom(message.failure));
        return;
      case "opened":
      case "unusable":
        throw new Error(`unexpected message: ${message.kind}`);
    }
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#calls.get(id);
    this.#calls.delete(id);
    return call;
  }

  #errorFrom(failure: Failure): Error {
    if (failure.oldest !== undefined) return new CursorExpired(failure.oldest);
    const error = new StorageFailed(failure.message, { cause: new Error(failure.cause) });
    if (failure.fatal) this.#problem ??= error;
    return error;
  }

  #died(cause: Error): void {
    if (this.#dead) return;
    this.#dead = true;
    const sentence = `The store's thread ended (${cause.message}): restart the hub.`;
    this.#problem ??= new StorageFailed(this.#closing === undefined ? sentence : "The store is closed.", { cause });
    for (const append of this.#appends.splice(0)) append.reject(this.#problem);
    for (const call of this.#calls.values()) call.reject(this.#problem);
    this.#calls.clear();
    this.#onDeath();
  }
}
