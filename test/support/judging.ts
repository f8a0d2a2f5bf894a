/** Where the tests of policy are: a project in a home, guarded. */
import { parse } from "unbash";
import type { Circumstances } from "../../src/domain/policy/action.ts";
import { DEFAULT_POLICY } from "../../src/domain/policy/default-policy.ts";
import { judge, type Judging } from "../../src/domain/policy/judge.ts";
import type { Verdict } from "../../src/domain/policy/verdict.ts";

export const AT: Circumstances = {
  workspaceId: "w",
  containment: "guard",
  isGuardMissing: false,
  dialect: "bash",
  cwd: "/home/u/shop",
  home: "/home/u",
  roots: ["/home/u/shop"],
  ours: ["/home/u/.sidestick"],
};

export const BY_DEFAULT: Judging = { policies: [DEFAULT_POLICY], parse };

export function judgeText(text: string, changes: Partial<Circumstances> = {}): Verdict {
  return judge({ kind: "exec", text }, { ...AT, ...changes }, BY_DEFAULT);
}
