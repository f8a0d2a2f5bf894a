/**
 * Every state of the control machine that two agents and two people can bring about, and every command in each of
 * them. What must hold is said by a ghost that remembers only what people did.
 */
import { expect, test } from "vitest";
import type { Actor } from "./actor.ts";
import { type ControlCommand, type ControlOutcome, decideControl, type Moment } from "./control.ts";
import { applyControl, recorded } from "./control-record.ts";
import { type ControlState, initialControl, isInteractive } from "./control-state.ts";

const ANN: Actor = { kind: "person", id: "ann" };
const BEN: Actor = { kind: "person", id: "ben" };
const BOT: Actor = { kind: "agent", id: "bot" };
const CAT: Actor = { kind: "agent", id: "cat" };
const HOST: Actor = { kind: "host", id: "here" };
/** Closed after 9 steps; a machine that never came back to a state it had would not run for ever. */
const DEEPEST = 40;

/** What people did; the machine's own words don't count. */
type Ghost = {
  /** Took, typed, stopped or granted, and did not release since. */
  readonly holds: boolean;
  readonly stopped: boolean;
  /** Drove before the viewer came who asks for a pause instead of revoking. */
  readonly tolerated: boolean;
};

type Node = { readonly state: ControlState; readonly ghost: Ghost };
type Step = {
  readonly before: Node;
  readonly command: ControlCommand;
  readonly moment: Moment;
  readonly outcome: ControlOutcome;
  readonly ghost: Ghost;
};

test.each([
  { mayAcquire: true, attended: false },
  { mayAcquire: true, attended: true },
  { mayAcquire: false, attended: false },
])(
  "[CTL-2, CTL-3, CTL-5, CTL-16, CTL-22, CTL-31] whatever two agents and two people do (agents may acquire: $mayAcquire, attended: $attended)",
  ({ mayAcquire, attended }) => {
    const { violations, states, depth } = explore(initialControl(attended), mayAcquire);

    expect(violations).toEqual([]);
    expect(depth).toBeLessThan(DEEPEST);
    expect(states).toBeGreaterThan(500);
  },
);

function explore(first: ControlState, mayAcquire: boolean) {
  const root: Node = { state: first, ghost: { holds: false, stopped: false, tolerated: false } };
  const seen = new Set([keyOf(root)]);
  const violations = new Set<string>();
  let frontier = [root];
  let depth = 0;
  for (; frontier.length > 0 && depth < DEEPEST && violations.size < 10; depth += 1) {
    const next: Node[] = [];
    for (const before of frontier) {
      for (const step of stepsFrom(before, mayAcquire)) {
        for (const it of offences(step)) violations.add(`${it} ${JSON.stringify(step.command)} in ${keyOf(before)}`);
        for (const after of nodesAfter(step)) {
          const key = keyOf(after);
          if (!seen.has(key)) next.push(after);
          seen.add(key);
        }
      }
    }
    frontier = next;
  }
  return { violations: [...violations].slice(0, 10), states: seen.size, depth };
}

/** Where no lease is, its clock is of no meaning. */
function* stepsFrom(before: Node, mayAcquire: boolean): Iterable<Step> {
  const clocks = before.state.lease === null ? [true] : [true, false];
  for (const leaseLive of clocks) {
    const moment = { leaseLive, at: 1_700_000_000_000, mayAcquire };
    for (const command of commandsIn(before.state)) {
      const outcome = decideControl(before.state, command, moment);
      yield { before, command, moment, outcome, ghost: ghostAfter(before, command, outcome) };
    }
  }
}

/** A block of the agent's may begin or end at any time. */
function nodesAfter({ outcome: { state }, ghost }: Step): Node[] {
  const blocks = (["agent_block_begin", "agent_block_end"] as const).map((type) =>
    applyControl(state, { type, payload: {}, source: BOT }),
  );
  return [state, ...blocks].map((it) => ({ state: it ?? state, ghost }));
}

function commandsIn({ epoch }: ControlState): ControlCommand[] {
  return [...commandsOfPeople(epoch), ...commandsOfAgents(epoch), ...commandsOfNobody(epoch)];
}

function commandsOfPeople(epoch: number): ControlCommand[] {
  const grant = { type: "grant", leaseSeconds: 30, attend: false } as const;
  return [ANN, BEN].flatMap((by): ControlCommand[] => [
    { type: "act", by },
    { type: "take", by },
    { type: "release", by },
    { type: "decline", by },
    { type: "intent", by, intent: "WAIT" },
    { type: "intent", by, intent: "SAFE_INTERRUPT" },
    { type: "intent", by, intent: "STOP_NOW" },
    { ...grant, by, agentId: "bot" },
    { ...grant, by, agentId: null, attend: true, expectedEpoch: epoch },
    { ...grant, by, agentId: "cat", attend: true, expectedEpoch: epoch - 1 },
  ]);
}

function commandsOfAgents(epoch: number): ControlCommand[] {
  const forged = [BOT, HOST].flatMap((by): ControlCommand[] => [
    { type: "grant", by, agentId: "bot", leaseSeconds: 30, attend: true },
    { type: "take", by },
    { type: "decline", by },
    { type: "intent", by, intent: "WAIT" },
    { type: "intent", by, intent: "STOP_NOW" },
  ]);
  const own = [BOT, CAT].flatMap((by): ControlCommand[] => [
    { type: "act", by, epoch },
    { type: "act", by, epoch: epoch - 1 },
    { type: "renew", by },
    { type: "renew", by, epoch: epoch - 1, leaseSeconds: 30 },
    { type: "release", by },
    { type: "request", by, reason: "r" },
    { type: "safe_point", by, step: "s", sequence: 1 },
  ]);
  return [...own, ...forged, { type: "act", by: HOST }, { type: "release", by: HOST }];
}

function commandsOfNobody(epoch: number): ControlCommand[] {
  return [
    { type: "expire" },
    { type: "stopped", receipt: {} },
    { type: "attended", attended: true },
    { type: "attended", attended: true, instead: "safe_interrupt" },
    { type: "attended", attended: false },
    { type: "reconnect" },
    { type: "reconnect", knownEpoch: epoch },
    { type: "reconnect", knownEpoch: epoch - 1 },
  ];
}

function ghostAfter({ state, ghost }: Node, command: ControlCommand, outcome: ControlOutcome): Ghost {
  const { holds, stopped } = ghost;
  const isDone = outcome.refusal === undefined;
  const drivesUngranted = state.mode === "AGENT" && state.lease === null && outcome.state.epoch === state.epoch;
  const cameGently = command.type === "attended" && command.instead !== undefined && outcome.facts.length > 0;
  const tolerated = drivesUngranted && (ghost.tolerated || cameGently);
  if (!byPerson(command) || !isDone) return { holds, stopped, tolerated };
  switch (command.type) {
    case "act":
    case "take":
      return { holds: true, stopped, tolerated };
    case "grant":
      return { holds: true, stopped: false, tolerated };
    case "release":
      return { holds: false, stopped: false, tolerated };
    case "intent":
      return command.intent === "STOP_NOW" ? { holds: true, stopped: true, tolerated } : { holds, stopped, tolerated };
    default:
      return { holds, stopped, tolerated };
  }
}

function offences(step: Step): string[] {
  return [...powerOffences(step), ...personOffences(step), ...recordOffences(step)];
}

/** An agent gets control by a person's grant, or by itself where nobody attends, holds or has stopped it. */
function powerOffences({ before, command, moment, outcome, ghost }: Step): string[] {
  const { state } = outcome;
  const isNew = state.mode === "AGENT" && state.epoch !== before.state.epoch;
  const granted = command.type === "grant" && byPerson(command);
  const isFree = !before.ghost.holds && !before.state.attended && !before.ghost.stopped && moment.mayAcquire;
  const byAgent = "by" in command && command.by.kind === "agent";
  const acted = command.type === "act" && byAgent && outcome.refusal === undefined;
  return [
    isNew && !granted && !(isFree && byAgent) && "power from nowhere:",
    isNew && granted && state.lease === null && "a grant without an end:",
    state.mode === "AGENT" && isInteractive(state) && state.lease === null && !ghost.tolerated && "no grant stands:",
    state.mode === "AGENT" && state.holder?.kind === "person" && "a person as an agent:",
    state.mode === "AGENT" && ghost.stopped && "drives though stopped:",
    (state.intent === "STOP_NOW") !== ghost.stopped && "STOP_NOW comes and goes only by people:",
    ghost.holds && !isInteractive(state) && "a hold got lost:",
    acted && (state.mode !== "AGENT" || state.holder?.id !== command.by.id) && "acts without control:",
    acted && before.state.intent === "SAFE_INTERRUPT" && "passes a safe point:",
    acted && state.lease !== null && !moment.leaseLive && "acts under a lease that is over:",
    acted && command.epoch !== before.state.epoch && "acts under another epoch:",
  ].filter((it) => it !== false);
}

/** Taking is never refused, and people's acts are nobody else's. */
function personOffences({ before, command, outcome }: Step): string[] {
  const { state } = outcome;
  const takes = command.type === "take" || command.type === "act" || isStop(command);
  const personal = takes || ["grant", "decline", "intent"].includes(command.type);
  const byAgentHimself = command.type === "act" && command.by.kind === "agent";
  if (byPerson(command)) {
    const hasIt = state.mode === "USER" && state.held && state.holder?.kind === "person";
    return takes && (!hasIt || outcome.refusal !== undefined) ? ["a person can't take:"] : [];
  }
  if (!personal || byAgentHimself || !("by" in command)) return [];
  const expiredOnly = before.state.lease !== null && state.reason === "lease_expired";
  const changed = state !== before.state && !expiredOnly;
  return outcome.refusal === undefined || changed ? ["a person's act by somebody else:"] : [];
}

/** What is told is what happened: the epoch counts the holders, and folding the facts gives the state. */
function recordOffences({ before, outcome }: Step): string[] {
  const { state, facts } = outcome;
  const holders = facts.filter((it) => it.payload["change"] === "holder");
  const folded = facts.reduce<ControlState | undefined>(
    (known, { type, payload, by }) => applyControl(known, { type, payload, source: by }),
    before.state,
  );
  const last = facts.at(-1);
  const changedHands = state.mode !== before.state.mode || (state.holder?.id ?? "") !== (before.state.holder?.id ?? "");
  const bound = facts.some((it) => it.payload["change"] === "bound");
  return [
    state.epoch - before.state.epoch !== holders.length && "the epoch doesn't count the holders:",
    changedHands && holders.length === 0 && !bound && "a change of hands without an epoch:",
    facts.length === 0 && state !== before.state && "a change that nobody is told:",
    stateKey(folded) !== stateKey(state) && "the fold differs:",
    last !== undefined && stateKey(recorded(last.payload)) !== stateKey(state) && "the record differs:",
  ].filter((it) => it !== false);
}

function byPerson(command: ControlCommand): boolean {
  return "by" in command && command.by.kind === "person";
}

function isStop(command: ControlCommand): boolean {
  return command.type === "intent" && command.intent === "STOP_NOW";
}

/** Epochs only grow: two states that differ by theirs alone behave alike. */
function keyOf({ state, ghost }: Node): string {
  return `${stateKey({ ...state, epoch: 0 })} ${ghost.holds} ${ghost.stopped} ${ghost.tolerated}`;
}

function stateKey(state: ControlState | undefined): string {
  if (state === undefined) return "";
  const { epoch, mode, holder, lease, intent, agentStatus, attended, held, request, note, reason, interruptedBy } =
    state;
  const who = [holder?.kind, holder?.id, lease?.by, lease?.seconds, lease?.endsAt, interruptedBy?.id];
  const asked = [request?.agentId, request?.reason, request?.at];
  return [epoch, mode, ...who, intent, agentStatus, attended, held, ...asked, note, reason].join();
}
