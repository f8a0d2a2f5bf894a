/**
 * What a thread says, carried out: an answer goes to the question that stands, anything else is typed as that person's own input,
 * which takes control, or waits until the program has settled. A secret is stored nowhere: not queued, not told, not chat.
 * Rules CNV-22..CNV-28 in docs/spec/conversations.md.
 */
import type { Actor } from "../../domain/actor.ts";
import type { ConversationEvent, Thread } from "../../domain/conversation.ts";
import { type AskedPrompt, isSecretPrompt } from "../../domain/prompts/asked-prompt.ts";
import { unfitForLine } from "../../domain/prompts/answer.ts";
import { feedbackMessage } from "../../domain/prompts/feedback.ts";
import { buildPlan } from "../../domain/prompts/plan-table.ts";
import type { Logger } from "../../lib/logger.ts";
import { Turns } from "../../lib/turns.ts";
import { type BlockDesk, takesAnyText } from "../block-desk.ts";
import type { ConversationDesk } from "../conversation-desk.ts";
import type { Journal } from "../journal.ts";
import type { Clock } from "../ports.ts";
import type { PromptDesk } from "../prompt-desk.ts";
import type { PromptReplies } from "../prompt-replies.ts";
import type { SessionDesk } from "../session-desk.ts";
import type { Typist } from "../typist.ts";
import { Timeliness, UNOFFERED } from "./timeliness.ts";
import { OURS, wordsOf } from "./words.ts";

export type TalkParts = {
  readonly journal: Journal;
  readonly threads: ConversationDesk;
  readonly sessions: SessionDesk;
  readonly prompts: PromptDesk;
  readonly replies: PromptReplies;
  readonly blocks: BlockDesk;
  readonly typist: Typist;
  readonly clock: Clock;
  readonly logger: Logger;
};

/** `isSecret`: what was said may be one, and is to vanish from the chat. No notice: the feedback is told to the thread anyway. */
export type Said = {
  readonly notice: string | undefined;
  readonly isSecret: boolean;
  /** The notice repeats what was said, which nobody keeps; this may stand for it. */
  readonly kept?: string | undefined;
};

/** What was typed as chat. */
const SENT = "Sent.";

/** Who and what a thread knows. */
export type Around = {
  readonly nameOf: (actorId: string) => string;
  /** Whether a question's card stands in a thread. */
  readonly shows: (thread: Thread, promptId: string) => boolean;
};

/** `writtenAt`: at the earliest, by the platform's clock. */
export type Words = { readonly text: string; readonly writtenAt?: number | undefined };

export class Talk {
  readonly #parts: TalkParts;
  /** In order, also with what is delivered from the queue. */
  readonly #turns = new Turns();
  readonly #timeliness: Timeliness;

  constructor(parts: TalkParts) {
    this.#parts = parts;
    this.#timeliness = new Timeliness(parts);
  }

  async start(): Promise<void> {
    const { threads, logger } = this.#parts;
    await this.#timeliness.start();
    threads.onSettled((sessionId) => {
      const delivered = this.#turns.run(sessionId, () => this.#deliver(sessionId));
      delivered.catch((error: unknown) => {
        logger.warn("a queued message could not be delivered", { session: sessionId, error });
      });
    });
  }

  /** Throws what the desks refuse, unless it may be a secret: then that is told with it. */
  async say(thread: Thread, words: Words, by: Actor, { nameOf, shows }: Around): Promise<Said> {
    const { text, writtenAt } = words;
    const bound = this.#parts.threads.sessionOf(thread);
    if (bound === undefined && this.#showsSecret(thread, shows)) {
      return { notice: UNBOUND, isSecret: true };
    }
    const sessionId = bound ?? "";
    return this.#turns.run(sessionId, async () => {
      // Before the question is known, what answers it would be taken for chat.
      if (bound !== undefined) await this.#parts.prompts.looked(sessionId);
      const asked = this.#pending(sessionId);
      const isSecret = isSecretPrompt(asked);
      const isChat = this.#parts.threads.expectsChat(thread);
      const refused = this.#timeliness.refusal(asked, { sessionId, writtenAt, by, nameOf, isChat });
      if (refused !== undefined) return refused;
      // A program hides what is typed before it prints its question, and is seen to wait only after that.
      const mayAsk = bound !== undefined && asked === undefined;
      if (mayAsk && (await this.#hidesLines(sessionId))) return { notice: UNOFFERED, isSecret: true };
      try {
        const takesText = this.#takesText(sessionId);
        return { ...(await this.#say({ ...thread, text, isSecret, takesText }, asked, by)), isSecret };
      } catch (error) {
        if (!isSecret) throw error;
        const notice = wordsOf(error, nameOf);
        if (notice === undefined) this.#parts.logger.error("a secret from a chat could not be given", { error });
        return { notice: notice ?? OURS, isSecret };
      }
    });
  }

  /** Of what nobody deals with: it must not stay in the chat either. */
  async maybeSecret(thread: Thread, writtenAt: number | undefined, shows: Around["shows"]): Promise<boolean> {
    const { threads, prompts, blocks } = this.#parts;
    const sessionId = threads.sessionOf(thread);
    if (sessionId === undefined) return this.#showsSecret(thread, shows);
    await prompts.looked(sessionId);
    const asks = isSecretPrompt(this.#pending(sessionId)) || blocks.question(sessionId)?.kind === "password";
    return asks || this.#timeliness.wasForSecret(sessionId, writtenAt);
  }

  /** Elsewhere nobody means it: whatever people write to each other would vanish while any program asks. */
  #showsSecret(thread: Thread, shows: Around["shows"]): boolean {
    const pending = this.#parts.prompts.list("pending");
    return pending.some((it) => isSecretPrompt(it) && shows(thread, it.promptId));
  }

  async #say(
    said: Thread & { readonly text: string; readonly isSecret: boolean; readonly takesText: boolean },
    asked: AskedPrompt | undefined,
    by: Actor,
  ): Promise<Pick<Said, "notice" | "kept">> {
    const { threads, replies } = this.#parts;
    const unfit = said.isSecret ? undefined : unfitForLine(said.text);
    if (unfit !== undefined) return { notice: `${unfit} Nothing was sent.` };
    const decided = await threads.say(said, by);
    if (!decided.ok || decided.notice !== undefined) return { notice: decided.notice ?? "" };
    const way = decided.events.find(isWay);
    if (way?.type === "conversation.chatted") {
      await this.#parts.typist.line(way.sessionId, said.text, by);
      return { notice: feedbackMessage("sent", buildPlan("CHAT_INPUT"), said.text), kept: SENT };
    }
    const { promptId, nonce } = asked ?? { promptId: way?.promptId ?? "", nonce: "" };
    await replies.reply({ promptId, nonce, reply: { by: "text", text: said.text } }, by);
    return { notice: undefined };
  }

  async #hidesLines(sessionId: string): Promise<boolean> {
    const { sessions, logger } = this.#parts;
    try {
      const driver = await sessions.running(sessionId);
      return (await driver?.status(sessionId))?.foreground?.hidesLines === true;
    } catch (error) {
      logger.warn("whether a program hides what is typed can't be known", { session: sessionId, error });
      return false;
    }
  }

  #takesText(sessionId: string): boolean {
    return takesAnyText(this.#parts.blocks.question(sessionId)?.kind);
  }

  #pending(sessionId: string): AskedPrompt | undefined {
    const asked = this.#parts.prompts.standing(sessionId);
    return asked?.status === "pending" ? asked : undefined;
  }

  async #deliver(sessionId: string): Promise<void> {
    const { threads, prompts, blocks } = this.#parts;
    await prompts.looked(sessionId);
    const asked = this.#pending(sessionId);
    const isFree = asked === undefined || (threads.nextIsChat(sessionId) && this.#takesText(sessionId));
    if (!isFree || isSecretPrompt(asked) || blocks.question(sessionId)?.kind === "password") return;
    if (await this.#hidesLines(sessionId)) return;
    const message = await threads.takeNext(sessionId);
    if (message === undefined) return;
    try {
      await this.#parts.typist.line(sessionId, message.text, { kind: "person", id: message.by });
      await threads.tell(message, sessionId, "A queued message was sent.");
    } catch (error) {
      const why = wordsOf(error, (id) => id);
      await threads.tell(message, sessionId, `A queued message was not sent. ${why ?? "It is a fault of ours."}`);
      if (why === undefined) throw error;
    } finally {
      await threads.delivered(sessionId);
    }
  }
}

/** Its card may stand in this thread: what answers it must not stay there. */
const UNBOUND =
  "This thread is not bound to a session. Nothing was sent. If it is the secret that is asked for: /use its session, then send it again.";
type Way = Extract<ConversationEvent, { type: "conversation.chatted" | "conversation.replied" }>;

function isWay(event: ConversationEvent): event is Way {
  return event.type === "conversation.chatted" || event.type === "conversation.replied";
}
