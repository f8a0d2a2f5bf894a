/**
 * What this machine's owner lets any hub do here. It stands above whatever a hub approved: `deny` is absolute, and `ask`
 * needs a hub that says that a person decided. Rules RML-30..RML-34 in docs/spec/remote-hosts.md.
 */
import { realpathSync } from "node:fs";
import type { ShellDialect } from "../domain/policy/action.ts";
import { judge } from "../domain/policy/judge.ts";
import { isWithin } from "../domain/policy/paths.ts";
import type { Policy, Rule } from "../domain/policy/policy.ts";
import type { ParseShell } from "../domain/policy/shell-tree.ts";
import type { Decision } from "../domain/policy/verdict.ts";
import { AppError } from "../protocol/errors.ts";
import type { HostPolicyFile } from "../protocol/host-policy.ts";
import { ruleOf } from "../protocol/policy-file.ts";
import type { StartMessage } from "./hosted-session.ts";

export type CommandPlace = {
  readonly dialect: ShellDialect;
  readonly cwd?: string | undefined;
  readonly home?: string | undefined;
};

const DECISION_OF = { allow: "auto", ask: "ask", deny: "deny" } as const satisfies Record<string, Decision>;

export class HostPolicy {
  readonly #file: HostPolicyFile;
  readonly #policy: Policy;
  readonly #parse: ParseShell;
  readonly #roots: readonly string[] | undefined;
  readonly #broken: string | undefined;
  /** Whether anything is judged at all. */
  readonly judgesCommands: boolean;

  /** `broken`: what is wrong with the file that `file` stands for until it is mended. */
  constructor(file: HostPolicyFile, parse: ParseShell, broken?: string) {
    this.#file = file;
    this.#broken = broken;
    this.#parse = parse;
    this.#roots = file.cwd_roots?.map(real);
    const rules = [
      ...file.deny.map((command, index) => listed("deny", command, index)),
      ...file.rules.map(ruleOf),
      ...file.ask.map((command, index) => listed("ask", command, index)),
      ...file.allow.map((command, index) => listed("allow", command, index)),
    ];
    const otherwise = DECISION_OF[file.default];
    this.judgesCommands = otherwise !== "auto" || rules.some((it) => it.decision !== "auto");
    const unclear = file.unclear === undefined ? (this.judgesCommands ? "deny" : "auto") : DECISION_OF[file.unclear];
    this.#policy = { version: "host", rules, otherwise, unclear };
  }

  get takesAnyTyping(): boolean {
    return !this.judgesCommands || this.#file.typing === "allow";
  }

  /** Throws `policy_denied`. Answers where the session begins instead, if not where it was asked to. */
  start(start: StartMessage, places: StartPlaces): { readonly cwd?: string } {
    this.refuseIfBroken();
    this.#contained(start, places);
    const { cwd, shell } = start;
    if (this.judgesCommands && shell !== undefined && !places.shells.includes(shell)) {
      deny("shell", `${shell} is not one of this machine's shells`);
    }
    const [first] = this.#roots ?? [];
    if (first === undefined) return {};
    if (cwd !== undefined) {
      this.within(cwd);
      return {};
    }
    return this.#isWithin(places.home) ? {} : { cwd: first };
  }

  /** Throws `policy_denied` for a directory that commands don't begin in. */
  within(cwd: string | undefined): void {
    if (this.#roots === undefined) return;
    if (cwd === undefined || !this.#isWithin(cwd))
      deny("cwd_roots", `commands don't begin in ${cwd ?? "an unknown directory"}`);
  }

  /** Throws `policy_denied`. `decided`: the hub says that a person did. */
  command(text: string, place: CommandPlace, decided: boolean): void {
    this.refuseIfBroken();
    if (!this.judgesCommands) return;
    const circumstances = {
      workspaceId: "default",
      containment: "open",
      isGuardMissing: false,
      roots: [],
      ours: [],
      ...place,
    } as const;
    const verdict = judge({ kind: "exec", text }, circumstances, { policies: [this.#policy], parse: this.#parse });
    if (verdict.decision === "auto" || (verdict.decision === "ask" && decided)) return;
    const needs = verdict.decision === "ask" ? "a person has to decide it: " : "";
    deny(verdict.rule, `${needs}${verdict.reason}`);
  }

  /** Throws `policy_denied` with where the file is broken: nobody there could guess it from a rule. */
  refuseIfBroken(): void {
    if (this.#broken === undefined) return;
    deny("broken", `its policy file is broken, and nothing runs there until it is mended: ${this.#broken}`);
  }

  #contained({ containment = "open", user, guard = {} }: StartMessage, places: StartPlaces): void {
    const { users, containment: levels, guard_terms: terms } = this.#file;
    if (levels !== undefined && !levels.includes(containment)) deny("containment", `no ${containment} sessions here`);
    // Whatever has no account of its own runs as the host does.
    const account = containment === "user" ? (user ?? "") : places.user;
    if (users !== undefined && !users.includes(account)) deny("users", `no sessions as ${account} here`);
    const isNarrow = terms === undefined ? levels?.includes("open") === false : terms === "narrow";
    const isWider = [guard.shown, guard.writable].some((it) => it !== undefined && it.length > 0);
    if (isNarrow && isWider) deny("guard_terms", "no hub opens the guard here");
  }

  #isWithin(path: string): boolean {
    const place = real(path);
    return this.#roots?.some((root) => isWithin(place, root)) ?? true;
  }
}

type StartPlaces = { readonly user: string; readonly home: string; readonly shells: readonly string[] };

function listed(word: keyof typeof DECISION_OF, command: string, index: number): Rule {
  const verb = { allow: "allows", ask: "asks about", deny: "denies" }[word];
  const id = `${word}-${index + 1}`;
  return { id, decision: DECISION_OF[word], reason: `this host's policy ${verb} ${command}`, command: [command] };
}

/** A directory that isn't there is taken as it is written: nothing begins in it. */
function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function deny(rule: string, reason: string): never {
  throw new AppError("policy_denied", { rule: `host:${rule}`, reason, detail: `The host refuses: ${reason}` });
}
