/**
 * What a thread can be told besides talking to its session. Only names that stand here are commands: everything else that begins
 * with a slash is for the program, and so is `//stop`. Rules CHN-120..CHN-127.
 */
import type { Actor } from "../../domain/actor.ts";
import { oneLine } from "../../domain/channels/cards.ts";
import { type Thread, threadKey } from "../../domain/conversation.ts";
import type { Session } from "../../domain/session.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ApprovalDesk } from "../approval-desk.ts";
import type { ControlDesk } from "../control-desk.ts";
import type { ConversationDesk } from "../conversation-desk.ts";
import type { PromptDesk } from "../prompt-desk.ts";
import type { SessionDesk } from "../session-desk.ts";

export type CommandParts = {
  readonly sessions: SessionDesk;
  readonly threads: ConversationDesk;
  readonly prompts: PromptDesk;
  readonly control: ControlDesk;
  readonly approvals: ApprovalDesk;
};

const HELP = {
  sessions: "list the sessions",
  use: "talk to one of them here: /use 2, or the beginning of its id",
  leave: "talk to none here",
  status: "how the session of this thread stands",
  stop: "stop the agent and all that it started, at once",
  interrupt: "have the agent pause at its next safe point",
  take: "take control from the agent",
  grant: "lend control to the agent: /grant 10 (minutes)",
  approvals: "what waits for a decision",
  help: "this list",
  start: "",
} as const;

export type CommandName = keyof typeof HELP;
export type ChatCommand = { readonly name: CommandName; readonly argument: string };

/** These take power away: they wait for nothing. */
export const AT_ONCE: ReadonlySet<CommandName> = new Set(["stop", "interrupt", "take"]);

const GRANT_MINUTES = 10;
const GRANT_MINUTES_MAX = 60;
const LISTED_MAX = 20;
/** Of threads: a platform has no end of them. */
const LISTS_KEPT = 1_000;
const IN_LINE_MAX = 300;

export function commandOf(text: string): ChatCommand | undefined {
  const [, word = "", argument = ""] = /^[/!]([a-z]+)(?:@\w+)?(?:\s+(.*))?$/isu.exec(text.trim()) ?? [];
  const name = word.toLowerCase();
  return isCommandName(name) ? { name, argument: argument.trim() } : undefined;
}

/** `//stop` says `/stop` to the program. */
export function saidBy(text: string): string {
  return text.startsWith("//") && commandOf(text.slice(1)) !== undefined ? text.slice(1) : text;
}

export class Commands {
  readonly #parts: CommandParts;
  /** What a number means in a thread: what was listed there last, not what it would be now. */
  readonly #listed = new Map<string, readonly string[]>();

  constructor(parts: CommandParts) {
    this.#parts = parts;
  }

  async run({ name, argument }: ChatCommand, thread: Thread, by: Actor): Promise<string> {
    switch (name) {
      case "sessions":
        return this.#list(thread);
      case "use":
        return this.#use(argument, thread, by);
      case "leave":
        await this.#parts.threads.leave(thread, by);
        return "This thread talks to no session now.";
      case "status":
        return this.#status(this.#session(thread));
      case "stop":
      case "interrupt":
      case "take":
        return this.#takePower(name, this.#session(thread), by);
      case "grant":
        return this.#grant(argument, this.#session(thread), by);
      case "approvals":
        return this.#approvals();
      case "help":
        return helpText();
      case "start":
        return `You are on the list already.\n${helpText()}`;
    }
  }

  #list(thread: Thread): string {
    const open = this.#open().slice(-LISTED_MAX);
    if (open.length === 0) return "No sessions.";
    const ids = open.map((it) => it.sessionId);
    this.#listed.delete(threadKey(thread));
    this.#listed.set(threadKey(thread), ids);
    const [oldest = ""] = this.#listed.keys();
    if (this.#listed.size > LISTS_KEPT) this.#listed.delete(oldest);
    const here = this.#parts.threads.sessionOf(thread);
    const lines = open.map(
      (it, index) => `${index + 1}. ${lineOf(it)}${it.sessionId === here ? " ← this thread" : ""}`,
    );
    return [...lines, "Talk to one here: /use 1"].join("\n");
  }

  async #use(which: string, thread: Thread, by: Actor): Promise<string> {
    const sessionId = this.#chosen(which, thread);
    const { state } = await this.#parts.threads.bind(thread, sessionId, by);
    return `This thread talks to ${lineOf(this.#parts.sessions.get(sessionId))} (${STATES[state]}).`;
  }

  #chosen(which: string, thread: Thread): string {
    const listed = this.#listed.get(threadKey(thread)) ?? [];
    if (/^\d{1,3}$/u.test(which)) {
      const sessionId = listed[Number(which) - 1];
      if (sessionId !== undefined) return sessionId;
      throw new AppError("invalid_request", { detail: "No such number. See /sessions" });
    }
    const open = this.#open();
    const named = open.filter((it) => which !== "" && (it.conversationId === which || it.title === which));
    const found = named.length > 0 ? named : open.filter((it) => which.length >= 4 && it.sessionId.startsWith(which));
    const [only] = found;
    if (only !== undefined && found.length === 1) return only.sessionId;
    throw new AppError("invalid_request", {
      detail: found.length > 1 ? "That could be several. See /sessions" : "No such session. See /sessions",
    });
  }

  #status(session: Session): string {
    const { threads, prompts, control } = this.#parts;
    const { sessionId } = session;
    const { mode, holder } = control.state(sessionId);
    const asked = prompts.standing(sessionId);
    const state = threads.stateOf(sessionId);
    const waiting = threads.waiting(sessionId);
    return [
      lineOf(session),
      `The program ${STATES[state]}.`,
      mode === "AGENT"
        ? `The agent ${holder?.id ?? "that acts first"} has control.`
        : `Control: ${holder?.id ?? "nobody"}.`,
      ...(asked?.status === "pending"
        ? [`${inLine(asked.program) || "A program"} asks: ${inLine(asked.question)}`]
        : []),
      ...(waiting > 0 ? [`${waiting} of your messages wait.`] : []),
    ].join("\n");
  }

  async #takePower(name: "stop" | "interrupt" | "take", { sessionId }: Session, by: Actor): Promise<string> {
    const { control } = this.#parts;
    if (name === "take") {
      await control.change(sessionId, { type: "take", by: { kind: "person", id: by.id } });
      return "You have control. Programs run on; agents are refused until you grant it.";
    }
    const intent = name === "stop" ? "STOP_NOW" : "SAFE_INTERRUPT";
    await control.intent(sessionId, { intent, scope: "agent" }, by);
    return name === "stop"
      ? "The agent is stopped, with all that it started. What people started runs on."
      : "The agent will pause at its next safe point.";
  }

  async #grant(argument: string, { sessionId }: Session, by: Actor): Promise<string> {
    const minutes = argument === "" ? GRANT_MINUTES : Number(argument);
    if (!(minutes > 0 && minutes <= GRANT_MINUTES_MAX)) {
      throw new AppError("invalid_request", {
        detail: `Say for how many minutes, at most ${GRANT_MINUTES_MAX}: /grant 10`,
      });
    }
    const terms = { leaseSeconds: minutes * 60, attend: true };
    const { state } = await this.#parts.control.grant(sessionId, terms, by);
    return `${state.holder?.id ?? "The agent that acts first"} has control for ${minutes} min. Take it back: /take`;
  }

  #approvals(): string {
    const pending = this.#parts.approvals.list("pending");
    if (pending.length === 0) return "Nothing waits for a decision.";
    const lines = pending.map((it) => `• ${inLine(it.action)} (${it.riskLevel} risk), asked by ${it.requestedBy}`);
    return [...lines.slice(-LISTED_MAX), "Decide with the buttons of their messages."].join("\n");
  }

  #open(): readonly Session[] {
    return this.#parts.sessions.list().filter((it) => it.status !== "closed");
  }

  #session(thread: Thread): Session {
    const sessionId = this.#parts.threads.sessionOf(thread);
    if (sessionId !== undefined) return this.#parts.sessions.get(sessionId);
    throw new AppError("invalid_request", { detail: "This thread talks to no session. See /sessions" });
  }
}

const STATES = {
  IDLE: "has not begun",
  RUNNING: "runs",
  STREAMING: "is printing",
  AWAITING_INPUT: "waits for an answer",
  STOPPED: "has ended",
} as const;

function helpText(): string {
  const lines = Object.entries(HELP).filter(([, help]) => help !== "");
  return [
    "What you write goes to the session of this thread: as the answer, if it asks something.",
    ...lines.map(([name, help]) => `/${name}: ${help}`),
    "Anything else that begins with a slash is for the program; //stop says /stop to it.",
  ].join("\n");
}

function lineOf({ sessionId, title, kind, conversationId, status }: Session): string {
  const name = title === "" ? (conversationId ?? kind) : title;
  return `${name} (${sessionId.slice(0, 8)}${status === "active" ? "" : `, ${status}`})`;
}

/** Of programs and agents: it must not look like lines of ours. */
function inLine(text: string): string {
  return oneLine(text, IN_LINE_MAX);
}

function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(HELP, name);
}
