/**
 * From what a policy file says to a policy: its schema, its ids and its own examples are checked, and whatever is wrong is
 * told with its place. Pure but for the judge that is passed in. Rules POL-10..POL-13 in docs/spec/policy.md.
 */
import { hash } from "node:crypto";
import type { Action, ActionKind, Circumstances } from "../domain/policy/action.ts";
import { DEFAULT_POLICY } from "../domain/policy/default-policy.ts";
import { judge } from "../domain/policy/judge.ts";
import type { Policy, Rule } from "../domain/policy/policy.ts";
import type { ParseShell } from "../domain/policy/shell-tree.ts";
import type { PartVerdict } from "../domain/policy/verdict.ts";
import { issueText } from "../protocol/issue-text.ts";
import { fileOf, PolicyFile, ruleOf } from "../protocol/policy-file.ts";
import type { PolicyDocument, PolicyProblem } from "./ports.ts";

export type ReadPolicy =
  | { readonly ok: true; readonly policy: Policy }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

/** Where examples and expectations are tried: the same for everybody, whoever tries them and where. */
export const EXAMPLE_CIRCUMSTANCES: Circumstances = {
  workspaceId: "default",
  containment: "open",
  isGuardMissing: false,
  dialect: "bash",
  cwd: "/home/u/project",
  home: "/home/u",
  roots: ["/home/u/project"],
  ours: ["/home/u/.local/share/sidestick"],
};

const PROBLEMS_MAX = 20;

export function readPolicy(document: PolicyDocument, parse: ParseShell): ReadPolicy {
  if (document.problems.length > 0) return { ok: false, problems: document.problems };
  const parsed = PolicyFile.safeParse(document.value ?? {});
  if (!parsed.success) return { ok: false, problems: schemaProblems(document, parsed.error.issues) };
  const rules = parsed.data.rules.map(ruleOf);
  const problems = [
    ...formProblems(document, parsed.data),
    ...rules.flatMap((rule, index) => exampleProblems(document, { rules, rule, index }, parse)),
  ];
  if (problems.length > 0) return { ok: false, problems: problems.slice(0, PROBLEMS_MAX) };
  return { ok: true, policy: policyOf(parsed.data, rules, document.workspaceId) };
}

/** Without a file. */
export function defaultPolicy(): Policy {
  return versioned(DEFAULT_POLICY);
}

/** A workspace's says nothing but what it says; the global one says something of everything. */
function policyOf(file: PolicyFile, rules: readonly Rule[], workspaceId: string | undefined): Policy {
  if (workspaceId !== undefined) {
    return versioned({ rules, otherwise: file.default, unclear: file.unclear ?? "auto" });
  }
  const base = file.extends === "none" ? { ...DEFAULT_POLICY, rules: [], otherwise: "ask" as const } : DEFAULT_POLICY;
  return versioned({
    rules: [...rules, ...base.rules],
    otherwise: file.default ?? base.otherwise,
    unclear: file.unclear ?? base.unclear,
  });
}

function versioned({ rules, otherwise, unclear }: Omit<Policy, "version">): Policy {
  const said = { rules, otherwise, unclear };
  return { ...said, version: versionOf(JSON.stringify(fileOf(said, "global"))) };
}

export function versionOf(said: string): string {
  return hash("sha256", said, "hex").slice(0, 16);
}

type Issue = { readonly path: readonly PropertyKey[]; readonly message: string };

function schemaProblems(document: PolicyDocument, issues: Parameters<typeof issueText>[0][]): PolicyProblem[] {
  const found = issues.slice(0, PROBLEMS_MAX).map((issue) => {
    const unknown = issue.code === "unrecognized_keys" ? issue.keys[0] : undefined;
    const path = unknown === undefined ? issue.path : [...issue.path, unknown];
    const message = unknown === undefined ? `${nameOf(issue.path)} ${issueText(issue)}` : `unknown field "${unknown}"`;
    const remedy =
      unknown === undefined
        ? SEE_SCHEMA
        : "Remove it or mend its spelling; `sidestick policy schema` lists the fields.";
    return problemAt(document, { path, message }, remedy);
  });
  return found.toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

const SEE_SCHEMA = "`sidestick policy schema` says what is allowed.";

function formProblems(document: PolicyDocument, file: PolicyFile): PolicyProblem[] {
  const problems: PolicyProblem[] = [];
  if (document.workspaceId !== undefined && file.extends !== undefined) {
    const issue = {
      path: ["extends"],
      message: "a workspace's file extends nothing: it only makes the global policy stricter",
    };
    problems.push(problemAt(document, issue, "Remove extends."));
  }
  const taken = new Map<string, string>([
    ...RESERVED.map((id) => [id, "Sidestick's own"] as const),
    ...defaultsOf(document, file).map(({ id }) => [id, "the default policy"] as const),
  ]);
  file.rules.forEach(({ id }, index) => {
    const issue = {
      path: ["rules", index, "id"],
      message: `the id "${id}" is already that of a rule of ${taken.get(id)}`,
    };
    if (taken.has(id)) problems.push(problemAt(document, issue, "Give each rule an id of its own."));
    taken.set(id, "this file");
  });
  return problems;
}

/** What is said to have decided where no rule of a file did. */
const RESERVED = ["otherwise", "unclear", "deceptive", "no_policy"];

/** The default's rules that stand in the same policy. */
function defaultsOf({ workspaceId }: PolicyDocument, file: PolicyFile): readonly Rule[] {
  return workspaceId === undefined && file.extends !== "none" ? DEFAULT_POLICY.rules : [];
}

type RuleAt = { readonly rules: readonly Rule[]; readonly rule: Rule; readonly index: number };

function exampleProblems(document: PolicyDocument, { rules, rule, index }: RuleAt, parse: ParseShell): PolicyProblem[] {
  const circumstances = circumstancesFor(rule, document.workspaceId);
  const partsOf = (text: string, among: readonly Rule[]): readonly PartVerdict[] => {
    const policy: Policy = { version: "", rules: among, otherwise: "auto", unclear: "auto" };
    return judge(actionOf(kindOf(rule), text), circumstances, { policies: [policy], parse }).parts;
  };
  const isIts = ({ rule: id }: PartVerdict): boolean => id === rule.id;
  const problem = (field: string, at: number, message: string): PolicyProblem =>
    problemAt(document, { path: ["rules", index, field, at], message }, "Change the rule or the example.");
  const missed = (rule.match ?? []).flatMap((text, at) => {
    const its = partsOf(text, [rule]).map(isIts);
    if (!its.includes(true)) return [problem("match", at, `rule "${rule.id}" doesn't match its example: ${text}`)];
    const decided = partsOf(text, rules).filter((_, part) => its[part]);
    if (decided.some((it) => it.decision === rule.decision)) return [];
    const before = `rule "${decided[0]?.rule}", which stands before "${rule.id}", decides its example otherwise`;
    return [problem("match", at, `${before}: ${text}`)];
  });
  const hit = (rule.notMatch ?? []).flatMap((text, at) => {
    const parts = partsOf(text, [rule]);
    // What lets one part through hasn't let the command through.
    const isHit = rule.decision === "auto" ? parts.every(isIts) : parts.some(isIts);
    return isHit ? [problem("not_match", at, `rule "${rule.id}" matches what it says it doesn't: ${text}`)] : [];
  });
  return [...missed, ...hit];
}

function circumstancesFor(rule: Rule, workspaceId: string | undefined): Circumstances {
  return {
    ...EXAMPLE_CIRCUMSTANCES,
    workspaceId: workspaceId ?? rule.workspaces?.[0] ?? EXAMPLE_CIRCUMSTANCES.workspaceId,
    containment: rule.containment?.[0] ?? EXAMPLE_CIRCUMSTANCES.containment,
    isGuardMissing: rule.missingGuard ?? false,
  };
}

function kindOf({ actions }: Rule): ActionKind {
  return actions === undefined || actions.includes("exec") ? "exec" : (actions[0] ?? "exec");
}

function actionOf(kind: ActionKind, text: string): Action {
  return { kind, text };
}

function nameOf(path: readonly PropertyKey[]): string {
  const field = path.findLast((it) => typeof it === "string");
  return field === undefined ? "the file" : field;
}

function problemAt(document: PolicyDocument, { path, message }: Issue, remedy: string): PolicyProblem {
  return { file: document.path, ...document.locate(path), message, remedy };
}
