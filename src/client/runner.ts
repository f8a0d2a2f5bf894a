/**
 * Runs an agent's work as steps that a person can interrupt or stop. Before each step the hub is asked whether to go on;
 * while one runs its lease is renewed, and its signal is aborted in the moment control is lost. Rule CTL-40 in
 * docs/spec/control.md.
 */
import { AppError, type ErrorCode } from "../protocol/errors.ts";
import type { Output } from "../protocol/operations.ts";
import type { SidestickClient } from "./client.ts";
import { ControlWatch } from "./control-watch.ts";
import { LeaseKeeper } from "./lease-keeper.ts";
import { RunnerStopped } from "./runner-stopped.ts";
import { type TerminalCalls, terminalCalls } from "./terminal-calls.ts";

type Control = Output<"control.get">;

export type RunnerOptions = ({ readonly sessionId: string } | { readonly conversationId: string }) & {
  /** What each renewal asks for; without it as much as was granted. */
  readonly leaseSeconds?: number | undefined;
};

export type Step = {
  /** Aborted with `RunnerStopped` when control is lost; calls of `pty` end by it. */
  readonly signal: AbortSignal;
  readonly sequence: number;
  /** The calls of `client.pty`, for this terminal and until the signal. */
  readonly pty: TerminalCalls;
  /** Others had control since the step before: what they did, and what they say. */
  readonly changed?: NonNullable<Control["changed"]> | undefined;
  readonly note?: string | undefined;
};

type Place = { readonly sessionId: string; readonly conversationId: string | undefined; readonly watch: ControlWatch };

export class Runner {
  readonly #client: SidestickClient;
  readonly #options: RunnerOptions;
  readonly #ending = new AbortController();
  readonly #lease: LeaseKeeper;
  #place: Promise<Place> | undefined;
  /** At the last safe point that let us go on. */
  #drove: { readonly agentId: string | undefined; readonly epoch: number } | undefined;
  #sequence = 0;
  #isRunning = false;

  constructor(client: SidestickClient, options: RunnerOptions) {
    this.#client = client;
    this.#options = options;
    this.#lease = new LeaseKeeper(client, options.leaseSeconds);
  }

  /** One at a time. Throws `RunnerStopped` when the step may not begin, and when control was lost in it. */
  async step<T>(name: string, body: (step: Step) => Promise<T>): Promise<T> {
    if (this.#isRunning) throw new Error(`Step "${name}" begins before the one before it is over`);
    this.#isRunning = true;
    try {
      const place = await this.#open();
      this.#sequence += 1;
      const { state, back } = await this.#safePoint(place, name);
      return await this.#run(place, state, (signal) => {
        const pty = terminalCalls(this.#client, place.conversationId, signal);
        return body({ signal, sequence: this.#sequence, pty, ...back });
      });
    } finally {
      this.#isRunning = false;
    }
  }

  /** Asks a person for control and waits for it; throws `RunnerStopped` when they decline. */
  async request(reason: string): Promise<void> {
    const { sessionId, watch } = await this.#open();
    const signal = AbortSignal.any([this.#ending.signal, watch.ended]);
    const ask = () => this.#client.control.request({ sessionId, reason }, { signal });
    const { requested_by: asked, holder } = await ask();
    const isOurs = holder !== null && holder.id === this.#drove?.agentId;
    if (asked?.reason !== reason || isOurs) return;
    for (;;) {
      const state = await this.#client.control.wait({ sessionId, timeout_ms: WAIT_MS }, { signal });
      if (state.control_mode === "AGENT" && (state.holder === null || state.holder.id === asked.agent_id)) return;
      if (isFree(state)) return void (await ask());
      if (state.requested_by?.agent_id !== asked.agent_id) throw new RunnerStopped("declined", state);
      await this.#refuseClosed(state, signal);
    }
  }

  /** Ends what runs and gives control up. */
  async close(): Promise<void> {
    this.#ending.abort(new RunnerStopped("closed"));
    const place = await this.#place?.catch(() => undefined);
    place?.watch.close();
    if (place === undefined || this.#drove === undefined) return;
    this.#drove = undefined;
    await this.#client.control.release({ sessionId: place.sessionId }).catch((error: unknown) => {
      // Whoever has nothing has given up enough, and a session that is over has no control.
      if (!isLoss(error) && !isOver(error)) throw error;
    });
  }

  #open(): Promise<Place> {
    this.#ending.signal.throwIfAborted();
    this.#place ??= this.#find();
    return this.#place;
  }

  async #find(): Promise<Place> {
    const { session } = this.#client;
    // Read before the first safe point: no loss after it is missed.
    const { eventCursor } = await this.#client.snapshot.get();
    const options = this.#options;
    const found =
      "sessionId" in options
        ? await session.get({ sessionId: options.sessionId })
        : ((await session.list({ conversationId: options.conversationId })).findLast((it) => it.status !== "closed") ??
          (await session.create({ kind: "terminal", conversationId: options.conversationId })));
    const { sessionId, conversationId } = found;
    return { sessionId, conversationId, watch: new ControlWatch(this.#client, sessionId, eventCursor) };
  }

  /** Waits as long as a person has us paused. */
  async #safePoint(place: Place, step: string): Promise<{ state: Control; back: Pick<Step, "changed" | "note"> }> {
    const { sessionId } = place;
    const last = this.#drove?.epoch;
    for (;;) {
      const point = { sessionId, step, sequence: this.#sequence };
      const { action, control } = await this.#client.control.safe_point(point, { signal: this.#ending.signal });
      if (action === "CONTINUE") {
        const { epoch, holder } = control;
        this.#drove = { epoch, agentId: holder?.id };
        return { state: control, back: last === undefined || last === epoch ? {} : await this.#since(sessionId) };
      }
      if (control.agent_status !== "PAUSED") throw new RunnerStopped(reasonOf(control), control);
      await this.#pauseOver(place, control);
    }
  }

  async #since(sessionId: string): Promise<Pick<Step, "changed" | "note">> {
    // Unlike `get` it answers when the log has all that it tells.
    const state = await this.#client.control.wait({ sessionId, timeout_ms: 0 }, { signal: this.#ending.signal });
    return { changed: state.changed, note: state.handback_note ?? undefined };
  }

  async #pauseOver({ sessionId, watch }: Place, paused: Control): Promise<void> {
    const stopped = watch.stopped(paused);
    const signal = AbortSignal.any([this.#ending.signal, stopped.signal]);
    try {
      for (;;) {
        const state = await this.#client.control.wait({ sessionId, timeout_ms: WAIT_MS }, { signal });
        if (state.user_intent === "STOP_NOW") throw new RunnerStopped("stop_now", state);
        if (state.agent_status !== "PAUSED") return;
        await this.#refuseClosed(state, signal);
      }
    } finally {
      stopped.end();
    }
  }

  async #refuseClosed(state: Control, signal: AbortSignal): Promise<void> {
    const { status } = await this.#client.session.get({ sessionId: state.session_id }, { signal });
    if (status === "closed") throw new RunnerStopped("closed", state);
  }

  async #run<T>({ watch }: Place, state: Control, body: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const lost = watch.lost(state);
    const endLease = this.#lease.keep(state);
    const signal = AbortSignal.any([this.#ending.signal, lost.signal]);
    try {
      const result = await body(signal);
      signal.throwIfAborted();
      return result;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw await this.#explained(error, state);
    } finally {
      endLease();
      lost.end();
    }
  }

  /** A refusal may be here before the event that tells why. */
  async #explained(error: unknown, { session_id: sessionId, epoch }: Control): Promise<unknown> {
    if (!isLoss(error)) return error;
    const now = await this.#client.control.get({ sessionId });
    return now.epoch === epoch ? error : new RunnerStopped(reasonOf(now), now, { cause: error });
  }
}

/** The most that one wait takes is a little more. */
const WAIT_MS = 40_000;

const LOSSES: ReadonlySet<ErrorCode> = new Set([
  "control_refused",
  "lease_expired",
  "stale_epoch",
  "stopped",
  "paused",
  "revoked",
]);

function isLoss(error: unknown): boolean {
  return error instanceof AppError && LOSSES.has(error.code);
}

function isOver(error: unknown): boolean {
  return error instanceof AppError && (error.code === "invalid_transition" || error.code === "not_found");
}

/** Nobody has it: the next safe point gets it. */
function isFree({ control_mode, holder, interactive, user_intent }: Control): boolean {
  return control_mode === "USER" && holder === null && !interactive && user_intent === "WAIT";
}

function reasonOf({ user_intent, reason }: Control): RunnerStopped["reason"] {
  return user_intent === "STOP_NOW" ? "stop_now" : (reason ?? "not_granted");
}
