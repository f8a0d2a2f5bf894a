/**
 * Regular expressions in linear time (RE2 syntax), in threads of their own: `^` and `$` are begin and end of a line.
 * A call that takes too long is refused and its thread replaced; the caller's thread is never held up.
 */
import type { Worker } from "node:worker_threads";
import { startThread } from "./thread.ts";

export type PatternCall =
  | { readonly kind: "compile"; readonly pattern: string }
  | { readonly kind: "find"; readonly pattern: string; readonly text: string; readonly from: number };

export type PatternAnswer =
  | { readonly kind: "ready" }
  | { readonly kind: "compiled"; readonly crossesLines: boolean }
  | { readonly kind: "found"; readonly range: readonly [number, number] | undefined }
  | { readonly kind: "refused"; readonly reason: string };

/** The pattern's fault, said so that its author can mend it. */
export class PatternRefused extends Error {
  override readonly name = "PatternRefused";
}

const DEADLINE_MS = 200;
/** A machine that stands still for a while takes one of them from a try, not all of its time. */
const DEADLINE_PARTS = 10;
/** With two, a slow pattern leaves one for the others. */
const THREADS = 2;

/** `error`: why the thread never became ready. */
type Listener = { idle(): void; gone(error: Error | undefined): void };

type Job = { readonly call: PatternCall; settle(answer: PatternAnswer): void; fail(error: Error): void };

export class Patterns {
  readonly #deadlineMs: number;
  readonly #threads = new Set<PatternThread>();
  readonly #waiting: Job[] = [];
  #closed = false;

  constructor({ deadlineMs = DEADLINE_MS }: { readonly deadlineMs?: number } = {}) {
    this.#deadlineMs = deadlineMs;
  }

  /** Throws `PatternRefused`. `crossesLines`: whether a match can take in a newline. */
  async compile(pattern: string): Promise<{ readonly crossesLines: boolean }> {
    const answer = await this.#ask({ kind: "compile", pattern });
    return { crossesLines: answer.kind === "compiled" && answer.crossesLines };
  }

  /** The leftmost match at or after `from`. Throws `PatternRefused`, also when it takes too long. */
  async find(pattern: string, text: string, from: number): Promise<readonly [number, number] | undefined> {
    const answer = await this.#ask({ kind: "find", pattern, text, from });
    return answer.kind === "found" ? answer.range : undefined;
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const job of this.#waiting.splice(0)) job.fail(new Error("patterns are closed"));
    await Promise.all([...this.#threads].map((it) => it.stop(new Error("patterns are closed"))));
  }

  async #ask(call: PatternCall): Promise<PatternAnswer> {
    if (this.#closed) throw new Error("patterns are closed");
    const answer = await new Promise<PatternAnswer>((settle, fail) => {
      this.#waiting.push({ call, settle, fail });
      this.#assign();
    });
    if (answer.kind === "refused") throw new PatternRefused(answer.reason);
    return answer;
  }

  #assign(): void {
    if (this.#waiting.length === 0) return;
    const idle = [...this.#threads].find((it) => it.idle);
    if (idle !== undefined) {
      idle.run(this.#waiting.shift()!);
    } else if (this.#threads.size < THREADS && !this.#closed) {
      const thread = new PatternThread(this.#deadlineMs, {
        idle: () => this.#assign(),
        gone: (error) => {
          this.#threads.delete(thread);
          // One that never came up would come up no better the next time.
          if (error !== undefined) for (const job of this.#waiting.splice(0)) job.fail(error);
          this.#assign();
        },
      });
      this.#threads.add(thread);
    }
  }
}

class PatternThread {
  readonly #worker: Worker;
  readonly #deadlineMs: number;
  readonly #listener: Listener;
  #ready = false;
  #failure: Error | undefined = new Error("the thread of patterns could not start");
  #job: Job | undefined;
  #deadline: NodeJS.Timeout | undefined;

  constructor(deadlineMs: number, listener: Listener) {
    this.#deadlineMs = deadlineMs;
    this.#listener = listener;
    this.#worker = startThread(new URL("patterns-thread.ts", import.meta.url), {
      name: "patterns",
      // A pattern's tables must not take the hub's memory.
      resourceLimits: { maxOldGenerationSizeMb: 128 },
    });
    this.#worker.on("message", (answer: PatternAnswer) => this.#receive(answer));
    this.#worker.on("error", (error) => this.#end(refusedFor(error)));
    this.#worker.on("exit", () => {
      this.#end(new Error("the thread of patterns ended"));
      listener.gone(this.#failure);
    });
  }

  get idle(): boolean {
    return this.#ready && this.#job === undefined;
  }

  run(job: Job): void {
    this.#job = job;
    this.#wait(job, DEADLINE_PARTS);
    this.#worker.postMessage(job.call, []);
  }

  async stop(reason: Error): Promise<void> {
    this.#ready = false;
    this.#failure = undefined;
    this.#end(reason);
    await this.#worker.terminate();
  }

  #wait(job: Job, parts: number): void {
    const over = (): void => (parts > 1 ? this.#wait(job, parts - 1) : this.#late(job));
    this.#deadline = setTimeout(over, this.#deadlineMs / DEADLINE_PARTS);
  }

  /** An answer that is here already but not yet read, because this thread was busy, counts. */
  #late(job: Job): void {
    setImmediate(() => {
      if (this.#job === job) void this.stop(new PatternRefused("it takes too long"));
    });
  }

  #receive(answer: PatternAnswer): void {
    if (answer.kind === "ready") {
      this.#ready = true;
      this.#failure = undefined;
      this.#worker.unref();
    } else {
      this.#take()?.settle(answer);
    }
    this.#listener.idle();
  }

  #end(reason: Error): void {
    this.#take()?.fail(reason);
  }

  #take(): Job | undefined {
    clearTimeout(this.#deadline);
    const job = this.#job;
    this.#job = undefined;
    return job;
  }
}

function refusedFor(error: Error & { code?: unknown }): Error {
  return error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new PatternRefused("it takes too much memory") : error;
}
