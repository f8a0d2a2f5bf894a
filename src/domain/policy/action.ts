/** What an agent wants to do, as policy sees it. Rules in docs/spec/policy.md. */
import type { Containment } from "../containment.ts";

export const ACTION_KINDS = [
  "exec",
  "send",
  "opaque_send",
  "remote_command",
  "file_write",
  "navigate",
  "desktop_input",
  "tool",
  "plan",
  "escalation",
] as const;
export type ActionKind = (typeof ACTION_KINDS)[number];

/** `text`: shell text for `exec` and `remote_command`, a path for `file_write`, an address for `navigate`, what is typed for the others. */
export type Action =
  | { readonly kind: ActionKind; readonly text: string }
  /** Executed by the host without a shell; with `text` a shell runs it, and nothing else. */
  | { readonly kind: "remote_command"; readonly argv: readonly string[] };

export type ShellDialect = "bash" | "zsh" | "dash" | "fish" | "other";

/** Where an action would be done, as far as it is known. */
export type Circumstances = {
  readonly workspaceId: string;
  readonly containment: Containment;
  /** It should have been guarded and isn't, or not wholly. */
  readonly isGuardMissing: boolean;
  readonly dialect: ShellDialect;
  /** Absolute; absent: nobody knows. */
  readonly cwd?: string | undefined;
  readonly home?: string | undefined;
  /** Directories in which the agent may write and delete. */
  readonly roots: readonly string[];
  /** What no agent may write: our own data and policy. */
  readonly ours: readonly string[];
};
