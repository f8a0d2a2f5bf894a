/** Policy: looked at, never changed from here (POL-15). */
import type { PolicyExplainer } from "../../hub/policy-explainer.ts";
import { PolicyVerdict } from "../../protocol/policy.ts";
import type { Handlers } from "../dispatcher.ts";

export function policyHandlers(explainer: PolicyExplainer) {
  return {
    "policy.get": () => explainer.state(),
    "policy.explain": async (input, { caller }) => PolicyVerdict.parse(await explainer.explain(input, caller.actor)),
  } satisfies Partial<Handlers>;
}
