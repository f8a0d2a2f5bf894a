/** A policy as data: what a file says once it is read and found whole. Rules POL-10..POL-17 in docs/spec/policy.md. */
import type { RiskLevel } from "../approval.ts";
import type { Containment } from "../containment.ts";
import type { ActionKind } from "./action.ts";
import type { Decision, Effect, OnExpiry, Place, Touch } from "./verdict.ts";

export type Rule = {
  readonly id: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly risk?: RiskLevel | undefined;
  /** Absent: `exec` and `remote_command`. */
  readonly actions?: readonly ActionKind[] | undefined;
  /**
   * Words at the beginning of a command line, without wrappers: `git push`, `npm install|i|add`, `docker * rm`. `*` is
   * any one word; options that stand between the words are passed over.
   */
  readonly command?: readonly string[] | undefined;
  /** One of them is given, alone or bundled: `--force`, `-f`. */
  readonly options?: readonly string[] | undefined;
  /** It has one of them. */
  readonly effects?: readonly Effect[] | undefined;
  /** It touches something so. */
  readonly touches?: readonly TouchPattern[] | undefined;
  readonly containment?: readonly Containment[] | undefined;
  readonly workspaces?: readonly string[] | undefined;
  readonly missingGuard?: boolean | undefined;
  readonly timeoutMs?: number | undefined;
  readonly onExpiry?: OnExpiry | undefined;
  readonly match?: readonly string[] | undefined;
  readonly notMatch?: readonly string[] | undefined;
};

/** All that is said must hold; `paths` are globs (`~/`, `*`, `**`). */
export type TouchPattern = {
  readonly how?: Touch["how"] | undefined;
  readonly places?: readonly Place[] | undefined;
  readonly paths?: readonly string[] | undefined;
};

export type Policy = {
  readonly version: string;
  /** In order: the first that matches a part decides it. */
  readonly rules: readonly Rule[];
  /** Where no rule matches. Absent in a workspace's: it says nothing then. */
  readonly otherwise?: Decision | undefined;
  /** What a part that is unclear is at least; `auto` only where a person said so in so many words. */
  readonly unclear: Decision;
};
