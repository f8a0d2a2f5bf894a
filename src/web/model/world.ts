/**
 * What the page knows, as one value: the hub's overview and every event since, folded by the same rules as in the hub.
 * Whatever is shown is a part of it. Rules WEB-10..WEB-13 in docs/spec/web.md.
 */
import { APPROVAL_EVENTS, type Approval, applyApproval } from "../../domain/approval.ts";
import { applyControl, CONTROL_EVENTS, recorded } from "../../domain/control-record.ts";
import { type ControlState, initialControl } from "../../domain/control-state.ts";
import type { JsonObject, StoredEvent } from "../../domain/event.ts";
import { applySession, type Session } from "../../domain/session.ts";
import type { WorkspaceEvent } from "../../protocol/events.ts";
import type { Host } from "../../protocol/hosts.ts";
import type { FoundPlan, Overview } from "../../protocol/overview.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";

/** How the page stands with the hub. `guest`: nobody is logged in. `broken`: the page itself failed, and follows no longer. */
export type LinkState = "connecting" | "live" | "catching_up" | "offline" | "guest" | "broken";

/** What a stop dropped and killed. `by`: who stopped; unknown where somebody else had control before the stop was done. */
export type Receipt = { readonly at: string; readonly by: string | undefined; readonly told: JsonObject };

/** `isOver`: the hub no longer asks, and the event that says who decided is still on its way. */
export type KnownPlan = FoundPlan & { readonly isOver?: true };

export type World = {
  readonly link: LinkState;
  /** The place in the log that the overview reflected: events up to there are part of it. */
  readonly asOf: number;
  readonly me: Overview["me"] | undefined;
  /** The hub's clock minus ours. */
  readonly clockAheadMs: number;
  readonly sessions: ReadonlyMap<string, Session>;
  readonly controls: ReadonlyMap<string, ControlState>;
  /** Pending ones, and those that were decided while the page was open. */
  readonly approvals: ReadonlyMap<string, Approval>;
  readonly prompts: ReadonlyMap<string, AskedPrompt>;
  readonly plans: ReadonlyMap<string, KnownPlan>;
  readonly receipts: ReadonlyMap<string, Receipt>;
  readonly hosts: ReadonlyMap<string, Host>;
};

/** The types that the page follows for all sessions; a session's own view asks for more of it. */
export const FOLLOWED = ["status", ...CONTROL_EVENTS, ...APPROVAL_EVENTS, "plan", "chat", "resize"] as const;

export const EMPTY_WORLD: World = {
  link: "connecting",
  asOf: 0,
  me: undefined,
  clockAheadMs: 0,
  sessions: new Map(),
  controls: new Map(),
  approvals: new Map(),
  prompts: new Map(),
  plans: new Map(),
  receipts: new Map(),
  hosts: new Map(),
};

/** Everything anew; what was decided while the page was open stays, and so do the receipts of stops that still hold. */
export function worldFrom(overview: Overview, before: World, now: number): World {
  const granted = overview.controls.filter((it) => it.control_mode === "AGENT").map((it) => it.session_id);
  return {
    link: "live",
    asOf: overview.eventCursor,
    me: overview.me,
    clockAheadMs: Date.parse(overview.now) - now,
    sessions: byKey(overview.sessions as readonly Session[], (it) => it.sessionId),
    controls: new Map(
      overview.controls.map((it) => [it.session_id, recorded(it as JsonObject) ?? initialControl(it.interactive)]),
    ),
    approvals: new Map([
      ...[...before.approvals].filter(([, it]) => it.status !== "pending"),
      ...overview.approvals.map((it) => [it.requestId, it as Approval] as const),
    ]),
    prompts: new Map([
      ...[...before.prompts].filter(([, it]) => it.status !== "pending"),
      ...overview.prompts.map((it) => [it.prompt_id, it] as const),
    ]),
    plans: new Map([
      ...[...before.plans].map(([id, it]) => [id, it.decision === undefined ? { ...it, isOver: true } : it] as const),
      ...overview.plans.map((it) => [it.planId, it] as const),
    ]),
    receipts: without(before.receipts, granted),
    hosts: byKey(overview.hosts, (it) => it.hostId),
  };
}

/** The same world where the event changes nothing that is shown. */
export function applyEvent(world: World, told: WorkspaceEvent): World {
  const event = told as StoredEvent;
  if (told.sequence <= world.asOf) return replaced(world, untoldBy(world, event));
  const { sessionId } = event;
  const sessions = changed(world.sessions, sessionId, (it) => applySession(it, event), closedAt);
  return replaced(world, {
    sessions,
    controls: ofThose(
      sessions,
      changed(world.controls, sessionId, (it) => controlAfter(it, event)),
    ),
    receipts: ofThose(sessions, receiptsAfter(world.receipts, event)),
    approvals: changed(world.approvals, idIn(event, "requestId"), (it) => applyApproval(it, event), decidedAt),
    prompts: changed(world.prompts, idIn(event, "promptId"), (it) => feedbackAfter(it, event)),
    plans: newest(changed(world.plans, idIn(event, "planId"), (it) => planAfter(it, event), resolvedAt)),
  });
}

/** What an overview leaves out of the time before it: what a stop did, and who decided about a plan. */
function untoldBy({ receipts, plans }: World, event: StoredEvent): Pick<World, "receipts" | "plans"> {
  const decided = (it: KnownPlan | undefined) => (it?.isOver === true ? decidedAfter(it, event) : it);
  return { receipts: receiptsAfter(receipts, event), plans: changed(plans, idIn(event, "planId"), decided) };
}

function replaced(world: World, parts: Partial<World>): World {
  const isSame = (Object.keys(parts) as (keyof World)[]).every((key) => parts[key] === world[key]);
  return isSame ? world : { ...world, ...parts };
}

/** As it was asked for just now. What was told of an answer stays until the outcome brings all of it. */
export function withPrompt(world: World, asked: AskedPrompt): World {
  const before = world.prompts.get(asked.prompt_id);
  const isSameOffer = before?.nonce === asked.nonce && asked.outcome === undefined;
  const feedback = isSameOffer && before.feedback.length > asked.feedback.length ? before.feedback : asked.feedback;
  const prompts = new Map(world.prompts).set(asked.prompt_id, { ...asked, feedback });
  return { ...world, prompts: withoutOldest(prompts, answeredAt) };
}

export function withApproval(world: World, approval: Approval): World {
  return { ...world, approvals: new Map(world.approvals).set(approval.requestId, approval) };
}

export function withHosts(world: World, hosts: readonly Host[]): World {
  return { ...world, hosts: byKey(hosts, (it) => it.hostId) };
}

/** Somebody has read it. */
export function withoutReceipt(world: World, sessionId: string): World {
  return replaced(world, { receipts: without(world.receipts, [sessionId]) });
}

/** A page may stay open for weeks: of what is over so many stay, those that were over last. */
const OVER_KEPT = 100;

/** Since when it is over, so that it may be forgotten. Undefined: it isn't. */
type OverAt<T> = (item: T) => string | undefined;

const closedAt: OverAt<Session> = (it) => (it.status === "closed" ? it.updatedAt : undefined);
const decidedAt: OverAt<Approval> = (it) => (it.status === "pending" ? undefined : (it.resolvedAt ?? it.requestedAt));
const answeredAt: OverAt<AskedPrompt> = (it) => (it.status === "pending" ? undefined : it.asked_at);
const resolvedAt: OverAt<KnownPlan> = (it) =>
  it.decision === undefined && it.isOver === undefined ? undefined : it.foundAt;

function withoutOldest<T>(map: ReadonlyMap<string, T>, overAt: OverAt<T>): ReadonlyMap<string, T> {
  if (map.size <= OVER_KEPT) return map;
  const over = [...map].flatMap(([key, it]) => (overAt(it) === undefined ? [] : [{ key, at: overAt(it) ?? "" }]));
  if (over.length <= OVER_KEPT) return map;
  const oldest = over.toSorted((a, b) => (a.at < b.at ? -1 : Number(a.at > b.at))).slice(0, -OVER_KEPT);
  const dropped = new Set(oldest.map(({ key }) => key));
  return new Map([...map].filter(([key]) => !dropped.has(key)));
}

/** What belongs to sessions goes with them. */
function ofThose<T>(sessions: ReadonlyMap<string, Session>, map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return map.size <= sessions.size ? map : new Map([...map].filter(([sessionId]) => sessions.has(sessionId)));
}

/** As many as the hub knows: a program may print plans without end. */
const PLANS_KEPT = 500;

function newest<T>(map: ReadonlyMap<string, T>): ReadonlyMap<string, T> {
  return map.size <= PLANS_KEPT ? map : new Map([...map].slice(-PLANS_KEPT));
}

/** The same map unless the fold gave another value: views of what didn't change aren't drawn again. */
function changed<T>(
  map: ReadonlyMap<string, T>,
  key: string | undefined,
  fold: (before: T | undefined) => T | undefined,
  overAt: OverAt<T> = () => undefined,
): ReadonlyMap<string, T> {
  if (key === undefined) return map;
  const before = map.get(key);
  const after = fold(before);
  return after === before || after === undefined ? map : withoutOldest(new Map(map).set(key, after), overAt);
}

function controlAfter(before: ControlState | undefined, event: StoredEvent): ControlState | undefined {
  if (event.type === "status" && event.payload["status"] === "created") return before ?? initialControl(false);
  return applyControl(before, event);
}

/** The lines come one by one while an answer is carried out. */
function feedbackAfter(before: AskedPrompt | undefined, { type, payload }: StoredEvent): AskedPrompt | undefined {
  const { kind, text } = payload;
  if (type !== "chat" || kind !== "feedback" || typeof text !== "string" || before === undefined) return before;
  return before.outcome === undefined ? { ...before, feedback: [...before.feedback, text] } : before;
}

function planAfter(before: KnownPlan | undefined, event: StoredEvent): KnownPlan | undefined {
  const { type, payload, sessionId, timestamp } = event;
  const { planId, title, steps } = payload as Partial<FoundPlan>;
  if (type !== "plan" || planId === undefined || title === undefined || steps === undefined) {
    return decidedAfter(before, event);
  }
  return { planId, sessionId, title, steps, foundAt: before?.foundAt ?? timestamp };
}

function decidedAfter(before: KnownPlan | undefined, { type, payload }: StoredEvent): KnownPlan | undefined {
  const { decision, by } = payload as Pick<FoundPlan, "decision"> & { readonly by?: string };
  if (type !== "plan" || before === undefined || decision === undefined || before.decision !== undefined) return before;
  return { ...before, decision, ...(by !== undefined && { decidedBy: by }) };
}

/** A stop is history as soon as an agent has control again. */
function receiptsAfter(before: World["receipts"], event: StoredEvent): World["receipts"] {
  const { type, sessionId, timestamp: at, payload } = event;
  if (type !== "receipt" && type !== "control_handoff") return before;
  const control = recorded(payload);
  if (type === "control_handoff") return control?.mode === "AGENT" ? without(before, [sessionId]) : before;
  // The gate tells it; control is then with whoever stopped.
  const by = control?.reason === "stop_now" ? control.holder?.id : undefined;
  return new Map(before).set(sessionId, { at, by, told: payload });
}

function without<T>(map: ReadonlyMap<string, T>, keys: readonly string[]): ReadonlyMap<string, T> {
  return keys.some((key) => map.has(key)) ? new Map([...map].filter(([key]) => !keys.includes(key))) : map;
}

function idIn({ payload }: StoredEvent, key: string): string | undefined {
  const id = payload[key];
  return typeof id === "string" ? id : undefined;
}

function byKey<T>(items: readonly T[], key: (item: T) => string): ReadonlyMap<string, T> {
  return new Map(items.map((it) => [key(it), it]));
}
