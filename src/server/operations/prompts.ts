/** Questions of programs (seed 003): input → one call of a desk → the question as it then is. */
import type { AskedPrompt as Asked, PromptStatus } from "../../domain/prompts/asked-prompt.ts";
import { buildPlan } from "../../domain/prompts/plan-table.ts";
import type { BoundThread as Bound, ConversationDesk } from "../../hub/conversation-desk.ts";
import type { PlanDesk } from "../../hub/plan-desk.ts";
import type { PromptDesk } from "../../hub/prompt-desk.ts";
import type { PromptReplies } from "../../hub/prompt-replies.ts";
import type { SecretLinks } from "../../hub/secret-links.ts";
import type { SessionDesk } from "../../hub/session-desk.ts";
import type { BoundThread } from "../../protocol/conversations.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";
import type { Handlers } from "../dispatcher.ts";

export type PromptDesks = {
  readonly sessions: SessionDesk;
  readonly prompts: PromptDesk;
  readonly replies: PromptReplies;
  readonly threads: ConversationDesk;
  readonly plans: PlanDesk;
  readonly secretLinks: SecretLinks;
};

/** As everybody is told. */
export function toldPrompts({ sessions, prompts }: Pick<PromptDesks, "sessions" | "prompts">, status?: PromptStatus) {
  return prompts.list(status).map((it) => onWire(it, sessions.find(it.sessionId)?.conversationId));
}

export function promptHandlers({ sessions, prompts, replies, secretLinks }: PromptDesks) {
  const told = (asked: Asked): AskedPrompt => onWire(asked, sessions.find(asked.sessionId)?.conversationId);
  return {
    "prompt.list": ({ status, session_id: sessionId, limit }) =>
      toldPrompts({ sessions, prompts }, status)
        .filter((it) => sessionId === undefined || it.session_id === sessionId)
        .slice(-limit),
    "prompt.get": ({ prompt_id: promptId }) => told(prompts.get(promptId)),
    "prompt.reply": async ({ prompt_id: promptId, nonce, value, choice, wait_ms: waitMs }, { caller, signal }) => {
      const reply =
        choice === undefined ? ({ by: "text", text: value ?? "" } as const) : ({ by: "button", key: choice } as const);
      await replies.reply({ promptId, nonce, reply }, caller.actor);
      return told(await prompts.settled(promptId, AbortSignal.any([signal, AbortSignal.timeout(waitMs)])));
    },
    "prompt.secret_link": ({ prompt_id: promptId, nonce }, { caller }) => {
      const offer = { ...prompts.get(promptId), nonce };
      return { url: secretLinks.linkFor(offer, caller.actor, caller.revoked), expires_at: offer.expiresAt };
    },
  } satisfies Partial<Handlers>;
}

export function conversationHandlers({ threads, plans }: PromptDesks) {
  const told = ({ channel, threadId, sessionId, state }: Bound): BoundThread => ({
    channel,
    thread_id: threadId,
    session_id: sessionId,
    state,
  });
  return {
    "plan.resolve": async ({ plan_id: planId, decision }, { caller }) => {
      const { sessionId, title, steps, notice } = await plans.resolve(planId, decision, caller.actor);
      return { plan_id: planId, session_id: sessionId, title, steps: [...steps], decision, notice };
    },
    "conversation.bind": async ({ channel, thread_id: threadId, session_id: sessionId }, { caller }) =>
      told(await threads.bind({ channel, threadId }, sessionId, caller.actor)),
    "conversation.unbind": async ({ session_id: sessionId }, { caller }) => ({
      ok: true as const,
      unbound: await threads.unbind(sessionId, caller.actor),
    }),
    "conversation.resolve": ({ channel, thread_id: threadId }) => told(threads.resolve({ channel, threadId })),
  } satisfies Partial<Handlers>;
}

function onWire(asked: Asked, conversationId: string | undefined): AskedPrompt {
  const { promptId, sessionId, status, nonce, shownAs, askedAt, expiresAt, warning, answeredBy, outcome } = asked;
  const { confidence, question, entry, multiple, kind, program, source, disagreement, escalate } = asked;
  return {
    prompt_id: promptId,
    session_id: sessionId,
    ...(conversationId !== undefined && { conversation_id: conversationId }),
    status,
    nonce,
    class: shownAs,
    confidence,
    question,
    choices: asked.choices.map((it) => ({ ...it })),
    ...(asked.default !== undefined && { default: asked.default }),
    accepts: [...asked.accepts],
    entry,
    ...(multiple !== undefined && { multiple }),
    buttons: buildPlan(shownAs).buttonLayout,
    kind,
    program,
    ...(warning !== undefined && { warning }),
    source,
    disagreement,
    escalate,
    asked_at: askedAt,
    expires_at: expiresAt,
    ...(answeredBy !== undefined && { answered_by: answeredBy }),
    ...(outcome !== undefined && { outcome }),
    feedback: [...asked.feedback],
  };
}
