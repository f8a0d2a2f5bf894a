/** The desks over terminals: what agents do in them is judged, asked about, run, waited for and read. */
import { homedir } from "node:os";
import type { MLClassifier } from "../domain/prompts/fuser.ts";
import { ActionDesk } from "../hub/action-desk.ts";
import { ActionPlans } from "../hub/action-plans.ts";
import type { ApprovalDesk } from "../hub/approval-desk.ts";
import { BlockDesk } from "../hub/block-desk.ts";
import { CommandDesk } from "../hub/command-desk.ts";
import { CircumstancesOf } from "../hub/circumstances.ts";
import { ControlChanges } from "../hub/control-changes.ts";
import type { ControlDesk } from "../hub/control-desk.ts";
import { Talk } from "../hub/chat/talk.ts";
import { ConversationDesk } from "../hub/conversation-desk.ts";
import { Conversations } from "../hub/conversations.ts";
import { FreshShells } from "../hub/fresh-shells.ts";
import type { Journal } from "../hub/journal.ts";
import { OpenContinuation } from "../hub/open-continuation.ts";
import type { OutputDesk } from "../hub/output-desk.ts";
import { OutputReader } from "../hub/output-reader.ts";
import type { Pace } from "../hub/pace.ts";
import type { Clock } from "../hub/ports.ts";
import { PromptDesk } from "../hub/prompt-desk.ts";
import { PromptReplies } from "../hub/prompt-replies.ts";
import { PlanDesk } from "../hub/plan-desk.ts";
import type { PolicyDesk } from "../hub/policy-desk.ts";
import { PlainResults } from "../hub/plain-result.ts";
import { PolicyExplainer } from "../hub/policy-explainer.ts";
import { Redactions } from "../hub/redactions.ts";
import { SecretLinks } from "../hub/secret-links.ts";
import type { SessionDesk } from "../hub/session-desk.ts";
import { Tape } from "../hub/tape.ts";
import { TerminalDesk } from "../hub/terminal-desk.ts";
import { Typist } from "../hub/typist.ts";
import { WaitDesk } from "../hub/wait-desk.ts";
import type { WorkspaceDesk } from "../hub/workspace-desk.ts";
import type { Logger } from "../lib/logger.ts";
import { Patterns } from "../lib/patterns.ts";
import { projectAround } from "./project-root.ts";
import { RenderedScreens } from "./rendered-screens.ts";

type TerminalParts = {
  readonly journal: Journal;
  readonly output: OutputDesk;
  readonly sessions: SessionDesk;
  readonly control: ControlDesk;
  readonly approvals: ApprovalDesk;
  readonly workspaces: WorkspaceDesk;
  readonly policies: PolicyDesk;
  readonly localHostId: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly newSecret: () => string;
  readonly digest: (text: string) => string;
  /** How long a question of a program can be answered before it is offered anew. */
  readonly promptTtlMs?: number | undefined;
  readonly pace?: Partial<Pace> | undefined;
  readonly ml?: MLClassifier | undefined;
  /** Where people reach the hub, once it listens. */
  readonly url: () => string;
  /** The longest that an interactive command of a project may run. */
  readonly commandSeconds: number;
};

export function terminalDesks(parts: TerminalParts) {
  const { journal, output, sessions, control, approvals, workspaces, newId } = parts;
  const { log } = journal;
  const blocks = new BlockDesk(journal);
  const reader = new OutputReader(output, new Redactions(log));
  const patterns = new Patterns();
  const screens = new RenderedScreens();
  const tape = new Tape(log, output);
  const waits = new WaitDesk({ tape, patterns, screens, keyframe: tape.keyframe.bind(tape) });
  const conversations = new Conversations(sessions);
  const openings = new OpenContinuation({ approvals, control, conversations, sessions, workspaces, newId });
  const { actions, explainer } = actionDesks({ ...parts, blocks });
  const asking = promptDesks({ ...parts, blocks, actions });
  const { prompts, replies, threads, plans, talk } = asking;
  const terminals = new TerminalDesk({
    sessions,
    control,
    actions,
    conversations,
    openings,
    replies,
    blocks,
    waits,
    reader,
    newId,
  });
  const waiting = { actions, openings, replies, blocks, waits, reader, lifetimeSeconds: parts.commandSeconds };
  const commands = new CommandDesk({ ...parts, ...waiting, results: new PlainResults(log, output) });
  const changes = new ControlChanges({ control, blocks, reader });
  const close = async (): Promise<void> => {
    replies.stop();
    threads.stop();
    prompts.stop();
    await patterns.close();
    await screens.close();
  };
  const shells = new FreshShells(sessions);
  const desks = { terminals, commands, actions, explainer, changes, ...asking, shells };
  return { desks, talking: [prompts, threads, talk, plans, commands], start: () => blocks.start(), close };
}

function promptDesks(parts: TerminalParts & { readonly blocks: BlockDesk; readonly actions: ActionDesk }) {
  const { promptTtlMs: ttlMs } = parts;
  const prompts = new PromptDesk({ ...parts, ttlMs });
  const threads = new ConversationDesk({ ...parts, prompts });
  const replies = new PromptReplies({ ...parts, prompts });
  const typist = new Typist(parts);
  return {
    prompts,
    threads,
    replies,
    talk: new Talk({ ...parts, prompts, threads, replies, typist }),
    secretLinks: new SecretLinks({ ...parts, prompts, replies }),
    plans: new PlanDesk({ ...parts, threads, typist }),
  };
}

function actionDesks(parts: TerminalParts & { readonly blocks: BlockDesk }) {
  const { sessions, control, approvals, workspaces, policies, blocks, localHostId, logger, newId, digest } = parts;
  const circumstances = new CircumstancesOf({ workspaces, blocks, localHostId, projectAround });
  const judging = { judge: policies.judge.bind(policies), policyVersion: policies.version.bind(policies) };
  const plans = new ActionPlans({ sessions, control, blocks, circumstances, ...judging });
  const actions = new ActionDesk({ plans, approvals, sessions, logger, newId, digest });
  const looking = { circumstances, home: homedir(), projectAround };
  const explainer = new PolicyExplainer({ policy: policies, sessions, workspaces, ...looking });
  return { actions, explainer };
}
