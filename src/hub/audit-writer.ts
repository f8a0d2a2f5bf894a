/**
 * Writes the chain outside the store: every record as a line of the audit file, then its head to the keeper. It asks
 * the store for what follows the last line, so that starting, going on and catching up are one thing. What fails is
 * tried again and never in anybody's way. Rules AUD-6..AUD-9 in docs/spec/audit.md.
 */
import { CHAIN_START, type ChainHead } from "../domain/audit-chain.ts";
import { retentionOf } from "../domain/event.ts";
import type { Logger } from "../lib/logger.ts";
import type { AuditFile, AuditTrail, EventLog, HeadKeeper } from "./ports.ts";

export type AuditWriterParts = {
  readonly log: EventLog;
  readonly trail: AuditTrail;
  readonly file: AuditFile;
  /** Absent where the file is the only place outside the store. */
  readonly keeper: HeadKeeper | undefined;
  readonly logger: Logger;
};

const RETRY_MS = 5_000;
const NOTHING: ChainHead = { sequence: 0, checkpoint: 0, chain: CHAIN_START };

/** While lines come without an end, the head is kept this often. */
const KEEP_EVERY_MS = 200;

type Waiting = { readonly upTo: number; readonly resolve: () => void };

export class AuditWriter {
  readonly #parts: AuditWriterParts;
  readonly #watch: Disposable;
  #written: ChainHead | undefined;
  /** After a failure the file alone knows what it holds. */
  #isPlaced = false;
  #running: Promise<void> | undefined;
  #isAwaited = false;
  #waiting: Waiting[] = [];
  #keptAt = 0;
  #retry: NodeJS.Timeout | undefined;
  #problem: string | undefined;
  #isKeeping = true;
  #stopped = false;

  constructor(parts: AuditWriterParts) {
    this.#parts = parts;
    this.#watch = parts.log.observe((events) => {
      if (events.some(({ type }) => retentionOf(type) !== "activity")) this.wake();
    });
  }

  /** How far the lines are written. */
  get written(): ChainHead {
    return this.#written ?? NOTHING;
  }

  /** Why lines can't be written at present, if so. */
  get problem(): string | undefined {
    return this.#problem;
  }

  /** Resolves when what is stored by now is written, or could not be; what comes meanwhile is not waited for. */
  catchUp(): Promise<void> {
    if (this.#stopped) return Promise.resolve();
    const caughtUp = new Promise<void>((resolve) => this.#waiting.push({ upTo: this.#parts.log.head, resolve }));
    this.wake();
    return caughtUp;
  }

  wake(): void {
    this.#isAwaited = true;
    if (this.#stopped) return;
    this.#running ??= this.#run();
  }

  /** Before the store is closed; what is missing then is written at the next start. */
  async close(): Promise<void> {
    this.#watch[Symbol.dispose]();
    this.wake();
    this.#stopped = true;
    clearTimeout(this.#retry);
    await this.#running;
    clearTimeout(this.#retry);
    await this.#parts.file.close();
  }

  async #run(): Promise<void> {
    clearTimeout(this.#retry);
    try {
      while (this.#isAwaited) {
        this.#isAwaited = false;
        await this.#writeOn();
      }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      if (this.#problem === undefined) this.#parts.logger.error("audit lines can't be written", { error });
      this.#problem = message;
      this.#isPlaced = false;
      this.#retry = setTimeout(() => this.wake(), RETRY_MS);
      this.#retry.unref();
    } finally {
      // Without a pause since the last look: a wake in between would be lost.
      this.#running = undefined;
      this.#release(this.#waiting);
    }
  }

  async #writeOn(): Promise<void> {
    const { trail, file } = this.#parts;
    const before = this.#written;
    if (!this.#isPlaced) this.#written = await this.#whereItStands();
    this.#isPlaced = true;
    try {
      for (;;) {
        const waiting = [...this.#waiting];
        const page = await trail.after(this.#written);
        if (page !== undefined) await file.append(page.lines);
        this.#worked();
        if (page === undefined) return this.#release(waiting);
        this.#written = page.end;
        if (performance.now() - this.#keptAt > KEEP_EVERY_MS) await this.#keep();
        this.#release(waiting.filter(({ upTo }) => upTo <= page.end.sequence));
      }
    } finally {
      if (this.#written !== before) await this.#keep();
    }
  }

  #worked(): void {
    if (this.#problem !== undefined) this.#parts.logger.info("audit lines are written again");
    this.#problem = undefined;
  }

  #release(waiting: readonly Waiting[]): void {
    this.#waiting = this.#waiting.filter((it) => !waiting.includes(it));
    for (const { resolve } of waiting) resolve();
  }

  /** An empty file was turned over, or never was: then the keeper knows. */
  async #whereItStands(): Promise<ChainHead | undefined> {
    const { trail, file, keeper, logger } = this.#parts;
    const lines = await file.newest();
    const kept = (await keeper?.heads().catch(() => [])) ?? [];
    const found = await trail.find(lines.length > 0 ? lines : kept);
    if (found === undefined && lines.length > 0) logger.error("the audit file is not of this store: see audit verify");
    return found ?? (lines.length > 0 ? undefined : this.#written);
  }

  async #keep(): Promise<void> {
    const { keeper, logger } = this.#parts;
    this.#keptAt = performance.now();
    try {
      if (this.#written !== undefined) await keeper?.keep(this.#written);
      this.#isKeeping = true;
    } catch (error) {
      if (this.#isKeeping) logger.warn("the audit head can't be kept outside the store", { error });
      this.#isKeeping = false;
    }
  }
}
