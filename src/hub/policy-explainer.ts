/** How something would be judged, for whoever asks: in the circumstances of a session, or in those that are named. POL-18. */
import type { Actor } from "../domain/actor.ts";
import type { Action, Circumstances } from "../domain/policy/action.ts";
import { atHome } from "../domain/policy/paths.ts";
import type { Verdict } from "../domain/policy/verdict.ts";
import type { Session } from "../domain/session.ts";
import type { ParsedInput } from "../protocol/operations.ts";
import { invalidRequest } from "../protocol/parse.ts";
import { fileOf } from "../protocol/policy-file.ts";
import type { PolicyState } from "../protocol/policy.ts";
import type { CircumstancesOf } from "./circumstances.ts";
import type { Applied, PolicyDesk, SourcedPolicy } from "./policy-desk.ts";
import type { PolicyProblem } from "./ports.ts";
import type { SessionDesk } from "./session-desk.ts";
import { DEFAULT_WORKSPACE, type WorkspaceDesk } from "./workspace-desk.ts";

export type ExplainerParts = {
  readonly policy: PolicyDesk;
  readonly sessions: SessionDesk;
  readonly workspaces: WorkspaceDesk;
  readonly circumstances: CircumstancesOf;
  readonly home: string;
  /** The directories in which an agent that stands there may write. */
  readonly projectAround: (cwd: string, home: string) => Promise<readonly string[]>;
};

type Asked = ParsedInput<"policy.explain">;

export class PolicyExplainer {
  readonly #parts: ExplainerParts;

  constructor(parts: ExplainerParts) {
    this.#parts = parts;
  }

  state(): PolicyState {
    const { applied, problems } = this.#parts.policy;
    return describeApplied(applied, problems);
  }

  async explain(asked: Asked, by: Actor): Promise<Verdict> {
    const action = actionOf(asked);
    return this.#parts.policy.judge(action, await this.#circumstances(asked), by);
  }

  async #circumstances(asked: Asked): Promise<Circumstances> {
    const { sessions, workspaces, home } = this.#parts;
    const session = asked.sessionId === undefined ? undefined : sessions.get(asked.sessionId);
    const live = session === undefined ? undefined : await this.#ofSession(session, asked.cwd);
    const workspaceId = asked.workspaceId ?? session?.workspaceId ?? DEFAULT_WORKSPACE;
    const { settings } = workspaces.get(workspaceId);
    const containment = asked.containment ?? session?.containment ?? settings.containment;
    if (live !== undefined) return { ...live, workspaceId, containment };
    const { cwd } = asked;
    return {
      workspaceId,
      containment,
      isGuardMissing: false,
      dialect: "bash",
      cwd,
      home: containment === "user" ? undefined : home,
      roots: await this.#rootsOf(settings.roots, cwd),
      ours: [],
    };
  }

  async #rootsOf(roots: readonly string[], cwd: string | undefined): Promise<readonly string[]> {
    const { home, projectAround } = this.#parts;
    if (roots.length > 0) return roots.map((it) => atHome(it, home));
    return cwd === undefined ? [] : projectAround(cwd, home);
  }

  /** Undefined where there is no shell any more. */
  async #ofSession(session: Session, cwd: string | undefined): Promise<Circumstances | undefined> {
    const { sessions, circumstances } = this.#parts;
    if (session.kind !== "terminal" || !sessions.isOpen(session.sessionId)) return undefined;
    const driver = await sessions.running(session.sessionId);
    return driver === undefined ? undefined : circumstances.of(session, driver, cwd);
  }
}

export function describeApplied(applied: Applied, problems: readonly PolicyProblem[]): PolicyState {
  const workspaces = [...applied.workspaces].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return {
    global: described(applied.global, "global"),
    workspaces: workspaces.map(([workspaceId, it]) => ({ workspaceId, ...described(it, "workspace") })),
    problems: problems.map((it) => ({ ...it })),
  };
}

function described({ policy, file }: SourcedPolicy, kind: "global" | "workspace") {
  return { version: policy.version, ...(file === undefined ? {} : { file }), policy: fileOf(policy, kind) };
}

function actionOf({ command, action }: Asked): Action {
  if ((command === undefined) === (action === undefined)) {
    throw invalidRequest("command", "Give either command or action");
  }
  if (action === undefined) return { kind: "exec", text: command ?? "" };
  const { kind, text, argv } = action;
  if (argv === undefined) {
    if (text === undefined) throw invalidRequest("action.text", "action.text is missing");
    return { kind, text };
  }
  if (kind !== "remote_command") throw invalidRequest("action.argv", "Only a remote_command has words");
  if (text !== undefined) throw invalidRequest("action.argv", "Give either action.text or action.argv");
  return { kind, argv };
}
