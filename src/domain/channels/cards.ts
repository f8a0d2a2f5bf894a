/**
 * What people are shown in chats: what they need to decide in one glance, with what each button means. Pure: the same event gives the
 * same card. Text from elsewhere is masked once more and shown with signs for what can't be seen. Rules CHN-1..CHN-9.
 */
import { type Approval } from "../approval.ts";
import { approvalShown } from "../approval-words.ts";
import { PLAN_PROMPT_ID, type PlanDecision } from "../prompts/plan-decision.ts";
import { redactText } from "../redaction/redact-text.ts";
import { shownText } from "../shown-text.ts";
import type { Card, CardKind } from "./card.ts";
import type { ChatAction } from "./chat-action.ts";

/** A card with what its buttons mean; the action of each button is its number. */
export type Sketch = { readonly card: Card; readonly actions: readonly ChatAction[] };

export type Choice = {
  readonly label: string;
  readonly means: ChatAction;
  readonly style?: "go" | "stop" | undefined;
};

export const BUTTONS_MAX = 8;
const BUTTONS_A_ROW = 3;
const TEXT_MAX = 1_000;
const CODE_MAX = 2_000;
const FACT_MAX = 300;
const TITLE_MAX = 100;
const LABEL_MAX = 40;
/** With entities for `&`, `<` and `>`: fits whole into a message of every platform, whatever else stands on the card. */
const WHOLE_MAX = 1_200;
const STEPS_SHOWN = 20;
export const LEASE_MINUTES = 15;

/** Says how a card is answered or what came of it; never both. */
export const ANSWER = "Answer";
const OUTCOME = "Outcome";

export function planCard(
  title: string,
  plan: { readonly planId: string; readonly title: string; readonly steps: readonly string[] },
): Sketch {
  const { planId, steps } = plan;
  const lines = steps.slice(0, STEPS_SHOWN).map((step, index) => `${index + 1}. ${oneLine(step, FACT_MAX)}`);
  const rest = steps.length > STEPS_SHOWN ? [`… and ${steps.length - STEPS_SHOWN} more`] : [];
  const text = [oneLine(plan.title, FACT_MAX), "", ...lines, ...rest].join("\n");
  const means = (choice: PlanDecision): ChatAction => ({
    do: "reply",
    promptId: PLAN_PROMPT_ID,
    nonce: planId,
    choice,
  });
  return sketch({ kind: "plan", title, text }, [
    { label: "Execute", means: means("execute"), style: "go" },
    { label: "Modify", means: means("modify") },
    { label: "Cancel", means: means("cancel"), style: "stop" },
  ]);
}

export function approvalCard(title: string | undefined, approval: Approval): Sketch {
  const { requestId, requestedBy, expiresAt } = approval;
  const { headline, code, facts: known, agentSays } = approvalShown(approval);
  const whole = isShownWhole(code);
  const facts = [
    ...known,
    { name: "until", value: expiresAt },
    ...(whole ? [] : [{ name: ANSWER, value: "it is too long to be shown here: approve it at the hub" }]),
    ...(agentSays === undefined ? [] : [{ name: `${requestedBy} says`, value: agentSays }]),
  ];
  const approve: Choice = { label: "Approve", means: { do: "approval", requestId, verdict: "approved" }, style: "go" };
  const deny: Choice = { label: "Deny", means: { do: "approval", requestId, verdict: "rejected" }, style: "stop" };
  const content = { text: oneLine(headline, TEXT_MAX), code: many(code, CODE_MAX), facts };
  return sketch({ kind: "approval", title, ...content }, whole ? [approve, deny] : [deny]);
}

/** Nobody approves what they can't see. */
function isShownWhole(code: string): boolean {
  return shownText(redactText(code)).replaceAll(/[&<>"]/g, "&quot;").length <= WHOLE_MAX;
}

export function controlCard(
  title: string,
  { sessionId, agentId, reason }: { readonly sessionId: string; readonly agentId: string; readonly reason: string },
): Sketch {
  const facts = [{ name: `${agentId} says`, value: reason }];
  return sketch({ kind: "control", title, text: `${oneLine(agentId, TITLE_MAX)} asks for control`, facts }, [
    { label: `Grant ${LEASE_MINUTES} min`, means: { do: "control", sessionId, agentId, act: "grant" }, style: "go" },
    { label: "Decline", means: { do: "control", sessionId, agentId, act: "decline" }, style: "stop" },
  ]);
}

export function outputCard(title: string, text: string): Sketch {
  return sketch({ kind: "output", title, text: "", code: shownText(redactText(text)) }, []);
}

/** Under a title of its own: a notice of ours has the same form, and a program can print its words. */
export function messageCard(title: string, text: string): Sketch {
  return sketch(
    { kind: "agent_message", title: `${title} prints:`.trimStart(), text: shownText(redactText(text)) },
    [],
  );
}

export function noticeCard(title: string | undefined, text: string): Sketch {
  return sketch({ kind: "notice", title, text: many(text, TEXT_MAX) }, []);
}

/** The same without a way to decide, with what became of it. */
export function decided(card: Card, words: string): Card {
  const { link: _link, ...rest } = card;
  const facts = (card.facts ?? []).filter(({ name }) => name !== ANSWER && name !== OUTCOME);
  return { ...rest, facts: [...facts, { name: OUTCOME, value: oneLine(words, FACT_MAX) }], buttons: [] };
}

export function isDecided(card: Card): boolean {
  return outcomeOf(card) !== undefined;
}

export function outcomeOf({ facts = [] }: Card): string | undefined {
  return facts.find(({ name }) => name === OUTCOME)?.value;
}

type Content = {
  readonly kind: CardKind;
  readonly title?: string | undefined;
  readonly text: string;
  readonly code?: string | undefined;
  readonly facts?: Card["facts"];
  readonly link?: Card["link"];
};

export function sketch({ kind, title, text, code, facts, link }: Content, choices: readonly Choice[]): Sketch {
  const buttons = choices.map(({ label, style }, index) => ({
    label: oneLine(label, LABEL_MAX),
    action: String(index),
    ...(style !== undefined && { style }),
  }));
  const card = {
    kind,
    ...(title !== undefined && { title: oneLine(title, TITLE_MAX) }),
    text,
    ...(code !== undefined && { code }),
    ...(facts !== undefined && { facts: facts.map((it) => plainFact(it)) }),
    buttons: inRows(buttons),
    ...(link !== undefined && { link }),
  };
  return { card, actions: choices.map(({ means }) => means) };
}

function plainFact({ name, value }: { readonly name: string; readonly value: string }) {
  return { name: oneLine(name, LABEL_MAX), value: oneLine(value, FACT_MAX) };
}

function inRows<T>(buttons: readonly T[]): readonly (readonly T[])[] {
  const rows = Math.ceil(buttons.length / BUTTONS_A_ROW);
  return Array.from({ length: rows }, (_, row) => buttons.slice(row * BUTTONS_A_ROW, (row + 1) * BUTTONS_A_ROW));
}

export function oneLine(text: string, max: number): string {
  return many(text.replaceAll(/[\r\n\t]+/g, " "), max);
}

/** Masked before it is cut: half a secret isn't known for one. */
export function many(text: string, max: number): string {
  const shown = Array.from(shownText(redactText(text)));
  return shown.length <= max ? shown.join("") : `${shown.slice(0, max).join("")}… (${shown.length - max} more)`;
}
