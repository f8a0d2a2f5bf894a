/**
 * One message to every thread that it concerns: those that are bound to the session, and for what somebody has to decide also the home
 * of each channel where nobody listens to it. It knows the bindings as the log tells them, so that what is announced late reaches
 * who listened then. Rules CHN-17, CHN-18.
 */
import type { Approval } from "../../domain/approval.ts";
import {
  approvalCard,
  controlCard,
  messageCard,
  noticeCard,
  outputCard,
  planCard,
  type Sketch,
} from "../../domain/channels/cards.ts";
import { promptCard } from "../../domain/channels/prompt-card.ts";
import {
  applyConversation,
  bindingsOf,
  type ConversationEvent,
  type Conversations,
  isLive,
  NO_CONVERSATIONS,
  type Thread,
} from "../../domain/conversation.ts";
import { HUB_STREAM, type StoredEvent } from "../../domain/event.ts";
import type { AskedPrompt } from "../../domain/prompts/asked-prompt.ts";
import type { NewRow } from "./outbox-port.ts";

export type Reach = {
  /** Where a channel's people look when nothing of theirs is bound. */
  readonly homes: () => readonly Thread[];
  /** Whether there is such a channel, up or not. */
  readonly knows: (channel: string) => boolean;
};

/** What a message is about, and when. */
export type Concern = { readonly sessionId: string; readonly title: string; readonly at: number };

export const ABOUT = {
  prompt: (promptId: string) => `prompt:${promptId}`,
  plan: (planId: string) => `plan:${planId}`,
  approval: (requestId: string) => `approval:${requestId}`,
  control: (sessionId: string) => `control:${sessionId}`,
} as const;

export class Multi {
  readonly #reach: Reach;
  #all: Conversations = NO_CONVERSATIONS;

  constructor(reach: Reach) {
    this.#reach = reach;
  }

  fold({ payload }: StoredEvent): void {
    this.#all = applyConversation(this.#all, payload as unknown as ConversationEvent);
  }

  bound(sessionId: string, at: number): readonly Thread[] {
    return bindingsOf(this.#all, sessionId)
      .filter((it) => isLive(it, at) && this.#reach.knows(it.channel))
      .map(({ channel, threadId }) => ({ channel, threadId }));
  }

  /** `link`: where a secret can be typed. */
  sendPrompt(concern: Concern, asked: AskedPrompt, link?: string): readonly NewRow[] {
    const sketch = promptCard(concern.title, asked, link);
    return rows(this.#deciding(concern), concern, sketch, ABOUT.prompt(asked.promptId));
  }

  sendPlan(concern: Concern, plan: Parameters<typeof planCard>[1]): readonly NewRow[] {
    return rows(this.#deciding(concern), concern, planCard(concern.title, plan), ABOUT.plan(plan.planId));
  }

  sendApproval(concern: Concern, approval: Approval): readonly NewRow[] {
    const title = concern.sessionId === HUB_STREAM ? undefined : concern.title;
    return rows(this.#deciding(concern), concern, approvalCard(title, approval), ABOUT.approval(approval.requestId));
  }

  sendControl(concern: Concern, request: { readonly agentId: string; readonly reason: string }): readonly NewRow[] {
    const sketch = controlCard(concern.title, { ...request, sessionId: concern.sessionId });
    return rows(this.#deciding(concern), concern, sketch, ABOUT.control(concern.sessionId));
  }

  sendOutput(concern: Concern, text: string, threads: readonly Thread[]): readonly NewRow[] {
    return rows(threads, concern, outputCard(concern.title, text));
  }

  sendAgentMessage(concern: Concern, text: string, threads: readonly Thread[]): readonly NewRow[] {
    return rows(threads, concern, messageCard(concern.title, text));
  }

  /** For one thread alone, bound or not. */
  notifyThread(concern: Concern, text: string, place: Thread): readonly NewRow[] {
    return this.#reach.knows(place.channel) ? rows([place], concern, noticeCard(concern.title, text)) : [];
  }

  /** `deciding`: for all who are to decide, also where no thread is bound. */
  notify(concern: Concern, text: string, { deciding }: { readonly deciding: boolean }): readonly NewRow[] {
    const threads = deciding ? this.#deciding(concern) : this.bound(concern.sessionId, concern.at);
    return rows(threads, concern, noticeCard(concern.title, text));
  }

  /** Those that are bound, and homes where none is. */
  #deciding({ sessionId, at }: Concern): readonly Thread[] {
    const bound = sessionId === HUB_STREAM ? [] : this.bound(sessionId, at);
    const channels = new Set(bound.map(({ channel }) => channel));
    return [...bound, ...this.#reach.homes().filter(({ channel }) => !channels.has(channel))];
  }
}

function rows(
  threads: readonly Thread[],
  { sessionId }: Concern,
  { card, actions }: Sketch,
  about?: string,
): readonly NewRow[] {
  const of = sessionId === HUB_STREAM ? {} : { sessionId };
  return threads.map((thread) => ({ ...thread, ...(about !== undefined && { about }), ...of, card, actions }));
}
