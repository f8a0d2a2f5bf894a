/**
 * Where a session's programs run: in the guard, as another account, or open, as the person's own. Who asked decides what
 * they get; an agent never gets less than its workspace gives. Rules GRD-1..GRD-4 in docs/spec/guard.md.
 */
import type { Actor } from "./actor.ts";

export const CONTAINMENTS = ["guard", "user", "open"] as const;
export type Containment = (typeof CONTAINMENTS)[number];

/** What a guard should have and hasn't. */
export type MissingLayer = { readonly layer: string; readonly reason: string; readonly remedy?: string | undefined };

export type ContainmentTerms = {
  readonly asked?: Containment | undefined;
  readonly by: Actor;
  /** What its workspace gives an agent. */
  readonly given: "guard" | "open";
  /** Whether an agent may drive an open session there. */
  readonly openForAgents: "allow" | "forbid";
  /** Of its host; absent: it doesn't know of guards. */
  readonly ability?: { readonly available: boolean; readonly missing: readonly MissingLayer[] } | undefined;
};

export type ContainmentDecision =
  | { readonly ok: true; readonly containment: Containment; readonly missing: readonly MissingLayer[] }
  | {
      readonly ok: false;
      readonly refusal: "needs_open" | "kind_unavailable" | "policy_denied";
      readonly reason: string;
      readonly missing: readonly MissingLayer[];
    };

export function decideContainment(terms: ContainmentTerms): ContainmentDecision {
  const { asked, by, given, openForAgents, ability } = terms;
  const isAgent = by.kind === "agent";
  const wanted = asked ?? (isAgent ? given : "open");
  const missing = ability?.missing ?? UNKNOWN_GUARD;
  if (isAgent && (asked === "open" || asked === "user")) {
    return {
      ok: false,
      refusal: "needs_open",
      reason: "only a person may choose a session without the guard",
      missing: [],
    };
  }
  if (wanted === "guard") {
    if (ability?.available === true) return { ok: true, containment: "guard", missing };
    if (asked === "guard") {
      return {
        ok: false,
        refusal: "kind_unavailable",
        reason: `there is no guard here: ${namedReasons(missing)}`,
        missing,
      };
    }
  }
  const lacking = wanted === "guard" ? missing : [];
  if (isAgent && openForAgents === "forbid") {
    const why = lacking.length === 0 ? "" : `, and there is no guard here: ${namedReasons(lacking)}`;
    return {
      ok: false,
      refusal: "policy_denied",
      reason: `the workspace lets no agent drive an open session${why}`,
      missing: lacking,
    };
  }
  return { ok: true, containment: wanted === "guard" ? "open" : wanted, missing: lacking };
}

const UNKNOWN_GUARD: readonly MissingLayer[] = [{ layer: "guard", reason: "this host knows no guard" }];

function namedReasons(missing: readonly MissingLayer[]): string {
  return missing.map(({ layer, reason }) => `${layer}: ${reason}`).join("; ");
}

/** What it means that an agent gets control there, for the person who gives it. */
export function grantWarning(containment: Containment, user = "another user"): string | undefined {
  switch (containment) {
    case "guard":
      return undefined;
    case "user":
      return `This session has no guard: the agent's programs run as ${user} and can do all that this account can.`;
    case "open":
      return "This session is open: the agent's programs run as you, can read Sidestick's data and act as you, so that the agent keeps to your control is a promise.";
  }
}
