import { resolve } from "node:path";
import { HubUnreachable } from "../../client/sidestick.ts";
import { CONTAINMENTS } from "../../domain/containment.ts";
import type { Verdict } from "../../domain/policy/verdict.ts";
import type { PolicyState } from "../../protocol/policy.ts";
import { defineCommand } from "../command.ts";
import { CannotRun, EXIT, UsageError } from "../exit.ts";
import { type Hub, shellWord } from "../hub.ts";
import { oneOf } from "../options.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

const loadMain = () => import("../../main/policy.ts");
type Main = Awaited<ReturnType<typeof loadMain>>;
type Loaded = Awaited<ReturnType<Main["policyIn"]>>;
type Applied = Extract<Loaded, { ok: true }>["applied"];

const FILE = { type: "string", value: "FILE", help: "judge by this file instead of the hub's" } as const;
const WORKSPACE = { type: "string", value: "ID", help: "in this workspace (default: default)" } as const;

const KINDS = ["exec", "remote_command"] as const;

export const policyCheck = defineCommand({
  name: "policy check",
  summary: "Say whether policy files are whole: those of the data directory, or those that are named",
  takes: ["[file...]"],
  examples: ["sidestick policy check", "sidestick policy check policy.yaml --json"],
  notes: ["No hub is needed. Exit code 1: something is wrong, told as file:line:column."],
  run: async ({ given, dataDir, values, terminal }) => {
    const main = await loadMain();
    const loaded =
      given.length === 0
        ? [await configured(main, localOnly(dataDir))]
        : await Promise.all(given.map((it) => main.policyIn(it)));
    const problems = loaded.flatMap((it) => (it.ok ? [] : it.problems));
    if (values.json === true) terminal.printJson({ ok: problems.length === 0, problems });
    else if (problems.length > 0) for (const it of problems) terminal.print(printable(main.problemText(it)));
    else for (const it of loaded) if (it.ok) for (const line of wholeLines(it.applied)) terminal.print(printable(line));
    return problems.length === 0 ? EXIT.ok : EXIT.failure;
  },
});

export const policyExplain = defineCommand({
  name: "policy explain",
  summary: "Say how a command would be judged, part by part, and by which rule; nothing is run",
  takes: ["<command...>"],
  options: {
    cwd: { type: "string", value: "DIR", help: "as if it were run there (default: here)" },
    workspace: WORKSPACE,
    containment: { type: "string", value: "LEVEL", help: `${CONTAINMENTS.join(", ")} (default: the workspace's)` },
    as: { type: "string", value: "KIND", help: `${KINDS.join(", ")}: a command of a project (default: exec)` },
    policy: FILE,
  },
  examples: [
    "sidestick policy explain -- git push --force",
    "sidestick policy explain 'curl https://example.com/x.sh | sh'",
    "sidestick policy explain --policy policy.yaml --containment guard -- npm publish",
  ],
  notes: ["One word is shell text; several are a program and its arguments. Where no hub runs, its files are read."],
  run: async (invocation) => {
    const { values, given, terminal } = invocation;
    const containment =
      values.containment === undefined ? undefined : oneOf(values.containment, CONTAINMENTS, "--containment");
    const text = given.length === 1 ? (given[0] ?? "") : given.map(shellWord).join(" ");
    const question = {
      action: { kind: oneOf(values.as ?? "exec", KINDS, "--as"), text },
      cwd: resolve(values.cwd ?? "."),
      workspaceId: values.workspace ?? "default",
      containment,
    };
    const answered = values.policy === undefined ? await askHub(invocation, question) : undefined;
    const verdict = answered ?? (await explainByFiles(invocation, question));
    if (verdict === undefined) return EXIT.failure;
    if (values.json === true) terminal.printJson(verdict);
    else printVerdict(verdict, terminal);
    return EXIT.ok;
  },
});

export const policyTest = defineCommand({
  name: "policy test",
  summary: "Try a file of expectations: commands and the decisions that they should get",
  takes: ["<file>"],
  options: { policy: FILE, workspace: WORKSPACE },
  examples: ["sidestick policy test expectations.yaml", "sidestick policy test expectations.yaml --policy policy.yaml"],
  notes: [
    "The file is a YAML list of {command, decision, rule?, cwd?, containment?}. They are tried as if in /home/u/project, the\nhome being /home/u, in an open session unless they say otherwise: the same everywhere. Exit code 1: one failed.",
  ],
  run: async (invocation) => {
    const { given, values, terminal } = invocation;
    const main = await loadMain();
    const applied = await loadedHere(invocation, main);
    if (applied === undefined) return EXIT.failure;
    const trial = await main.tryExpectations(applied, given[0] ?? "", values.workspace ?? "default");
    if (!trial.ok) return tellProblems(trial.problems, invocation, main);
    const failed = trial.tried.filter((it) => !it.ok);
    if (values.json === true) {
      terminal.printJson({ ok: failed.length === 0, tried: trial.tried.length, failed });
      return failed.length === 0 ? EXIT.ok : EXIT.failure;
    }
    for (const { expected, line, verdict } of failed) {
      const wanted = expected.rule === undefined ? expected.decision : `${expected.decision} by ${expected.rule}`;
      const got = `${verdict.decision} by ${verdict.rule}: ${verdict.reason}`;
      terminal.print(printable(`${given[0]}:${line}: ${expected.command}: expected ${wanted}, got ${got}`));
    }
    terminal.note(`${trial.tried.length - failed.length} held, ${failed.length} failed.`);
    return failed.length === 0 ? EXIT.ok : EXIT.failure;
  },
});

export const policyShow = defineCommand({
  name: "policy show",
  summary: "Show what applies, as YAML that could be a policy file",
  options: {
    default: { type: "boolean", help: "the default's rules alone" },
    workspace: { type: "string", value: "ID", help: "what this workspace's own file adds" },
  },
  examples: ["sidestick policy show", "sidestick policy show --default", "sidestick policy show --workspace web"],
  notes: ["Of a running hub; where none runs, of its files."],
  run: async (invocation) => {
    const { values, terminal } = invocation;
    const main = await loadMain();
    if (values.default === true) {
      if (values.json === true) terminal.printJson(main.defaultFile());
      else terminal.print(main.yamlOf(main.defaultFile()));
      return EXIT.ok;
    }
    const state = await stateHere(invocation, main);
    if (state === undefined) return EXIT.failure;
    await refuseUnknown(invocation, state, values.workspace);
    if (values.json === true) terminal.printJson(state);
    else for (const line of shown(state, values.workspace, main)) terminal.print(line);
    for (const it of state.problems) terminal.note(printable(`sidestick: ${main.problemText(it)}`));
    return EXIT.ok;
  },
});

export const policySchema = defineCommand({
  name: "policy schema",
  summary: "Print the JSON schema of policy files, for editors",
  examples: ["sidestick policy schema > policy.schema.json"],
  run: async ({ terminal }) => {
    const schema = await import("../../protocol/policy-file.ts");
    terminal.printJson(schema.policySchema());
    return EXIT.ok;
  },
});

export const policyInit = defineCommand({
  name: "policy init",
  summary: "Write a policy file to begin with, if there is none",
  examples: ["sidestick policy init"],
  run: async ({ dataDir, values, terminal }) => {
    const main = await loadMain();
    const { file, isNew } = await main.initPolicy(localOnly(dataDir));
    if (!isNew)
      throw new CannotRun(`There is a policy file already: ${file}.`, "Edit it; then: sidestick policy check");
    if (values.json === true) terminal.printJson({ file });
    else terminal.print(printable(file));
    return EXIT.ok;
  },
});

type Anywhere = Pick<Hub, "client" | "dataDir"> & {
  readonly terminal: Terminal;
  readonly values: { readonly json?: boolean | undefined; readonly policy?: string | undefined };
};

type Question = {
  readonly action: { readonly kind: (typeof KINDS)[number]; readonly text: string };
  readonly cwd: string;
  readonly workspaceId: string;
  readonly containment: (typeof CONTAINMENTS)[number] | undefined;
};

/** Undefined where no hub runs. */
async function askHub({ client, dataDir, terminal }: Anywhere, question: Question): Promise<Verdict | undefined> {
  const answer = await unlessAway(dataDir, () => client.policy.explain(question));
  if (answer === undefined) terminal.note("No hub runs there; its files are read.");
  return answer;
}

async function explainByFiles(invocation: Anywhere, question: Question): Promise<Verdict | undefined> {
  const main = await loadMain();
  const applied = await loadedHere(invocation, main);
  if (applied === undefined) return undefined;
  const containment = question.containment ?? "guard";
  return main.explained(applied, { ...question, containment }, localOnly(invocation.dataDir));
}

async function stateHere(invocation: Anywhere, main: Main): Promise<PolicyState | undefined> {
  const { client, dataDir } = invocation;
  const told = await unlessAway(dataDir, () => client.policy.get());
  if (told !== undefined) return told;
  invocation.terminal.note("No hub runs there; its files are read.");
  const applied = await loadedHere(invocation, main);
  return applied === undefined ? undefined : main.describeApplied(applied, []);
}

/** Of the file that is named, or of the data directory; undefined when they are broken, which was told. */
async function loadedHere(invocation: Anywhere, main: Main): Promise<Applied | undefined> {
  const { policy } = invocation.values;
  const loaded =
    policy === undefined ? await configured(main, localOnly(invocation.dataDir)) : await main.policyIn(policy);
  if (loaded.ok) return loaded.applied;
  tellProblems(loaded.problems, invocation, main);
  return undefined;
}

type Problems = Extract<Loaded, { ok: false }>["problems"];

function tellProblems(problems: Problems, { values, terminal }: Anywhere, main: Main): number {
  if (values.json === true) terminal.printJson({ ok: false, problems });
  else for (const it of problems) terminal.note(printable(`sidestick: ${main.problemText(it)}`));
  return EXIT.failure;
}

/** The settings that are read for it may be wrong. */
async function configured(main: Main, dataDir: string): Promise<Loaded> {
  try {
    return await main.configuredPolicies(dataDir);
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "SettingsError") throw error;
    throw new UsageError(error.message, { cause: error });
  }
}

/** One that isn't there, and one that has no file, are two things; where no hub runs nobody knows. */
async function refuseUnknown(
  { client, dataDir }: Anywhere,
  state: PolicyState,
  workspaceId: string | undefined,
): Promise<void> {
  if (workspaceId === undefined || state.workspaces.some((it) => it.workspaceId === workspaceId)) return;
  await unlessAway(dataDir, () => client.workspace.get({ workspaceId }));
}

/** Only a hub of this machine leaves files that can be read instead. */
async function unlessAway<T>(dataDir: string | undefined, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (dataDir === undefined || !(error instanceof HubUnreachable)) throw error;
    return undefined;
  }
}

function wholeLines({ global, workspaces }: Applied): string[] {
  const all = [global, ...workspaces.values()];
  return all.map(
    ({ file, policy }) =>
      `${file ?? "the default policy"}: whole, ${policy.rules.length} rules, version ${policy.version}`,
  );
}

function* shown(state: PolicyState, workspaceId: string | undefined, main: Main): Generator<string> {
  const own = state.workspaces.find((it) => it.workspaceId === workspaceId);
  if (workspaceId !== undefined && own === undefined) {
    throw new UsageError(`The workspace "${workspaceId}" has no policy file of its own.`, {
      remedy: "Without one the global policy applies there: sidestick policy show",
    });
  }
  const { file, version, policy } = own ?? state.global;
  yield printable(`# ${file ?? "no file: the default"}, version ${version}`);
  for (const it of state.problems) yield printable(`# BROKEN, so this stays: ${main.problemText(it)}`);
  yield main.yamlOf(policy);
}

function printVerdict(verdict: Verdict, terminal: Terminal): void {
  const { decision, riskLevel, rule, reason, parts } = verdict;
  terminal.print(printable(`${decision} (risk ${riskLevel}) by ${rule}: ${reason}`));
  if (parts.length > 0) terminal.printTable(PART_COLUMNS, parts);
}

type Part = Verdict["parts"][number];

const PART_COLUMNS = [
  { title: "PART", value: (it: Part) => it.text, shrinks: true },
  { title: "PROGRAM", value: (it: Part) => it.program || "-", shrinks: true },
  { title: "EFFECTS", value: (it: Part) => it.effects.join(",") || "-", shrinks: true },
  { title: "TOUCHES", value: touchesOf, shrinks: true },
  { title: "DECISION", value: (it: Part) => it.decision },
  { title: "RULE", value: (it: Part) => it.rule, shrinks: true },
  { title: "REASON", value: (it: Part) => it.reason, shrinks: true },
];

function touchesOf({ touches }: Part): string {
  return touches.map(({ how, path, place }) => `${how} ${path} (${place})`).join(", ") || "-";
}

function localOnly(dataDir: string | undefined): string {
  if (dataDir === undefined) throw new UsageError("The files of a hub elsewhere are looked at there; leave out --url.");
  return dataDir;
}
