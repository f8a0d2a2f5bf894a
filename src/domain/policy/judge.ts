/**
 * What policy says of an action: its parts are found, each is decided by rules, the strictest part decides the whole.
 * Total and bounded: what is too large, too deep or not understood is `unclear`. Rules POL-1..POL-9 in docs/spec/policy.md.
 */
import { RISK_LEVELS, type RiskLevel } from "../approval.ts";
import type { Action, Circumstances } from "./action.ts";
import { partsOf } from "./parts-of-action.ts";
import type { Policy } from "./policy.ts";
import { isStricter, ruleOn, type Ruling } from "./rules.ts";
import type { ParseShell } from "./shell-tree.ts";
import type { PartVerdict, Verdict } from "./verdict.ts";

/** The first policy is the global one; the others only make it stricter. */
export type Judging = { readonly policies: readonly Policy[]; readonly parse: ParseShell };

export function judge(action: Action, circumstances: Circumstances, { policies, parse }: Judging): Verdict {
  const parts = partsOf(action, circumstances, parse);
  const rulings = parts.map((part) => ruleOn({ kind: action.kind, part, circumstances }, policies));
  const deciding = rulings.reduce((a, b) => (outweighs(b, a) ? b : a));
  return {
    decision: deciding.decision,
    riskLevel: rulings.map((ruling) => ruling.riskLevel).reduce(higher),
    rule: deciding.rule,
    reason: deciding.reason,
    parts: parts.map(({ text, program, effects, touches }, index): PartVerdict => {
      const { decision, riskLevel, rule, reason } = rulings[index]!;
      return { text, program, effects, touches, decision, riskLevel, rule, reason };
    }),
    touches: parts.flatMap((part) => part.touches),
    programs: [...new Set(parts.flatMap((part) => part.programs))],
    scripts: [...new Set(parts.flatMap((part) => part.scripts))],
    timeoutMs: deciding.timeoutMs,
    onExpiry: deciding.onExpiry,
    policyVersion: deciding.policyVersion,
  };
}

function outweighs(a: Ruling, b: Ruling): boolean {
  if (a.decision !== b.decision) return isStricter(a.decision, b.decision);
  return RISK_LEVELS.indexOf(a.riskLevel) > RISK_LEVELS.indexOf(b.riskLevel);
}

function higher(a: RiskLevel, b: RiskLevel): RiskLevel {
  return RISK_LEVELS.indexOf(b) > RISK_LEVELS.indexOf(a) ? b : a;
}
