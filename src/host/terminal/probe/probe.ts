/**
 * Asks whether the foreground program of a terminal waits for input. One thread looks for all sessions of the host,
 * one look at a time, because reading other processes can block: a look that does is answered as unknown, and a new
 * thread goes on with the next. Rules in docs/spec/probe.md.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "../../../lib/thread.ts";
import type { Look, ProbeTarget } from "./look.ts";

export type { Look, ProbeTarget } from "./look.ts";
export { descendants } from "./processes.ts";

/** `thread` is the program that looks. */
export type ProbeOptions = { readonly deadlineMs?: number; readonly thread?: URL };

type Pending = { readonly id: number; readonly target: ProbeTarget; readonly settle: (look: Look) => void };
type Answer = { readonly id: number; readonly look: Look };

const DEADLINE_MS = 500;
/** A machine that stands still for a while takes one of them from a look, not all of its time. */
const DEADLINE_PARTS = 5;

export class Probe {
  readonly #deadlineMs: number;
  readonly #thread: URL;
  readonly #queue: Pending[] = [];
  #worker: Worker | undefined;
  #ready = false;
  #timer: NodeJS.Timeout | undefined;
  #nextId = 1;
  #closed = false;

  private constructor({ deadlineMs = DEADLINE_MS, thread }: ProbeOptions) {
    this.#deadlineMs = deadlineMs;
    this.#thread = thread ?? new URL("probe-worker.ts", import.meta.url);
  }

  static async open(options: ProbeOptions = {}): Promise<Probe> {
    const probe = new Probe(options);
    await probe.#start();
    return probe;
  }

  /** Never rejects. */
  look(target: ProbeTarget): Promise<Look> {
    if (this.#closed) return Promise.resolve(unknown("the probe is closed"));
    return new Promise((settle) => {
      this.#queue.push({ id: this.#nextId, target, settle });
      this.#nextId += 1;
      if (this.#queue.length === 1) this.#next();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#giveUp("the probe is closed");
    await this.#worker?.terminate();
  }

  #next(): void {
    const first = this.#queue[0];
    if (first === undefined) return;
    const worker = this.#worker;
    if (worker === undefined) void this.#start().catch(() => undefined);
    else if (this.#ready) {
      this.#wait(worker, DEADLINE_PARTS);
      worker.postMessage({ id: first.id, target: first.target }, []);
    }
  }

  #wait(worker: Worker, parts: number): void {
    const over = (): void =>
      parts > 1 ? this.#wait(worker, parts - 1) : this.#abandon(worker, "the look took too long");
    this.#timer = setTimeout(over, this.#deadlineMs / DEADLINE_PARTS);
  }

  /** Rejects when the thread never gets ready; whoever waits has been answered then. */
  #start(): Promise<void> {
    const worker = startThread(this.#thread, { name: "probe" });
    this.#worker = worker;
    worker.unref();
    worker.on("error", (error) => this.#abandon(worker, error.message));
    worker.on("exit", () => this.#abandon(worker, "its thread ended"));
    return new Promise((resolve, reject) => {
      worker.once("error", reject);
      worker.once("exit", () => reject(new Error("the probe's thread ended before it was ready")));
      worker.once("message", () => {
        resolve();
        worker.on("message", (answer: Answer) => this.#receive(answer));
        if (worker !== this.#worker) return;
        this.#ready = true;
        this.#next();
      });
    });
  }

  #receive({ id, look }: Answer): void {
    if (this.#queue[0]?.id !== id) return;
    clearTimeout(this.#timer);
    this.#queue.shift()?.settle(look);
    this.#next();
  }

  /** A thread blocked in the kernel ends only when the kernel lets it: nobody waits for that. */
  #abandon(worker: Worker, reason: string): void {
    if (worker !== this.#worker || this.#closed) return;
    void worker.terminate();
    clearTimeout(this.#timer);
    this.#worker = undefined;
    if (!this.#ready) return this.#giveUp(reason);
    this.#ready = false;
    this.#queue.shift()?.settle(unknown(reason));
    return this.#next();
  }

  #giveUp(reason: string): void {
    clearTimeout(this.#timer);
    for (const { settle } of this.#queue.splice(0)) settle(unknown(reason));
  }
}

function unknown(reason: string): Look {
  return { waiting: false, confidence: "low", reason: `unknown: ${reason}` };
}
