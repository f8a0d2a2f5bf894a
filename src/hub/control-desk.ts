/**
 * Control: who drives a session. The session's gate decides; the desk authorises, knows what the gates last said, tells
 * agents that they lost it and people that they are asked. Rules in docs/spec/control.md.
 */
import type { Actor } from "../domain/actor.ts";
import { whyNot } from "../domain/control.ts";
import { CONTROL_EVENTS } from "../domain/control-record.ts";
import { type ControlState, type Intent, isInteractive } from "../domain/control-state.ts";
import type { StoredEvent } from "../domain/event.ts";
import type { Session, SessionBirth } from "../domain/session.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { ControlChange } from "../protocol/link.ts";
import { Attendance } from "./attendance.ts";
import { ControlledSession, type Loss, type LostAt } from "./controlled-session.ts";
import type { DriverTable } from "./driver-table.ts";
import { follow, type Journal } from "./journal.ts";
import type { ControlAnswer, SessionDriver } from "./ports.ts";
import { agentsMayAcquire } from "./session-birth.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type ControlDeskParts = {
  readonly journal: Journal;
  readonly drivers: DriverTable;
  readonly workspaces: WorkspaceDesk;
  readonly logger: Logger;
  /** How long a session stays interactive when its last viewer with input is gone. */
  readonly graceMs?: number | undefined;
};

export class ControlDesk {
  readonly #parts: ControlDeskParts;
  readonly #sessions = new Map<string, ControlledSession>();
  readonly #attendance: Attendance;
  #started = false;
  readonly #losses: ((loss: Loss) => void)[] = [];

  constructor(parts: ControlDeskParts) {
    this.#parts = parts;
    this.#attendance = new Attendance(parts.graceMs ?? GRACE_MS, (sessionId) => this.#attended(sessionId));
    parts.workspaces.onChange((workspaceId) => this.#rulesChanged(workspaceId));
    parts.drivers.forEach((driver) => driver.onControl((sessionId, answer) => this.#learn(sessionId, answer)));
  }

  async start(): Promise<void> {
    await follow(this.#parts.journal.log, ["status", ...CONTROL_EVENTS], (event) => this.#fold(event));
    this.#started = true;
  }

  stop(): void {
    this.#attendance.stop();
  }

  state(sessionId: string): ControlState {
    return this.#get(sessionId).present;
  }

  /** Where its programs run. */
  place(sessionId: string): Pick<SessionBirth, "containment" | "user"> {
    return this.#get(sessionId).birth;
  }

  lostAt(sessionId: string, agentId: string): LostAt | undefined {
    return this.#get(sessionId).lostAt(agentId);
  }

  /** Called for every loss of control by an agent, once. */
  onLoss(listener: (loss: Loss) => void): void {
    this.#losses.push(listener);
  }

  /** Whether agents get control by acting, where no person attends or holds it. */
  mayAcquire(sessionId: string): boolean {
    return this.#mayAcquire(this.#get(sessionId));
  }

  /** Whether this actor could act now; the gate has the last word. */
  refuseUnlessDriving(sessionId: string, by: Actor): void {
    const known = this.#get(sessionId);
    const { mode, holder, epoch, intent } = known.present;
    if (by.kind !== "agent" || (mode === "AGENT" && holder?.id === by.id)) return;
    if (!isInteractive(known.present) && intent === "WAIT" && this.#mayAcquire(known)) return;
    throw new AppError("control_refused", { epoch, holder: holder === null ? null : { ...holder } });
  }

  /** Before an agent does what no gate sees: its gate is asked, as at a safe point. A person may always. */
  async refuseUnlessGoingOn(sessionId: string, { kind, id }: Actor, step: string): Promise<void> {
    if (kind !== "agent") return;
    const { action, state } = await this.change(sessionId, { type: "safe_point", by: { kind, id }, step, sequence: 0 });
    if (action === "CONTINUE") return;
    const { epoch, holder } = state;
    throw new AppError(whyNot(state), { epoch, holder: holder === null ? null : { ...holder } });
  }

  /** Whether the gate, as far as is known here, would let this actor act and nobody has it pause. */
  mayAct(sessionId: string, by: Actor): boolean {
    const known = this.#get(sessionId);
    const { mode, holder, intent } = known.present;
    const isDriving = mode === "AGENT" && (holder === null || holder.id === by.id);
    return by.kind !== "agent" || (intent === "WAIT" && (isDriving || this.#canBeAcquired(known)));
  }

  /** A person's decision is stored before it has an effect. */
  async grant(sessionId: string, { agentId, leaseSeconds, note, attend }: Grant, by: Actor): Promise<ControlAnswer> {
    const known = this.#get(sessionId);
    const { epoch, request } = known.present;
    const to = agentId ?? request?.agentId ?? known.birth.ownerAgentId ?? null;
    const decided = { change: "decided", agent_id: to, lease_seconds: leaseSeconds, expected_epoch: epoch };
    const event = {
      type: "control_handoff",
      payload: { ...decided, ...(note === undefined ? {} : { note }) },
    } as const;
    this.#refuseClosed(known, "grant");
    this.#refuseOpen(known);
    await this.#parts.journal.note(sessionId, "power", [{ ...event, source: by }]);
    const person = { kind: "person", id: by.id } as const;
    const change = { type: "grant", by: person, agentId: to, leaseSeconds, expectedEpoch: epoch, attend } as const;
    return this.change(sessionId, { ...change, ...(note === undefined ? {} : { note }) });
  }

  async intent(
    sessionId: string,
    { intent, scope }: { readonly intent: Intent; readonly scope: "agent" | "all" },
    by: Actor,
  ): Promise<ControlAnswer> {
    const person = { kind: "person", id: by.id } as const;
    return this.change(sessionId, { type: "intent", by: person, intent, scope });
  }

  /** By a person with a lease it is a grant. */
  async release(sessionId: string, { note, leaseSeconds, agentId }: Release, by: Actor): Promise<ControlAnswer> {
    if (by.kind === "person" && leaseSeconds !== undefined) {
      return this.grant(sessionId, { agentId, leaseSeconds, note, attend: true }, by);
    }
    return this.change(sessionId, { type: "release", by, ...(note === undefined ? {} : { note }) });
  }

  /** Takes effect at the gate; its answer is what counts from now on, stored or not. */
  async change(sessionId: string, change: ControlChange): Promise<ControlAnswer> {
    const known = this.#get(sessionId);
    await this.#whenRunning(known);
    this.#refuseClosed(known, change.type);
    // A hub that has just started must not let an agent go on by what was granted before.
    if (!known.isOurs && "by" in change && change.by.kind === "agent") await this.#reconnect(known);
    const answer = await this.#driver(known).control(sessionId, change);
    this.#learn(sessionId, answer);
    return answer;
  }

  /** Answers when the agent has control or could get it by acting, when it is declined, or when the time is over. */
  async awaitControl(sessionId: string, agentId: string, signal: AbortSignal): Promise<void> {
    const known = this.#get(sessionId);
    const asked = known.present.request?.agentId === agentId;
    for (;;) {
      const { mode, holder, request } = known.present;
      if (mode === "AGENT" && (holder === null || holder.id === agentId)) return;
      if (known.status === "closed" || signal.aborted || this.#isFree(known)) return;
      if (known.hears(agentId) || (asked && request?.agentId !== agentId)) return;
      await known.changed(signal);
    }
  }

  /** Resolves when the log has what the gate said so far, or the signal says that it takes too long. */
  async recorded(sessionId: string, signal: AbortSignal): Promise<void> {
    await this.#get(sessionId).recorded(signal);
  }

  /**
   * Aborted when the agent loses the control that it has; the reason is the state after it. An agent without control has
   * nothing to lose.
   */
  watch(sessionId: string, by: Actor): { readonly signal: AbortSignal } & Disposable {
    return this.#get(sessionId).watch(by);
  }

  /** Somebody looks at a session; `input`: and can type. */
  attach(sessionId: string, viewer: { readonly input: boolean }): Disposable {
    const known = this.#get(sessionId);
    const { interactive_when } = this.#parts.workspaces.get(known.birth.workspaceId).settings;
    const counts = viewer.input || interactive_when === "viewer";
    return counts ? this.#attendance.enter(sessionId) : { [Symbol.dispose]: () => undefined };
  }

  async adopted({ sessionId }: Session): Promise<void> {
    const { state } = await this.#reconnect(this.#get(sessionId));
    if (state.attended) this.#attendance.linger(sessionId);
    this.#attended(sessionId);
  }

  forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#attendance.forget(sessionId);
  }

  #fold(event: StoredEvent): void {
    const { sessionId } = event;
    const known = this.#sessions.get(sessionId) ?? this.#born(event);
    known?.fold(event);
    if (known?.status === "closed") this.#attendance.forget(sessionId);
  }

  #born({ payload, sessionId }: StoredEvent): ControlledSession | undefined {
    const { session: birth } = payload as { readonly session?: SessionBirth };
    if (birth === undefined) return undefined;
    const known = new ControlledSession(birth, this.#started, (loss) => {
      for (const listener of this.#losses) listener(loss);
    });
    this.#sessions.set(sessionId, known);
    return known;
  }

  #learn(sessionId: string, answer: ControlAnswer): void {
    this.#sessions.get(sessionId)?.learn(answer);
  }

  /** A hub that knows nothing of what went before, or something else, takes power away first. */
  async #reconnect(known: ControlledSession): Promise<ControlAnswer> {
    const { sessionId } = known.birth;
    const knownEpoch = known.isOurs ? { knownEpoch: known.present.epoch } : {};
    const change = { type: "reconnect", ...knownEpoch, mayAcquire: this.#mayAcquire(known) } as const;
    const answer = await this.#driver(known).control(sessionId, change);
    known.isOurs = true;
    this.#learn(sessionId, answer);
    return answer;
  }

  #attended(sessionId: string): void {
    const known = this.#sessions.get(sessionId);
    if (known === undefined || known.isTelling) return;
    this.#tellAttendance(known).catch((error: unknown) => {
      this.#parts.logger.warn("a gate was not told who is there", { session: sessionId, error });
    });
  }

  /** Nobody has it, and whoever acts first gets it. */
  #isFree(known: ControlledSession): boolean {
    const { mode, intent } = known.present;
    return mode !== "AGENT" && intent === "WAIT" && this.#canBeAcquired(known);
  }

  /** By an agent that acts, also from another one. */
  #canBeAcquired(known: ControlledSession): boolean {
    return !isInteractive(known.present) && known.present.agentStatus !== "PAUSED" && this.#mayAcquire(known);
  }

  #mayAcquire({ birth }: ControlledSession): boolean {
    return agentsMayAcquire(this.#parts.workspaces.get(birth.workspaceId).settings, birth);
  }

  /** A gate that can't be told now is told when its session is taken up again. */
  #rulesChanged(workspaceId: string): void {
    for (const known of this.#sessions.values()) {
      const { sessionId } = known.birth;
      if (known.birth.workspaceId !== workspaceId || known.status === "closed") continue;
      this.change(sessionId, { type: "rules", mayAcquire: this.#mayAcquire(known) }).catch((error: unknown) => {
        this.#parts.logger.warn("a gate was not told of new rules", { session: sessionId, error });
      });
    }
  }

  /** Until the gate knows: somebody may come while it is told that the last one left. */
  async #tellAttendance(known: ControlledSession): Promise<void> {
    const { sessionId, interactive, workspaceId } = known.birth;
    known.isTelling = true;
    try {
      while (known.status !== "closed") {
        const attended = interactive || this.#attendance.isAttended(sessionId);
        if (attended === known.present.attended) return;
        const { on_viewer } = this.#parts.workspaces.get(workspaceId).settings;
        const instead = on_viewer === "safe_interrupt" ? ({ instead: "safe_interrupt" } as const) : {};
        await this.change(sessionId, { type: "attended", attended, ...instead });
      }
    } finally {
      known.isTelling = false;
    }
  }

  async #whenRunning(known: ControlledSession): Promise<void> {
    const never = new AbortController().signal;
    while (known.status === "created") await known.changed(never);
  }

  #refuseClosed({ status, birth }: ControlledSession, what: string): void {
    if (status !== "closed") return;
    throw new AppError("invalid_transition", { detail: `A session that is closed can't ${what}`, id: birth.sessionId });
  }

  #refuseOpen({ birth: { workspaceId, containment } }: ControlledSession): void {
    const { grant_open } = this.#parts.workspaces.get(workspaceId).settings;
    if (containment !== "open" || grant_open === "allow") return;
    const detail = `The workspace ${workspaceId} lets no agent drive an open session (grant_open)`;
    throw new AppError("policy_denied", { workspaceId, setting: "grant_open", detail });
  }

  #driver({ birth }: ControlledSession): SessionDriver {
    const driver = this.#parts.drivers.find(birth.kind, birth.hostId);
    if (driver === undefined) throw new AppError("kind_unavailable", { kind: birth.kind, hostId: birth.hostId });
    return driver;
  }

  #get(sessionId: string): ControlledSession {
    const known = this.#sessions.get(sessionId);
    if (known === undefined) throw new AppError("not_found", { what: "session", id: sessionId });
    return known;
  }
}

export type Grant = {
  readonly agentId?: string | undefined;
  readonly leaseSeconds: number;
  readonly note?: string | undefined;
  readonly attend: boolean;
};

export type Release = {
  readonly note?: string | undefined;
  readonly leaseSeconds?: number | undefined;
  readonly agentId?: string | undefined;
};

const GRACE_MS = 30_000;
