/**
 * What applies: the global policy and the workspaces' own, as their files say, read again when they change. A broken file
 * stops the start; later it changes nothing but what is said of it. Rules POL-10..POL-18 in docs/spec/policy.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { Action, Circumstances } from "../domain/policy/action.ts";
import { judge } from "../domain/policy/judge.ts";
import type { Policy } from "../domain/policy/policy.ts";
import type { ParseShell } from "../domain/policy/shell-tree.ts";
import type { Verdict } from "../domain/policy/verdict.ts";
import type { Logger } from "../lib/logger.ts";
import { TimeBudgets } from "./time-budget.ts";
import { AppError } from "../protocol/errors.ts";
import { defaultPolicy, readPolicy, versionOf } from "./policy-reader.ts";
import type { PolicyFiles, PolicyProblem } from "./ports.ts";

export type PolicyParts = {
  readonly files: PolicyFiles;
  readonly parse: ParseShell;
  readonly logger: Logger;
  /** What of Sidestick no agent may write, whatever the circumstances say. */
  readonly ours: readonly string[];
};

/** `file` is absent where there is none. */
export type SourcedPolicy = { readonly policy: Policy; readonly file?: string | undefined };

export type Applied = {
  readonly global: SourcedPolicy;
  readonly workspaces: ReadonlyMap<string, SourcedPolicy>;
};

/** Why a hub doesn't start. */
export class PolicyBroken extends Error {
  override readonly name = "PolicyBroken";
  readonly problems: readonly PolicyProblem[];

  constructor(problems: readonly PolicyProblem[]) {
    super(`The policy can't be used:\n${problems.map((it) => `  ${problemText(it)}`).join("\n")}`);
    this.problems = problems;
  }
}

/** Of an agent: a typical judgement takes 0.06 ms. */
const JUDGING = { burstMs: 500, share: 0.05 };

export class PolicyDesk {
  readonly #parts: PolicyParts;
  #applied: Applied = { global: { policy: defaultPolicy() }, workspaces: new Map() };
  #problems: readonly PolicyProblem[] = [];
  #watching: Disposable | undefined;
  #reloading = Promise.resolve();
  readonly #judging = new TimeBudgets(JUDGING);

  constructor(parts: PolicyParts) {
    this.#parts = parts;
  }

  /** Rejects with `PolicyBroken`. */
  async start(): Promise<void> {
    const loaded = await loadPolicies(this.#parts);
    if (!loaded.ok) throw new PolicyBroken(loaded.problems);
    this.#applied = loaded.applied;
    this.#watching = this.#parts.files.watch(() => {
      this.#reloading = this.#reloading.then(() => this.#reload());
    });
  }

  stop(): void {
    this.#watching?.[Symbol.dispose]();
  }

  /** As the files were when all of them were whole. */
  get applied(): Applied {
    return this.#applied;
  }

  /** Of the files as they are now. */
  get problems(): readonly PolicyProblem[] {
    return this.#problems;
  }

  /** Throws `limit_reached` to an agent that has the hub judge without end: others wait meanwhile, and so does a stop. */
  judge(action: Action, circumstances: Circumstances, by: Actor): Verdict {
    const ours = [...new Set([...circumstances.ours, ...this.#parts.ours])];
    const judged = () => judgeBy(this.#applied, action, { ...circumstances, ours }, this.#parts.parse);
    if (by.kind !== "agent") return judged();
    const retryAfterMs = this.#judging.waitFor(by.id);
    if (retryAfterMs > 0) {
      const detail = "What you asked for took too long to judge; wait, and send shorter commands";
      throw new AppError("limit_reached", { limit: "judging", retryAfterMs, detail });
    }
    return this.#judging.spend(by.id, judged);
  }

  /** Of what applies to a workspace now. */
  version(workspaceId: string): string {
    return versionFor(this.#applied, workspaceId);
  }

  async #reload(): Promise<void> {
    const { logger } = this.#parts;
    try {
      const loaded = await loadPolicies(this.#parts);
      this.#problems = loaded.ok ? [] : loaded.problems;
      if (loaded.ok) {
        this.#applied = loaded.applied;
        logger.info("the policy was read again", { version: loaded.applied.global.policy.version });
      } else {
        const problems = loaded.problems.map(problemText);
        logger.error("a policy file is broken, so the policy stays as it was", { problems });
      }
    } catch (error) {
      logger.error("the policy could not be read again", { error });
    }
  }
}

export type LoadedPolicies =
  | { readonly ok: true; readonly applied: Applied }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

export async function loadPolicies({ files, parse }: Pick<PolicyParts, "files" | "parse">): Promise<LoadedPolicies> {
  const problems: PolicyProblem[] = [];
  let global: SourcedPolicy = { policy: defaultPolicy() };
  const workspaces = new Map<string, SourcedPolicy>();
  for (const document of await files.read()) {
    const read = readPolicy(document, parse);
    const { path: file, workspaceId } = document;
    if (!read.ok) problems.push(...read.problems);
    else if (workspaceId === undefined) global = { policy: read.policy, file };
    else workspaces.set(workspaceId, { policy: read.policy, file });
  }
  return problems.length === 0 ? { ok: true, applied: { global, workspaces } } : { ok: false, problems };
}

export function judgeBy(applied: Applied, action: Action, circumstances: Circumstances, parse: ParseShell): Verdict {
  const own = applied.workspaces.get(circumstances.workspaceId);
  const policies = [applied.global, ...(own === undefined ? [] : [own])].map((it) => it.policy);
  const verdict = judge(action, circumstances, { policies, parse });
  return { ...verdict, policyVersion: versionFor(applied, circumstances.workspaceId) };
}

/** Of all that is said there. */
export function versionFor({ global, workspaces }: Applied, workspaceId: string): string {
  const own = workspaces.get(workspaceId);
  return own === undefined ? global.policy.version : versionOf(`${global.policy.version} ${own.policy.version}`);
}

export function problemText(problem: PolicyProblem): string {
  return `${problemLine(problem)}. ${problem.remedy}`;
}

/** As compilers say it, so that editors find the place. */
export function problemLine({ file, line, column, message }: PolicyProblem): string {
  return `${line === undefined ? file : `${file}:${line}:${column ?? 1}`}: ${message}`;
}
