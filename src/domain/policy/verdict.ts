/** What policy says of an action. */
import type { RiskLevel } from "../approval.ts";

export const DECISIONS = ["auto", "ask", "deny"] as const;
export type Decision = (typeof DECISIONS)[number];

export const ON_EXPIRY = ["deny", "pause", "escalate"] as const;
export type OnExpiry = (typeof ON_EXPIRY)[number];

/** What a simple command does, as far as its kind is known. A command has several. */
export const EFFECTS = [
  "read",
  "write",
  "delete",
  /** Runs what the project itself says: make, npm test. */
  "build",
  /** Runs a file as a program: ./x, python x.py. */
  "script",
  /** Runs code that stands in the command line and isn't shell: python -c. */
  "inline_code",
  /** Gives data to an interpreter: curl … | sh. */
  "pipe_to_shell",
  "privilege",
  "package",
  "system",
  /** Signals or ends processes. */
  "process",
  "credentials",
  "fetch",
  /** Sends something out or publishes it. */
  "push",
  /** Goes to another machine or container and runs something there. */
  "remote",
  /** Sets what makes programs run others: PATH, LD_PRELOAD, GIT_SSH_COMMAND. */
  "environment",
  /** Changes how the shell understands later commands. */
  "shell_state",
  /** Destroys what nobody can bring back: disks, a home, the system. */
  "irreversible",
  /** Would change our own files. */
  "ours",
  "unknown_program",
  "unclear",
  "deceptive",
] as const;
export type Effect = (typeof EFFECTS)[number];

/** Where a path leads. */
export const PLACES = [
  "inside",
  "outside",
  "temporary",
  "home",
  "system",
  "device",
  "credentials",
  "ours",
  "unknown",
] as const;
export type Place = (typeof PLACES)[number];

export type Touch = {
  readonly how: "read" | "write" | "delete" | "run";
  /** As it stands, or resolved where it could be. */
  readonly path: string;
  readonly place: Place;
};

/** Of one simple command, or of what could not be read as one. */
export type PartVerdict = {
  /** As it stands in the text. */
  readonly text: string;
  /** The program's name without its path; empty where there is none. */
  readonly program: string;
  readonly effects: readonly Effect[];
  readonly touches: readonly Touch[];
  readonly decision: Decision;
  readonly riskLevel: RiskLevel;
  readonly rule: string;
  readonly reason: string;
};

export type Verdict = {
  readonly decision: Decision;
  readonly riskLevel: RiskLevel;
  /** The rule that decided: of the strictest part. */
  readonly rule: string;
  readonly reason: string;
  readonly parts: readonly PartVerdict[];
  readonly touches: readonly Touch[];
  /** Programs that would run, as named: to be resolved and hashed where an approval is bound. */
  readonly programs: readonly string[];
  /** Files that would be run as scripts, as named. */
  readonly scripts: readonly string[];
  /** How long a person has, where the rule says. */
  readonly timeoutMs?: number | undefined;
  readonly onExpiry: OnExpiry;
  /** Of the policy that said so. */
  readonly policyVersion: string;
};
