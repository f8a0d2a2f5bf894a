/** What waits for a person, and what became of it: approvals, questions of programs, plans, agents' requests for control. */
import type { Approval } from "../../domain/approval.ts";
import type { ControlState } from "../../domain/control-state.ts";
import type { FoundPlan } from "../../protocol/overview.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";
import type { World } from "./world.ts";

type Of = {
  /** The same for as long as it is the same thing. */
  readonly key: string;
  readonly sessionId: string;
  /** When it was asked. */
  readonly at: number;
  readonly waits: boolean;
};

export type Asked = Of &
  (
    | { readonly kind: "approval"; readonly approval: Approval }
    | { readonly kind: "prompt"; readonly prompt: AskedPrompt }
    | { readonly kind: "plan"; readonly plan: FoundPlan }
    | { readonly kind: "request"; readonly request: NonNullable<ControlState["request"]> }
  );

/** What the world knows of it, oldest first. */
export const askedIn = ofEachWorld((world): readonly Asked[] => {
  const all = [...approvalsIn(world), ...promptsIn(world), ...plansIn(world), ...requestsIn(world)];
  return all.toSorted((a, b) => a.at - b.at);
});

export const pendingIn = ofEachWorld((world): readonly Asked[] => askedIn(world).filter(({ waits }) => waits));

/** How many, by session. */
export const pendingCounts = ofEachWorld(
  (world): ReadonlyMap<string, number> =>
    new Map([...Map.groupBy(pendingIn(world), (it) => it.sessionId)].map(([id, asked]) => [id, asked.length])),
);

/** Many views ask; it is worked out once. */
function ofEachWorld<T>(workOut: (world: World) => T): (world: World) => T {
  const known = new WeakMap<World, { readonly value: T }>();
  return (world) => {
    const { value } = known.get(world) ?? { value: workOut(world) };
    known.set(world, { value });
    return value;
  };
}

function approvalsIn({ approvals }: World): Asked[] {
  return [...approvals.values()].map((approval) => {
    const { requestId, sessionId, requestedAt, status } = approval;
    const of = { key: `approval-${requestId}`, sessionId, at: Date.parse(requestedAt), waits: status === "pending" };
    return { kind: "approval", ...of, approval };
  });
}

function promptsIn({ prompts }: World): Asked[] {
  return [...prompts.values()].map((prompt) => {
    const { prompt_id, session_id: sessionId, asked_at, status } = prompt;
    const of = { key: `prompt-${prompt_id}`, sessionId, at: Date.parse(asked_at), waits: status === "pending" };
    return { kind: "prompt", ...of, prompt };
  });
}

/** Nobody goes on with a plan in a session that has ended. */
function plansIn(world: World): Asked[] {
  return [...world.plans.values()].map((plan) => {
    const { planId, sessionId, foundAt, decision, isOver } = plan;
    const waits = decision === undefined && isOver === undefined && isOpen(world, sessionId);
    return { kind: "plan", key: `plan-${planId}`, sessionId, at: Date.parse(foundAt), waits, plan };
  });
}

function requestsIn(world: World): Asked[] {
  return [...world.controls].flatMap(([sessionId, { request }]) => {
    if (request === null || !isOpen(world, sessionId)) return [];
    const { at } = request;
    return [{ kind: "request", key: `request-${sessionId}-${at}`, sessionId, at, waits: true, request }];
  });
}

function isOpen({ sessions }: World, sessionId: string): boolean {
  const session = sessions.get(sessionId);
  return session !== undefined && session.status !== "closed";
}
