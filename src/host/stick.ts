/**
 * A session's stick: the control state, its lease's clock, and the only place where epochs are made. It needs no hub:
 * leases end by themselves. Rules CTL-14..CTL-26 in docs/spec/control.md.
 */
import type { Actor } from "../domain/actor.ts";
import {
  type ControlCommand,
  type ControlFact,
  type ControlOutcome,
  decideControl,
  type Moment,
} from "../domain/control.ts";
import { applyControl, describeControl } from "../domain/control-record.ts";
import { type ControlRefusal, type ControlState, initialControl } from "../domain/control-state.ts";
import type { JsonObject } from "../domain/event.ts";
import { AppError } from "../protocol/errors.ts";
import { bounded } from "./terminal/periods.ts";
import type { Period } from "./terminal/stop-order.ts";

export type StickOptions = {
  /** A person attends the session from its beginning. */
  readonly attended: boolean;
  /** Until a hub says otherwise. */
  readonly mayAcquire: boolean;
  /** Milliseconds that only grow, also in suspend; wall clocks don't touch them. */
  readonly elapsed: () => number;
  /** Records a fact; answers its place. */
  readonly tell: (fact: ControlFact) => number;
  /** Before anybody is told: nothing of the agent's may still be on its way. */
  readonly onAgentLost: () => void;
  /** Default: 10 s. How long an interrupt may meet no safe point before that is told. */
  readonly overdueMs?: number | undefined;
};

/** Of the workspace; they are no part of the state. */
type Rules = { readonly type: "rules"; readonly mayAcquire: boolean };

export class Stick {
  readonly #options: StickOptions;
  #state: ControlState;
  #mayAcquire: boolean;
  #leaseFrom = 0;
  #expiry: NodeJS.Timeout | undefined;
  #overdue: NodeJS.Timeout | undefined;
  /** Requests that an agent made before it knew of the epoch of its own acquisition aren't late. */
  #acquired: { readonly agentId: string; readonly before: number; readonly epoch: number } | undefined;
  #agentTimes: readonly Period[] = [];
  #position = 0;

  constructor(options: StickOptions) {
    this.#options = options;
    this.#state = initialControl(options.attended);
    this.#mayAcquire = options.mayAcquire;
  }

  get state(): ControlState {
    return this.#state;
  }

  get epoch(): number {
    return this.#state.epoch;
  }

  /** When an agent had control, by the stick's clock; open while it has. */
  get agentTimes(): readonly Period[] {
    return this.#agentTimes;
  }

  /** What a hub is answered: the state, and where the log will have it. */
  describe(): JsonObject {
    return { ...describeControl(this.#state), position: this.#position };
  }

  /** Throws unless this actor may act now. An agent that says no epoch is late. */
  admit(by: Actor, epoch?: number): void {
    if (by.kind !== "agent") return void this.command({ type: "act", by });
    const { agentId, before, epoch: present } = this.#acquired ?? {};
    const isOwn = agentId === by.id && before === epoch && present === this.epoch;
    this.command({ type: "act", by, epoch: isOwn ? this.epoch : (epoch ?? 0) });
  }

  /** Throws unless this actor could act now. Changes nothing: for what is no input, but not an onlooker's to do. */
  refuseUnlessFree(by: Actor): void {
    if (by.kind !== "agent") return;
    const { refusal } = decideControl(this.#state, { type: "act", by, epoch: this.epoch }, this.#moment());
    if (refusal !== undefined) this.#refuse(refusal);
  }

  /** Whether what was admitted under this epoch may still be written. */
  covers(epoch: number): boolean {
    if (epoch !== this.epoch) return false;
    const { mode, lease } = this.#state;
    if (mode !== "AGENT" || lease === null || this.#leaseLive()) return mode === "AGENT";
    this.command({ type: "expire" });
    return false;
  }

  /** `at`: the wall's time where it was asked, which another machine's may be minutes away from. */
  command(command: ControlCommand | Rules, at = Date.now()): ControlOutcome {
    const before = this.#state;
    if (command.type === "rules" || command.type === "reconnect")
      this.#mayAcquire = command.mayAcquire ?? this.#mayAcquire;
    if (command.type === "rules") return { state: before, facts: [] };
    const outcome = decideControl(before, command, this.#moment(at));
    this.#state = outcome.state;
    if (outcome.state !== before) this.#changed(before, outcome.state);
    for (const fact of outcome.facts) this.#position = this.#options.tell(fact);
    if (outcome.refusal !== undefined) this.#refuse(outcome.refusal);
    return outcome;
  }

  /** As whoever folds the log sees it. */
  ran(isRunning: boolean, by: Actor): void {
    const type = isRunning ? "agent_block_begin" : "agent_block_end";
    this.#state = applyControl(this.#state, { type, payload: {}, source: by }) ?? this.#state;
  }

  close(): void {
    clearTimeout(this.#expiry);
    clearTimeout(this.#overdue);
  }

  #moment(at = Date.now()): Moment {
    return { leaseLive: this.#leaseLive(), at, mayAcquire: this.#mayAcquire };
  }

  #refuse(refusal: ControlRefusal): never {
    throw new AppError(refusal, { ...refusalDetails(this.#state), control: this.describe() });
  }

  #leaseLive(): boolean {
    return this.#leaseLeftMs() > 0;
  }

  #leaseLeftMs(): number {
    const { lease } = this.#state;
    return lease === null ? 0 : lease.seconds * 1000 - (this.#options.elapsed() - this.#leaseFrom);
  }

  #changed(before: ControlState, state: ControlState): void {
    if (state.epoch !== before.epoch) this.#holderChanged(before, state);
    if (state.lease !== before.lease) this.#timeLease(state);
    this.#timeInterrupt(state);
  }

  #holderChanged(before: ControlState, state: ControlState): void {
    const now = this.#options.elapsed();
    const open = this.#agentTimes.at(-1);
    if (before.mode === "AGENT" && open !== undefined) {
      this.#agentTimes = bounded([...this.#agentTimes.slice(0, -1), { from: open.from, to: now }], TIMES_KEPT);
      this.#options.onAgentLost();
    }
    if (state.mode !== "AGENT") return;
    this.#agentTimes = [...this.#agentTimes, { from: now }];
    const { holder, lease } = state;
    this.#acquired =
      lease === null && holder !== null ? { agentId: holder.id, before: before.epoch, epoch: state.epoch } : undefined;
  }

  #timeLease({ lease }: ControlState): void {
    clearTimeout(this.#expiry);
    if (lease === null) return;
    this.#leaseFrom = this.#options.elapsed();
    this.#expireIn(lease.seconds * 1000);
  }

  /** A timer may fire a little early by another clock, and one that is too long for Node fires at once. */
  #expireIn(ms: number): void {
    this.#expiry = setTimeout(
      () => {
        const left = this.#leaseLeftMs();
        if (left > 0) this.#expireIn(Math.max(left, EARLY_MS));
        else this.command({ type: "expire" });
      },
      Math.min(ms, TIMER_MAX_MS),
    );
  }

  /** From the first asking on: whatever agents do meanwhile, a request say, gains them no time. */
  #timeInterrupt({ intent, mode }: ControlState): void {
    const isPending = intent === "SAFE_INTERRUPT" && mode === "AGENT";
    if (isPending && this.#overdue !== undefined) return;
    clearTimeout(this.#overdue);
    this.#overdue = undefined;
    if (!isPending) return;
    this.#overdue = setTimeout(() => {
      const payload = { intent, overdue: true, offer: "STOP_NOW", ...describeControl(this.#state) };
      this.#position = this.#options.tell({ type: "intent", by: { kind: "system", id: "gate" }, payload });
    }, this.#options.overdueMs ?? OVERDUE_MS);
  }
}

const TIMES_KEPT = 10_000;
const EARLY_MS = 5;
const TIMER_MAX_MS = 2 ** 31 - 1;
const OVERDUE_MS = 10_000;

function refusalDetails(state: ControlState): JsonObject {
  const { epoch, holder, reason, intent } = state;
  return { epoch, holder: holder === null ? null : { ...holder }, reason, user_intent: intent };
}
