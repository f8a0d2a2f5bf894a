/**
 * Output of bound sessions on its way to chats: read from the stored bytes, collected for two seconds, at most fifteen messages a
 * minute. Where the last message ended is stored with it; after a restart it goes on there. Rules CHN-21..CHN-24, PMT-90..PMT-99.
 */
import { displayText } from "../../domain/display-text.ts";
import { isThread, type Thread } from "../../domain/conversation.ts";
import type { StoredEvent } from "../../domain/event.ts";
import {
  collect,
  EMPTY_BATCH,
  flush,
  isEnough,
  isInvisible,
  type OutputBatch,
  type OutputMessage,
} from "../../domain/prompts/output-batch.ts";
import { routeOutput } from "../../domain/prompts/output-router.ts";
import type { Logger } from "../../lib/logger.ts";
import { startTimer } from "../../lib/long-timer.ts";
import { Turns } from "../../lib/turns.ts";
import type { Journal } from "../journal.ts";
import { PACE, type Pace } from "../pace.ts";
import type { Clock } from "../ports.ts";
import type { SessionDesk } from "../session-desk.ts";
import type { WorkspaceDesk } from "../workspace-desk.ts";
import { freshOutput, type OutputSource } from "../fresh-output.ts";
import type { Multi } from "./multi.ts";
import type { Outbox } from "./outbox.ts";
import type { Forwarded, NewRow } from "./outbox-port.ts";

export type ForwarderParts = {
  readonly journal: Journal;
  readonly sessions: Pick<SessionDesk, "find" | "isOpen">;
  readonly output: OutputSource;
  readonly outbox: Outbox;
  readonly multi: Multi;
  readonly clock: Clock;
  readonly workspaces: Pick<WorkspaceDesk, "get">;
  readonly logger: Logger;
  readonly pace?: Partial<Pace> | undefined;
};

type Lane = {
  /** Collected up to here. */
  readonly read: number;
  readonly batch: OutputBatch;
  /** When the first of what isn't collected yet came. */
  readonly since?: number | undefined;
  /** Its session is over: what is left goes out however little it is. */
  readonly final: boolean;
};

/** Making text of more takes longer than a hub may stand still. */
const LOOKED_MAX = 256 * 1024;
const TEXT_BYTES = 8_192;

export class Forwarder {
  readonly #parts: ForwarderParts;
  readonly #batchMs: number;
  readonly #lanes = new Map<string, Lane>();
  readonly #turns = new Turns();
  #observing: Disposable | undefined;
  #timer: Disposable | undefined;
  #stopped = false;

  constructor(parts: ForwarderParts) {
    this.#parts = parts;
    this.#batchMs = { ...PACE, ...parts.pace }.batchMs;
  }

  start(): void {
    const { journal, outbox, sessions, clock } = this.#parts;
    for (const { sessionId, cursor } of outbox.forwarded) {
      const { read = cursor } = this.#lanes.get(sessionId) ?? {};
      const final = !sessions.isOpen(sessionId);
      this.#set(sessionId, { read: Math.min(read, cursor), batch: EMPTY_BATCH, since: clock.now(), final });
    }
    this.#observing = journal.log.observe((events) => {
      for (const event of events) if (event.type === "stdout") this.#printed(event);
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#observing?.[Symbol.dispose]();
    this.#timer?.[Symbol.dispose]();
    await Promise.all([...this.#lanes.keys()].map((it) => this.#turns.run(it, async () => undefined)));
  }

  /** From what is printed next on; where a thread listens already, nothing changes. */
  async listen(thread: Thread, sessionId: string): Promise<readonly Forwarded[]> {
    if (this.#listeners(sessionId).some((it) => isThread(it, thread))) return [];
    const cursor = await this.#parts.output.size(sessionId);
    if (!this.#lanes.has(sessionId)) this.#set(sessionId, { read: cursor, batch: EMPTY_BATCH, final: false });
    return [{ ...thread, sessionId, cursor }];
  }

  /** What of a thread is forwarded no more; of a session that is over the rest still goes out. */
  unlisten(thread: Thread): readonly Forwarded[] {
    const over = this.#parts.outbox.forwarded.filter(
      (it) => isThread(it, thread) && !this.#lanes.get(it.sessionId)?.final,
    );
    for (const { sessionId } of over) {
      if (this.#listeners(sessionId).every((it) => isThread(it, thread))) this.#lanes.delete(sessionId);
    }
    return over;
  }

  /** Nothing more is printed. Resolves when what is left waits for its thread, or for its minute. */
  async finish(sessionId: string): Promise<void> {
    const lane = this.#lanes.get(sessionId);
    if (lane === undefined) return;
    this.#set(sessionId, { ...lane, since: lane.since ?? this.#parts.clock.now(), final: true });
    await this.#turns.run(sessionId, () => this.#forward(sessionId));
  }

  /** Sends what is due. */
  async flush(): Promise<void> {
    const due = [...this.#lanes.keys()].filter((it) => this.#isDue(it));
    await Promise.all(due.map((it) => this.#turns.run(it, () => this.#forward(it))));
  }

  #printed({ sessionId }: StoredEvent): void {
    const lane = this.#lanes.get(sessionId);
    if (lane === undefined || lane.since !== undefined) return;
    this.#set(sessionId, { ...lane, since: this.#parts.clock.now() });
  }

  #set(sessionId: string, lane: Lane): void {
    this.#lanes.set(sessionId, lane);
    if (isWaiting(lane)) this.#arm();
  }

  #arm(): void {
    if (this.#timer !== undefined || this.#stopped) return;
    this.#timer = startTimer(this.#batchMs / 4, () => {
      this.#timer = undefined;
      this.flush()
        .catch((error: unknown) => this.#parts.logger.warn("output could not be forwarded", { error }))
        .finally(() => {
          if ([...this.#lanes.values()].some(isWaiting)) this.#arm();
        });
    });
  }

  #isDue(sessionId: string): boolean {
    const lane = this.#lanes.get(sessionId);
    if (lane === undefined) return false;
    const since = lane.since ?? lane.batch.since;
    return lane.final || (since !== undefined && this.#parts.clock.now() - since >= this.#batchMs);
  }

  async #forward(sessionId: string): Promise<void> {
    const { clock } = this.#parts;
    const before = this.#lanes.get(sessionId);
    if (before === undefined || this.#stopped) return;
    const { final } = before;
    // What is printed from now on has its own two seconds.
    this.#lanes.set(sessionId, { ...before, since: undefined });
    try {
      const { lane, message } = await this.#collected(sessionId, before);
      await this.#send(sessionId, lane, message);
      const now = this.#lanes.get(sessionId);
      const over = final && lane.batch.since === undefined;
      if (over || now === undefined) this.#lanes.delete(sessionId);
      else this.#set(sessionId, { ...lane, since: now.since, final: now.final });
    } catch (error) {
      if (this.#lanes.has(sessionId)) this.#set(sessionId, { ...before, since: before.since ?? clock.now() });
      throw error;
    }
  }

  async #collected(sessionId: string, lane: Lane): Promise<{ readonly lane: Lane; readonly message?: OutputMessage }> {
    const { output, clock } = this.#parts;
    const now = clock.now();
    const wanted = { from: lane.read, maxBytes: LOOKED_MAX, final: lane.final };
    const { bytes, to, skipped } = await freshOutput(output, sessionId, wanted);
    const { text, omitted } = displayText(bytes, { headBytes: 0, tailBytes: TEXT_BYTES });
    const taken = collect(lane.batch, text, lane.since ?? now);
    const counted = { ...taken, omitted: taken.omitted + omitted + skipped };
    const { batch, message } = flush(counted, now, { final: lane.final, batchMs: this.#batchMs });
    // What nobody could read isn't waited for.
    const rest = lane.final && isInvisible(batch) ? EMPTY_BATCH : batch;
    return { lane: { ...lane, read: to, batch: rest }, ...(message !== undefined && { message }) };
  }

  async #send(sessionId: string, { read: cursor, batch, final }: Lane, message?: OutputMessage): Promise<void> {
    const { outbox, clock } = this.#parts;
    const isOver = final && batch.since === undefined;
    if (message === undefined && !isOver) return;
    const at = clock.now();
    await outbox.change(() => {
      const threads = this.#listeners(sessionId);
      const add = message === undefined ? [] : this.#rows({ sessionId, at, final }, message, threads);
      return isOver ? { add, forget: threads } : { add, forwarded: threads.map((it) => ({ ...it, cursor })) };
    });
  }

  #rows(
    { sessionId, at, final }: { readonly sessionId: string; readonly at: number; readonly final: boolean },
    { text }: OutputMessage,
    threads: readonly Thread[],
  ): readonly NewRow[] {
    const { multi, sessions, workspaces } = this.#parts;
    const { title = "", workspaceId } = sessions.find(sessionId) ?? {};
    const showRaw = workspaceId !== undefined && workspaces.get(workspaceId).settings.show_raw_output;
    const kind = routeOutput(text, { showRaw });
    if (kind === "NOISE" && !final) return [];
    const live = multi.bound(sessionId, at);
    const to = threads
      .filter((it) => final || live.some((one) => isThread(one, it)))
      .map(({ channel, threadId }) => ({ channel, threadId }));
    const concern = { sessionId, title, at };
    return kind === "AGENT_MESSAGE" ? multi.sendAgentMessage(concern, text, to) : multi.sendOutput(concern, text, to);
  }

  #listeners(sessionId: string): readonly Forwarded[] {
    return this.#parts.outbox.forwardedOf(sessionId);
  }
}

/** Something is to be sent, now or when it is due. */
function isWaiting({ since, batch, final }: Lane): boolean {
  return since !== undefined || final || isEnough(batch);
}
