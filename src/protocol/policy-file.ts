/** What a policy file may say: its schema, and from which the JSON schema is made. Rules POL-10..POL-13 in docs/spec/policy.md. */
import { z } from "zod";
import { APPROVAL_TIMEOUT_MAX_MS, RISK_LEVELS } from "../domain/approval.ts";
import { CONTAINMENTS } from "../domain/containment.ts";
import { ACTION_KINDS } from "../domain/policy/action.ts";
import type { Policy, Rule } from "../domain/policy/policy.ts";
import { DECISIONS, EFFECTS, ON_EXPIRY, PLACES, type Touch } from "../domain/policy/verdict.ts";
import { WorkspaceId } from "./workspaces.ts";

const RULES_MAX = 1000;
const EXAMPLES_MAX = 100;
const TEXT_MAX = 1000;

const text = z.string().min(1).max(TEXT_MAX);
const some = <T extends z.ZodType>(item: T) => z.array(item).min(1).max(100);
const words = some(text);
const examples = z.array(z.string().min(1).max(4096)).max(EXAMPLES_MAX);

export const HOW = ["read", "write", "delete", "run"] as const satisfies readonly Touch["how"][];

const UNIT_MS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 };
const TIMEOUT = "must be a time from 1s to 24h, such as 90s or 10m";

const Timeout = z
  .union([
    z
      .string()
      .regex(/^\d{1,5}[smh]$/, { error: TIMEOUT, abort: true })
      .refine((it) => timeoutMs(it) >= 1000 && timeoutMs(it) <= APPROVAL_TIMEOUT_MAX_MS, TIMEOUT),
    z
      .int(TIMEOUT)
      .min(1, TIMEOUT)
      .max(APPROVAL_TIMEOUT_MAX_MS / 1000, TIMEOUT),
  ])
  .meta({ description: "How long a person has: `90s`, `10m`, `2h`, or seconds" });

const PathGlob = z
  .string()
  .max(4096)
  .regex(/^(?:~?\/|\*\*)/, "must begin with /, ~/ or **")
  .meta({ description: "A glob: `*` is any part of a name, `**` any directories, `~/` the home" });

const TouchPatternInFile = z
  .strictObject({
    how: z.enum(HOW).optional(),
    places: some(z.enum(PLACES)).optional(),
    paths: some(PathGlob).optional(),
  })
  .meta({ description: "All that is said must hold of one thing that is touched" });

export const RuleInFile = z.strictObject({
  id: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,63}$/, "must be lower-case letters, digits, dot, dash, underscore; at most 64"),
  decision: z.enum(DECISIONS),
  reason: text.meta({ description: "Told to whoever is asked, and to the agent" }),
  risk: z.enum(RISK_LEVELS).optional(),
  actions: some(z.enum(ACTION_KINDS)).optional().meta({ description: "Absent: `exec` and `remote_command`" }),
  command: z.union([text, words]).optional().meta({
    description:
      "It begins with these words, or with those of one of a list: `git push`, `npm install|i`, `docker * rm`",
  }),
  options: words.optional().meta({ description: "One of them is given, alone or bundled: `--force`, `-f`" }),
  effects: some(z.enum(EFFECTS)).optional().meta({ description: "It has one of them" }),
  touches: some(TouchPatternInFile).optional().meta({ description: "It touches something so" }),
  containment: some(z.enum(CONTAINMENTS)).optional(),
  workspaces: some(WorkspaceId).optional(),
  missing_guard: z.boolean().optional().meta({ description: "The session should have been guarded and isn't" }),
  timeout: Timeout.optional(),
  on_expiry: z.enum(ON_EXPIRY).optional().meta({ description: "What happens when nobody decides in time" }),
  match: examples.optional().meta({ description: "Examples that this rule decides; tried when the file is loaded" }),
  not_match: examples.optional().meta({ description: "Examples that it doesn't match; tried too" }),
});
export type RuleInFile = z.infer<typeof RuleInFile>;

export const PolicyFile = z.strictObject({
  extends: z
    .enum(["default", "none"])
    .optional()
    .meta({ description: "Whether the default's rules follow these (absent: they do); not in a workspace's file" }),
  default: z.enum(DECISIONS).optional().meta({ description: "Where no rule matches" }),
  unclear: z.enum(DECISIONS).optional().meta({ description: "What can't be known is at least this" }),
  rules: z.array(RuleInFile).max(RULES_MAX).default([]),
});
export type PolicyFile = z.infer<typeof PolicyFile>;

/** One line of what `sidestick policy test` tries. */
export const Expectation = z.strictObject({
  command: z.string().min(1).max(65_536),
  decision: z.enum(DECISIONS),
  rule: z.string().optional(),
  cwd: z.string().regex(/^\//, "must be an absolute path").optional(),
  containment: z.enum(CONTAINMENTS).optional(),
});
export type Expectation = z.infer<typeof Expectation>;
export const Expectations = z.array(Expectation).min(1).max(10_000);

export function policySchema(): object {
  return {
    $id: "urn:sidestick:policy",
    title: "A policy file of Sidestick",
    ...z.toJSONSchema(PolicyFile, { io: "input" }),
  };
}

export function ruleOf(rule: RuleInFile): Rule {
  const { missing_guard, on_expiry, not_match, timeout, command, ...same } = rule;
  return withoutAbsent({
    ...same,
    command: command === undefined ? undefined : [command].flat(),
    missingGuard: missing_guard,
    timeoutMs: timeout === undefined ? undefined : timeoutMs(timeout),
    onExpiry: on_expiry,
    notMatch: not_match,
  });
}

/** The other way round: a whole policy as a file that would say the same by itself. */
export function fileOf(policy: Omit<Policy, "version">, kind: "global" | "workspace"): PolicyFile {
  const { rules, otherwise, unclear } = policy;
  return withoutAbsent({
    extends: kind === "global" ? ("none" as const) : undefined,
    default: otherwise,
    unclear: kind === "workspace" && unclear === "auto" ? undefined : unclear,
    rules: rules.map(ruleInFile),
  });
}

/** Fields in the schema's order, so that what is said the same way is the same text. */
function ruleInFile(rule: Rule): RuleInFile {
  const { missingGuard, onExpiry, notMatch, timeoutMs: ms, command, ...same } = rule;
  return RuleInFile.parse({
    ...same,
    command: command?.length === 1 ? command[0] : command,
    missing_guard: missingGuard,
    timeout: ms === undefined ? undefined : ms / 1000,
    on_expiry: onExpiry,
    not_match: notMatch,
  });
}

function timeoutMs(timeout: string | number): number {
  if (typeof timeout === "number") return timeout * 1000;
  return Number.parseInt(timeout, 10) * (UNIT_MS[timeout.at(-1) ?? ""] ?? Number.NaN);
}

function withoutAbsent<T extends object>(value: T): T {
  return Object.fromEntries(Object.entries(value).filter(([, it]) => it !== undefined)) as T;
}
