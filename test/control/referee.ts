/**
 * A simple model of who may write, beside the real gate. It sees what arrives there and what the device takes, and keeps
 * an account of its own: every change that the gate tells must be allowed, and every agent's byte covered.
 */
import type { ControlState } from "../../src/domain/control-state.ts";
import type { ControlFact } from "../../src/domain/control.ts";
import type { ControlChange } from "../../src/protocol/link.ts";

type Lease = { readonly seconds: number; readonly from: number; readonly by: string };

export class Referee {
  readonly offences: string[] = [];
  agentBytes = 0;
  readonly #now: () => number;
  #epoch = 1;
  /** Undefined: no agent. Null: the first that acts. */
  #driver: string | null | undefined;
  #lease: Lease | undefined;
  #person: string | undefined;
  #held = false;
  #attended: boolean;
  #intent: ControlState["intent"] = "WAIT";
  #interruptedBy: string | undefined;
  #paused = false;
  #acquired = { by: "", before: 0, epoch: 0 };
  /** While something is judged whose effect is known: what is told of it meanwhile is no news. */
  #expecting = false;

  constructor(now: () => number, attended: boolean) {
    this.#now = now;
    this.#attended = attended;
  }

  /** Before and after the gate judges something that it judges at once. */
  expect<T>(foreseen: () => void, judge: () => T, state: () => ControlState): T {
    this.#endLease();
    foreseen();
    this.#expecting = true;
    try {
      return judge();
    } finally {
      this.#expecting = false;
      this.#compare(state());
    }
  }

  personTypes(by: string): void {
    if (this.#driver === undefined && this.#held && this.#person !== undefined) return;
    this.#toPerson(by);
  }

  change(command: ControlChange): void {
    switch (command.type) {
      case "grant":
        return this.#grant(command);
      case "renew":
        return this.#renew(command);
      case "take":
        if (this.#driver === undefined && this.#held && this.#person === command.by.id) return;
        return this.#toPerson(command.by.id);
      case "release":
        return this.#release(command.by);
      case "intent":
        return this.#intend(command.intent, command.by.id);
      case "attended":
        return this.#attend(command.attended, command.instead !== undefined);
      case "reconnect":
        if (this.#driver !== undefined && command.knownEpoch !== this.#epoch)
          this.#toNobody(this.#held, this.#lease?.by);
        return;
      case "request":
        if (this.#intent === "WAIT" && this.#driver !== command.by.id) this.#arrive(command.by.id);
        return;
      case "safe_point":
        return this.#arrive(command.by.id);
      // What agents may do by themselves is not changed in this world.
      case "rules":
      case "decline":
    }
  }

  /** What the gate does by itself: an agent's input in its turn, the end of a lease. */
  told({ payload, by }: ControlFact): void {
    if (this.#expecting || payload["overdue"] === true) return;
    if (payload["reason"] === "lease_expired" && payload["change"] === "holder") {
      if (this.#isLive()) this.#offence("a live lease is ended");
      return this.#endLease();
    }
    this.#endLease();
    if (by.kind === "agent") this.#arrive(by.id);
    else if (payload["reason"] === "safe_interrupt" && this.#isInterrupted()) this.#pause();
    else this.#offence(`told unforeseen: ${JSON.stringify(payload)}`);
    if (payload["epoch"] !== this.#epoch)
      this.#offence(`epoch ${JSON.stringify(payload["epoch"])}, not ${this.#epoch}`);
  }

  /** The device has an agent's bytes, sent under this epoch. */
  took(agent: string, epoch: number): void {
    this.agentBytes += 1;
    const { by, before, epoch: own } = this.#acquired;
    const isOwn = by === agent && before === epoch && own === this.#epoch;
    if (this.#driver !== agent) this.#offence(`a byte of ${agent}, who has no control`);
    if (!this.#isLive()) this.#offence("a byte under a lease that is over");
    if (this.#intent === "STOP_NOW") this.#offence("a byte after a stop");
    if (epoch !== this.#epoch && !isOwn) this.#offence(`a byte of epoch ${epoch} in ${this.#epoch}`);
  }

  #arrive(agent: string): void {
    const isFree = !this.#held && !this.#attended && this.#intent !== "STOP_NOW";
    const mayDrive = this.#driver === agent || this.#driver === null || isFree;
    if (mayDrive && this.#isInterrupted()) return this.#pause();
    if (!mayDrive || this.#driver === agent) return;
    if (this.#driver !== null) {
      this.#acquired = { by: agent, before: this.#epoch, epoch: this.#epoch + 1 };
      this.#epoch += 1;
      this.#lease = undefined;
    }
    this.#driver = agent;
  }

  #isInterrupted(): boolean {
    return this.#intent === "SAFE_INTERRUPT" && !this.#paused;
  }

  #pause(): void {
    this.#paused = true;
    this.#toNobody(true, this.#interruptedBy);
  }

  #grant({ by, agentId, leaseSeconds, expectedEpoch, attend }: Extract<ControlChange, { type: "grant" }>): void {
    if (expectedEpoch !== undefined && expectedEpoch !== this.#epoch) return;
    if (!this.#held && !this.#attended && !attend) return;
    this.#epoch += 1;
    this.#driver = agentId;
    this.#lease = { seconds: leaseSeconds, from: this.#now(), by: by.id };
    this.#held = true;
    this.#intent = "WAIT";
    this.#paused = false;
    this.#interruptedBy = undefined;
  }

  #renew({ by, epoch, leaseSeconds }: Extract<ControlChange, { type: "renew" }>): void {
    if (this.#driver !== by.id || this.#lease === undefined || this.#intent !== "WAIT") return;
    if (epoch !== undefined && epoch !== this.#epoch) return;
    this.#lease = { ...this.#lease, seconds: leaseSeconds ?? this.#lease.seconds, from: this.#now() };
  }

  #release({ kind, id }: { readonly kind: string; readonly id: string }): void {
    if (kind === "person") {
      this.#intent = "WAIT";
      this.#paused = false;
      this.#interruptedBy = undefined;
      this.#toNobody(false);
    } else if (this.#driver === id) this.#toNobody(this.#held);
  }

  #intend(intent: ControlState["intent"], by: string): void {
    if (intent === "STOP_NOW") {
      this.#intent = intent;
      this.#paused = false;
      this.#interruptedBy = undefined;
      this.#toPerson(by);
    } else if (this.#intent !== "STOP_NOW") {
      this.#intent = intent;
      this.#interruptedBy = intent === "WAIT" ? undefined : by;
    }
  }

  #attend(attended: boolean, gently: boolean): void {
    const comes = attended && !this.#attended;
    this.#attended = attended;
    if (!comes || this.#driver === undefined || this.#lease !== undefined) return;
    if (gently) this.#intent = "SAFE_INTERRUPT";
    else this.#toNobody(this.#held);
  }

  #toPerson(person: string): void {
    this.#toNobody(true, person);
  }

  #toNobody(held: boolean, person?: string): void {
    this.#epoch += 1;
    this.#driver = undefined;
    this.#lease = undefined;
    this.#person = person;
    this.#held = held;
  }

  #isLive(): boolean {
    return this.#lease === undefined || this.#now() - this.#lease.from < this.#lease.seconds * 1000;
  }

  #endLease(): void {
    if (!this.#isLive()) this.#toNobody(true, this.#lease?.by);
  }

  #compare({ epoch, mode, holder, held, attended, intent }: ControlState): void {
    const mine = [this.#epoch, this.#driver !== undefined, this.#driver, this.#held, this.#attended, this.#intent];
    const theirs = [
      epoch,
      mode === "AGENT",
      mode === "AGENT" ? (holder?.id ?? null) : undefined,
      held,
      attended,
      intent,
    ];
    if (JSON.stringify(mine) !== JSON.stringify(theirs)) {
      this.#offence(`the gate has ${JSON.stringify(theirs)}, foreseen was ${JSON.stringify(mine)}`);
    }
  }

  #offence(what: string): void {
    this.offences.push(what);
  }
}
