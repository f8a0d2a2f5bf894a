/** `sidestick policy` without a hub: files are read and commands judged as a hub would. Rule POL-18 in docs/spec/policy.md. */
import { open } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname } from "node:path";
import { parse } from "unbash";
import { stringify } from "yaml";
import type { Containment } from "../domain/containment.ts";
import type { Circumstances } from "../domain/policy/action.ts";
import type { Verdict } from "../domain/policy/verdict.ts";
import { type Applied, judgeBy, loadPolicies, type LoadedPolicies } from "../hub/policy-desk.ts";
import { defaultPolicy, EXAMPLE_CIRCUMSTANCES, readPolicy } from "../hub/policy-reader.ts";
import type { PolicyProblem } from "../hub/ports.ts";
import { issueText } from "../protocol/issue-text.ts";
import { type Expectation, Expectations, fileOf, type PolicyFile } from "../protocol/policy-file.ts";
import { PolicyDirectory, readAnyFile } from "../store/policy/policy-directory.ts";
import { makePrivateDirectory } from "./private-directory.ts";
import { projectAround } from "./project-root.ts";
import { placesOf, policyPlaces, readSettings } from "./settings.ts";
import { STARTING_POLICY } from "./starting-policy.ts";

export { problemText } from "../hub/policy-desk.ts";
export { describeApplied } from "../hub/policy-explainer.ts";

/** What a hub of this directory would apply, as it is configured here. */
export function configuredPolicies(dataDir: string): Promise<LoadedPolicies> {
  const places = policyPlaces({ ...readSettings([], process.env), dataDir });
  return loadPolicies({ files: new PolicyDirectory(places), parse });
}

/** One file as the global policy, whoever owns it. */
export async function policyIn(path: string): Promise<LoadedPolicies> {
  const read = readPolicy(await readAnyFile(path), parse);
  if (!read.ok) return read;
  return { ok: true, applied: { global: { policy: read.policy, file: path }, workspaces: new Map() } };
}

export function defaultFile(): PolicyFile {
  return fileOf(defaultPolicy(), "global");
}

export function yamlOf(file: PolicyFile): string {
  return stringify(file, { lineWidth: 120, aliasDuplicateObjects: false }).trimEnd();
}

export type Question = {
  readonly action: { readonly kind: "exec" | "remote_command"; readonly text: string };
  readonly cwd: string;
  readonly workspaceId: string;
  readonly containment: Containment;
};

export async function explained(applied: Applied, question: Question, dataDir: string): Promise<Verdict> {
  const { action, cwd, workspaceId, containment } = question;
  const home = homedir();
  const circumstances: Circumstances = {
    workspaceId,
    containment,
    isGuardMissing: false,
    dialect: "bash",
    cwd,
    home,
    roots: await projectAround(cwd, home),
    ours: placesOf({ ...readSettings([], process.env), dataDir }, process.env),
  };
  return judgeBy(applied, action, circumstances, parse);
}

export type Tried = {
  readonly expected: Expectation;
  readonly line: number;
  readonly verdict: Verdict;
  readonly ok: boolean;
};

export type Trial =
  | { readonly ok: true; readonly tried: readonly Tried[] }
  | { readonly ok: false; readonly problems: readonly PolicyProblem[] };

/** Everywhere in the same circumstances, so that the answer is the same everywhere. */
export async function tryExpectations(applied: Applied, path: string, workspaceId: string): Promise<Trial> {
  const document = await readAnyFile(path);
  if (document.problems.length > 0) return { ok: false, problems: document.problems };
  const parsed = Expectations.safeParse(document.value);
  if (!parsed.success) {
    const remedy = "It should be a list of {command, decision, rule?, cwd?, containment?}.";
    const problems = parsed.error.issues.map((issue) => {
      const message = `${String(issue.path.at(-1) ?? "the file")} ${issueText(issue)}`;
      return { file: path, ...document.locate(issue.path), message, remedy };
    });
    return { ok: false, problems };
  }
  const tried = parsed.data.map((expected, index): Tried => {
    const { command, cwd = EXAMPLE_CIRCUMSTANCES.cwd, containment = EXAMPLE_CIRCUMSTANCES.containment } = expected;
    const circumstances = { ...EXAMPLE_CIRCUMSTANCES, workspaceId, cwd, containment };
    const verdict = judgeBy(applied, { kind: "exec", text: command }, circumstances, parse);
    const ok = verdict.decision === expected.decision && (expected.rule ?? verdict.rule) === verdict.rule;
    return { expected, line: document.locate([index, "command"]).line, verdict, ok };
  });
  return { ok: true, tried };
}

/** Writes it, unless there is one already. */
export async function initPolicy(dataDir: string): Promise<{ readonly file: string; readonly isNew: boolean }> {
  const { file } = policyPlaces({ ...readSettings([], process.env), dataDir });
  await makePrivateDirectory(dirname(file));
  try {
    await using handle = await open(file, "wx", 0o600);
    await handle.writeFile(STARTING_POLICY);
    return { file, isNew: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return { file, isNew: false };
  }
}
