/**
 * Buttons of cards: what each means stands with the card, and only in the thread that shows it, as long as it has that button. The
 * desks decide; who was first wins. Rules CHN-114..CHN-117.
 */
import type { Actor } from "../../domain/actor.ts";
import { LEASE_MINUTES } from "../../domain/channels/cards.ts";
import type { ChatAction } from "../../domain/channels/chat-action.ts";
import type { Thread } from "../../domain/conversation.ts";
import { PLAN_PROMPT_ID, planDecisionOf } from "../../domain/prompts/plan-decision.ts";
import type { ApprovalDesk } from "../approval-desk.ts";
import type { ControlDesk } from "../control-desk.ts";
import type { ConversationDesk } from "../conversation-desk.ts";
import type { PlanDesk } from "../plan-desk.ts";
import type { PromptReplies } from "../prompt-replies.ts";

export type PressParts = {
  /** What a button means that stands in this thread; undefined: nothing any more, or nothing there. */
  readonly pressed: (thread: Thread, action: string) => ChatAction | undefined;
  readonly replies: PromptReplies;
  readonly plans: PlanDesk;
  readonly approvals: ApprovalDesk;
  readonly control: ControlDesk;
  readonly threads: ConversationDesk;
};

const OVER = "No longer asked.";

export class Presses {
  readonly #parts: PressParts;

  constructor(parts: PressParts) {
    this.#parts = parts;
  }

  async press(thread: Thread, action: string, by: Actor): Promise<string> {
    const meant = this.#parts.pressed(thread, action);
    return meant === undefined ? OVER : this.#act(meant, thread, by);
  }

  async #act(action: ChatAction, thread: Thread, by: Actor): Promise<string> {
    switch (action.do) {
      case "reply":
        return action.promptId === PLAN_PROMPT_ID ? this.#plan(action, thread, by) : this.#reply(action, by);
      case "approval":
        return this.#approval(action, by);
      case "control":
        return this.#control(action, by);
    }
  }

  async #reply({ promptId, nonce, choice }: ChatAction & { do: "reply" }, by: Actor): Promise<string> {
    const reply = { by: "button", key: choice } as const;
    const { feedback } = await this.#parts.replies.reply({ promptId, nonce, reply }, by);
    return feedback.join(" ");
  }

  async #plan({ nonce: planId, choice }: ChatAction & { do: "reply" }, thread: Thread, by: Actor): Promise<string> {
    const { threads, plans } = this.#parts;
    const decision = planDecisionOf(choice);
    if (decision === undefined) return OVER;
    const { notice, sessionId } = await plans.resolve(planId, decision, by);
    if (decision !== "modify") return notice;
    if (threads.sessionOf(thread) !== sessionId)
      return `${notice} This thread doesn't talk to that session: first /use ${sessionId.slice(0, 8)}`;
    await threads.expectChat(thread, by);
    return notice;
  }

  async #approval({ requestId, verdict }: ChatAction & { do: "approval" }, by: Actor): Promise<string> {
    const { result } = await this.#parts.approvals.resolve(requestId, { status: verdict }, by);
    if (verdict === "rejected") return "Rejected.";
    return result?.["outcome"] === "not_run" ? "Approved, but it could not be run." : "Approved.";
  }

  /** Only what was asked: another agent's request has another card. */
  async #control({ sessionId, agentId, act }: ChatAction & { do: "control" }, by: Actor): Promise<string> {
    const { control } = this.#parts;
    if (control.state(sessionId).request?.agentId !== agentId) return OVER;
    if (act === "decline") {
      await control.change(sessionId, { type: "decline", by: { kind: "person", id: by.id }, agentId });
      return "Declined.";
    }
    await control.grant(sessionId, { agentId, leaseSeconds: LEASE_MINUTES * 60, attend: true }, by);
    return `${agentId} has control for ${LEASE_MINUTES} min.`;
  }
}
