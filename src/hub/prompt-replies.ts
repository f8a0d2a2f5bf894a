/**
 * Answers to what programs ask: checked, recorded before anything is typed, carried out once and told. A person's answer assists: it
 * changes neither holder nor epoch. An agent needs control, and secrets are for persons. Rules PMT-110..PMT-119.
 */
import { type Actor, SYSTEM } from "../domain/actor.ts";
import type { JsonObject } from "../domain/event.ts";
import { type Answer, answerTo, literalAnswer, type Reply } from "../domain/prompts/answer.ts";
import { type AskedPrompt, isSecretPrompt } from "../domain/prompts/asked-prompt.ts";
import { type Feedback, feedbackMessage } from "../domain/prompts/feedback.ts";
import { refuseReply } from "../domain/prompts/pending-prompt.ts";
import { buildPlan, type ExecutionPlan } from "../domain/prompts/plan-table.ts";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { ActionDesk } from "./action-desk.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { ControlDesk } from "./control-desk.ts";
import type { Journal } from "./journal.ts";
import type { OutputDesk } from "./output-desk.ts";
import type { Pace } from "./pace.ts";
import type { Clock, DriverInput, InputTaken } from "./ports.ts";
import type { PromptDesk } from "./prompt-desk.ts";
import { RunningInjection } from "./running-injection.ts";
import type { SessionDesk } from "./session-desk.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type PromptRepliesParts = {
  readonly prompts: PromptDesk;
  readonly journal: Journal;
  readonly sessions: SessionDesk;
  readonly workspaces: WorkspaceDesk;
  readonly control: ControlDesk;
  readonly actions: ActionDesk;
  readonly blocks: BlockDesk;
  readonly output: OutputDesk;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pace?: Partial<Pace> | undefined;
};

export type PromptReplyInput = {
  readonly promptId: string;
  readonly nonce: string;
  readonly reply: Reply;
};

type Readied = {
  readonly asked: AskedPrompt;
  readonly answer: Extract<Answer, { ok: true }>;
  readonly plan: ExecutionPlan;
  readonly by: Actor;
};

/** More than an echo is all that is looked for. */
const LOOKED_AT_BYTES = 4_096;
/** Refusals of the gate after which the same question may still be answered. */
const NOT_TYPED: ReadonlySet<string> = new Set([
  "control_refused",
  "lease_expired",
  "stale_epoch",
  "stopped",
  "paused",
  "session_paused",
  "policy_denied",
  "approval_pending",
  "limit_reached",
  "host_offline",
]);

/** And those after which it doesn't stand any more. */
const GONE: ReadonlySet<string> = new Set(["prompt_gone", "shell_idle", "invalid_transition"]);

export class PromptReplies {
  readonly #parts: PromptRepliesParts;
  readonly #ends = new AbortController();

  constructor(parts: PromptRepliesParts) {
    this.#parts = parts;
  }

  stop(): void {
    this.#ends.abort();
  }

  /** Resolves when it is typed, with the feedback so far; what comes of it is told as events. */
  async reply({ promptId, nonce, reply }: PromptReplyInput, by: Actor): Promise<AskedPrompt> {
    const { prompts } = this.#parts;
    const asked = prompts.get(promptId);
    this.#refuseAgent(asked, by);
    this.#refuse(asked, nonce);
    const readied = { asked, answer: answerOf(asked, reply), plan: planOf(asked), by };
    await this.#refuseHalves(readied);
    await this.#parts.journal.record(asked.sessionId, "process", () => {
      this.#refuse(prompts.get(promptId), nonce);
      const payload = { promptId, status: "answered", by: by.id };
      return { type: "prompt_decision", payload, source: by };
    });
    const feedback = await this.#carryOut(readied);
    return { ...prompts.get(promptId), feedback };
  }

  /** Throws for an offer that is over: answered, gone, or made anew since. */
  refuseLate(promptId: string, nonce: string): void {
    this.#refuse(this.#parts.prompts.get(promptId), nonce);
  }

  /** What would be asked back instead of typing it. */
  unfit(promptId: string, reply: Reply): string | undefined {
    const answer = answerFor(this.#parts.prompts.get(promptId), reply);
    return answer.ok ? undefined : answer.ask;
  }

  /**
   * A secret that a program asks for is typed by a person, or not at all, unless the workspace says otherwise: then it is
   * kept from all that is told of the input.
   */
  admit(sessionId: string, input: DriverInput): DriverInput {
    if (input.by.kind !== "agent" || isLeaving(input)) return input;
    const { blocks, prompts, sessions, workspaces } = this.#parts;
    const question = blocks.question(sessionId);
    if (question?.kind !== "password" && !isSecretPrompt(prompts.standing(sessionId))) return input;
    const { workspaceId } = sessions.get(sessionId);
    if (workspaces.get(workspaceId).settings.agent_may_answer_passwords) return { ...input, secret: true };
    throw new AppError("secret_for_person", { prompt_id: question?.promptId });
  }

  #refuseAgent(asked: AskedPrompt, by: Actor): void {
    if (by.kind !== "agent") return;
    this.#parts.control.refuseUnlessDriving(asked.sessionId, by);
    const { promptId, typing } = asked;
    // What only a model named, or two disagree about, is for a person.
    if (typing !== "by_class") throw new AppError("secret_for_person", { prompt_id: promptId });
    if (asked.status === "pending") this.admit(asked.sessionId, { by, bytes: Buffer.from("\r"), class: "drive" });
  }

  /** Before anything is recorded or typed: the same look at the end would leave a text without its Enter. */
  async #refuseHalves({ asked, answer, plan, by }: Readied): Promise<void> {
    if (by.kind !== "agent" || answer.writes.length === 1) return;
    const session = this.#parts.sessions.get(asked.sessionId);
    for (const write of answer.writes) {
      const input = inputOf({ write, ifPrompt: asked.promptId, by, secret: plan.suppressValue });
      await this.#parts.actions.part({ session, input });
    }
  }

  #refuse(asked: AskedPrompt, nonce: string): void {
    const { promptId, sessionId, status, answeredBy } = asked;
    const told = { prompt_id: promptId, status, ...(answeredBy !== undefined && { answered_by: answeredBy }) };
    if (status === "gone") throw new AppError("prompt_gone", told);
    const expiresAt = Date.parse(asked.expiresAt);
    const pending = { promptId, sessionId, nonce: asked.nonce, expiresAt, answered: status === "answered" };
    const given = { promptId, sessionId, nonce, at: this.#parts.clock.now(), allowed: true };
    const reason = refuseReply(pending, given);
    if (reason !== undefined) throw new AppError("prompt_gone", { ...told, reason, detail: REFUSED[reason] });
  }

  async #carryOut(readied: Readied): Promise<readonly string[]> {
    const { asked, by } = readied;
    const { prompts } = this.#parts;
    const { promptId, sessionId } = asked;
    const feedback: string[] = [];
    const injection = this.#injection(readied, feedback);
    const typed = Promise.withResolvers<void>();
    const whole = prompts.during(sessionId, injection, async () => {
      try {
        await injection.begin();
      } catch (error) {
        await this.#takeBack(asked, by, error);
        typed.reject(error);
        return;
      }
      typed.resolve();
      const outcome = await injection.run(this.#ends.signal);
      if (this.#ends.signal.aborted) return;
      await this.#decide(asked, { outcome, feedback });
    });
    whole.catch((error: unknown) => {
      typed.reject(error);
      this.#parts.logger.error("an answer could not be carried out", { session: sessionId, prompt: promptId, error });
    });
    await typed.promise;
    return [...feedback];
  }

  #injection({ asked, answer, plan, by }: Readied, feedback: string[]): RunningInjection {
    const { promptId, sessionId, kind, entry } = asked;
    const { writes, repeatable, shown } = answer;
    const secret = plan.suppressValue;
    const tell = async (about: Feedback): Promise<void> => {
      const text = feedbackMessage(about, plan, shown);
      if (text === "") return;
      feedback.push(text);
      await this.#say(asked, "feedback", text);
      if (secret && about === "sent") await this.#say(asked, "notice", "secret supplied");
    };
    const order = { plan: { ...plan, ...this.#parts.pace?.answer }, writes, repeatable };
    const blind = kind === "opaque";
    return new RunningInjection(
      { promptId, order, entry, blind, seen: this.#parts.prompts.seen(promptId) },
      {
        now: () => this.#parts.clock.now(),
        type: (write, instance) =>
          this.#type({ sessionId, isPart: writes.length > 1 }, inputOf({ write, ifPrompt: instance, by, secret })),
        tell,
        output: (cursor) => this.#outputOf(sessionId, cursor),
      },
    );
  }

  async #type(
    { sessionId, isPart }: { readonly sessionId: string; readonly isPart: boolean },
    input: DriverInput,
  ): Promise<InputTaken> {
    const { actions, blocks, sessions } = this.#parts;
    const typed = async (): Promise<InputTaken> => {
      if (input.by.kind !== "agent") return sessions.input(sessionId, input);
      const wish = { session: sessions.get(sessionId), input };
      return isPart ? (await actions.part(wish))() : actions.type(wish);
    };
    const taken = await typed();
    blocks.noteInput(sessionId, input.by.id, taken.position);
    return taken;
  }

  /** Nothing was typed: somebody else may answer it, if it still stands. */
  async #takeBack(asked: AskedPrompt, by: Actor, error: unknown): Promise<void> {
    const code = error instanceof AppError ? error.code : "internal";
    if (NOT_TYPED.has(code)) await this.#decide(asked, { status: "pending" });
    else if (GONE.has(code)) await this.#decide(asked, { status: "pending" }, { status: "gone" });
    else await this.#decide(asked, { outcome: "unknown" });
    this.#parts.logger.info("an answer did not go in", { session: asked.sessionId, by, code });
  }

  async #decide({ sessionId, promptId }: AskedPrompt, ...told: readonly JsonObject[]): Promise<void> {
    const events = told.map((it) => ({
      type: "prompt_decision" as const,
      payload: { promptId, ...it },
      source: SYSTEM,
    }));
    await this.#parts.journal.note(sessionId, "process", events);
  }

  async #say({ sessionId, promptId }: AskedPrompt, kind: "feedback" | "notice", text: string): Promise<void> {
    const payload = { kind, promptId, text };
    await this.#parts.journal.note(sessionId, "process", [{ type: "chat", payload, source: SYSTEM }]);
  }

  async #outputOf(sessionId: string, cursor: number): Promise<string> {
    return Buffer.from(await this.#parts.output.range(sessionId, cursor, LOOKED_AT_BYTES)).toString();
  }
}

const REFUSED = {
  not_allowed: "You may not answer it",
  other_session: "It belongs to another session",
  unknown_prompt: "It is another question",
  stale_nonce: "It was offered anew since: read it again",
  answered: "Somebody answered first",
  expired: "The time to answer it is over: read it again",
} as const;

/** Interrupting and ending the input answer nothing. */
function isLeaving({ bytes, keys }: Pick<DriverInput, "bytes" | "keys">): boolean {
  if (keys !== undefined) return keys.length > 0 && keys.every((it) => it === "C-c" || it === "C-d");
  return bytes.length > 0 && bytes.every((it) => it === 3 || it === 4);
}

type Written = {
  readonly write: string;
  readonly ifPrompt: string;
  readonly by: Actor;
  readonly secret: boolean;
};

function inputOf({ write, ifPrompt, by, secret }: Written): DriverInput {
  const kind = by.kind === "agent" ? "drive" : "assist";
  return { bytes: Buffer.from(write), by, class: kind, ifPrompt, notAtShell: true, secret };
}

function planOf(asked: AskedPrompt): ExecutionPlan {
  if (isSecretPrompt(asked)) return buildPlan("PASSWORD_INPUT");
  return buildPlan(asked.typing === "by_class" ? asked.class : asked.shownAs);
}

/** Throws what to ask back. */
function answerOf(asked: AskedPrompt, reply: Reply): Readied["answer"] {
  const answer = answerFor(asked, reply);
  if (answer.ok) return answer;
  throw new AppError("invalid_request", { prompt_id: asked.promptId, detail: answer.ask });
}

function answerFor(asked: AskedPrompt, reply: Reply): Answer {
  return asked.typing === "by_class" ? answerTo(asked, reply) : literally(asked, reply);
}

function literally(asked: AskedPrompt, reply: Reply): Answer {
  if (asked.typing === "none") return answerTo({ ...asked, class: "RAW_TERMINAL" }, reply);
  return reply.by === "text" ? literalAnswer(asked, reply.text) : answerTo({ ...asked, class: "FREE_TEXT" }, reply);
}
