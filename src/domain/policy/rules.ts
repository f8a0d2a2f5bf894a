/**
 * Which rule decides a part: of one policy the first that matches, of several policies the strictest. A rule that asks
 * or denies matches if anything of the part is as it says; one that lets through only if everything is. POL-10..POL-12, POL-17.
 */
import type { RiskLevel } from "../approval.ts";
import type { ActionKind, Circumstances } from "./action.ts";
import { globMatches } from "./glob.ts";
import type { Part } from "./part.ts";
import { atHome } from "./paths.ts";
import type { Policy, Rule, TouchPattern } from "./policy.ts";
import { type Decision, DECISIONS, type OnExpiry, type Touch } from "./verdict.ts";

export type Ruling = {
  readonly decision: Decision;
  readonly riskLevel: RiskLevel;
  readonly rule: string;
  readonly reason: string;
  readonly timeoutMs?: number | undefined;
  readonly onExpiry: OnExpiry;
  readonly policyVersion: string;
};

type Case = { readonly kind: ActionKind; readonly part: Part; readonly circumstances: Circumstances };

const RISK_OF: Readonly<Record<Decision, RiskLevel>> = { auto: "low", ask: "medium", deny: "critical" };

export function ruleOn(each: Case, policies: readonly Policy[]): Ruling {
  let strictest: Ruling | undefined;
  for (const policy of policies) {
    const ruling = rulingOf(each, policy);
    if (ruling === undefined) continue;
    if (strictest === undefined || isStricter(ruling.decision, strictest.decision)) strictest = ruling;
  }
  return strictest ?? made("ask", "no_policy", "no policy says anything of it", policies[0]?.version ?? "");
}

export function isStricter(a: Decision, b: Decision): boolean {
  return DECISIONS.indexOf(a) > DECISIONS.indexOf(b);
}

function rulingOf(each: Case, policy: Policy): Ruling | undefined {
  const matching = policy.rules.filter((rule) => ruleMatches(rule, each));
  const first = matching.find((rule) => rule.missingGuard !== true);
  // What is said of a missing guard only ever makes stricter: it never stands in the way of a rule behind it.
  const candidates = [first, ...matching.filter((rule) => rule.missingGuard === true)].flatMap((rule) =>
    rule === undefined ? [] : [byRule(rule, policy)],
  );
  candidates.push(...floors(each.part, policy));
  if (first === undefined && policy.otherwise !== undefined) {
    candidates.push(made(policy.otherwise, "otherwise", "no rule matches it", policy.version));
  }
  return candidates.reduce<Ruling | undefined>(
    (a, b) => (a === undefined || isStricter(b.decision, a.decision) ? b : a),
    undefined,
  );
}

/** What no rule can make milder. */
function floors({ effects }: Part, policy: Policy): readonly Ruling[] {
  const found: Ruling[] = [];
  if (effects.includes("unclear")) {
    found.push(made(policy.unclear, "unclear", "what it would do can't be known from its text", policy.version));
  }
  if (effects.includes("deceptive")) {
    found.push(made("ask", "deceptive", "it has letters that look like others or can't be seen", policy.version));
  }
  return found;
}

function byRule(rule: Rule, policy: Policy): Ruling {
  return {
    decision: rule.decision,
    riskLevel: rule.risk ?? RISK_OF[rule.decision],
    rule: rule.id,
    reason: rule.reason,
    timeoutMs: rule.timeoutMs,
    onExpiry: rule.onExpiry ?? "deny",
    policyVersion: policy.version,
  };
}

function made(decision: Decision, rule: string, reason: string, policyVersion: string): Ruling {
  return { decision, riskLevel: RISK_OF[decision], rule, reason, onExpiry: "deny", policyVersion };
}

function ruleMatches(rule: Rule, { kind, part, circumstances }: Case): boolean {
  const letsThrough = rule.decision === "auto";
  return (
    (rule.actions ?? ["exec", "remote_command"]).includes(kind) &&
    (rule.containment?.includes(circumstances.containment) ?? true) &&
    (rule.workspaces?.includes(circumstances.workspaceId) ?? true) &&
    (rule.missingGuard === undefined || rule.missingGuard === circumstances.isGuardMissing) &&
    (rule.command?.some((pattern) => commandMatches(pattern, part, letsThrough)) ?? true) &&
    (rule.options?.some((option) => hasOption(part, option, letsThrough)) ?? true) &&
    (rule.effects === undefined || effectsMatch(rule.effects, part, letsThrough)) &&
    (rule.touches === undefined || touchesMatch(rule.touches, part.touches, { letsThrough, home: circumstances.home }))
  );
}

function effectsMatch(wanted: NonNullable<Rule["effects"]>, part: Part, letsThrough: boolean): boolean {
  const isWanted = (effect: (typeof part.effects)[number]): boolean => wanted.includes(effect);
  return letsThrough ? part.effects.every(isWanted) : part.effects.some(isWanted);
}

function touchesMatch(
  patterns: readonly TouchPattern[],
  touches: readonly Touch[],
  { letsThrough, home }: { readonly letsThrough: boolean; readonly home: string | undefined },
): boolean {
  const isWanted = (touch: Touch): boolean => patterns.some((pattern) => touchMatches(pattern, touch, home));
  if (!touches.some(isWanted)) return false;
  if (!letsThrough) return true;
  const isOfTheirKind = (touch: Touch): boolean => patterns.some(({ how }) => how === undefined || how === touch.how);
  return touches.every((touch) => !isOfTheirKind(touch) || isWanted(touch));
}

function touchMatches(pattern: TouchPattern, touch: Touch, home: string | undefined): boolean {
  return (
    (pattern.how === undefined || pattern.how === touch.how) &&
    (pattern.places?.includes(touch.place) ?? true) &&
    (pattern.paths?.some((path) => globMatches(atHome(path, home), touch.path)) ?? true)
  );
}

function commandMatches(pattern: string, part: Part, letsThrough: boolean): boolean {
  const wanted = pattern.split(/\s+/).filter((word) => word !== "");
  let at = 0;
  return wanted.every((word) => {
    if (word.startsWith("-")) return hasOption(part, word, letsThrough);
    const given = part.words[at];
    at += 1;
    return given !== undefined && (word === "*" || word.split("|").includes(given));
  });
}

/** Long options may be shortened, to one letter too; what lets through has to stand there in full. Short ones may be bundled. */
function hasOption(part: Part, option: string, letsThrough: boolean): boolean {
  return part.options.some((given) => {
    const [name = ""] = given.split("=", 1);
    if (name === option) return true;
    if (option.startsWith("--")) return !letsThrough && /^--./.test(name) && option.startsWith(name);
    return option.length === 2 && !given.startsWith("--") && given.slice(1).includes(option.slice(1));
  });
}
