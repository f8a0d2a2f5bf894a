/** A program's question in a chat. A secret has no buttons: it goes through a link, or is typed at the terminal. Rules CHN-1, CHN-2. */
import { type AskedPrompt, isSecretPrompt } from "../prompts/asked-prompt.ts";
import type { Card } from "./card.ts";
import { buildPlan, type ButtonLayout } from "../prompts/plan-table.ts";
import type { PromptChoice } from "../prompts/prompt.ts";
import { ANSWER, BUTTONS_MAX, type Choice, many, oneLine, type Sketch, sketch } from "./cards.ts";

const TEXT_MAX = 1_000;
/** Longer ones are cut in buttons, so that all stand in the text too. */
const LABEL_FITS = 24;
const LISTED_MAX = 40;

/** `link`: where a secret can be typed, for whoever may. */
export function promptCard(title: string, asked: AskedPrompt, link?: string): Sketch {
  const { question, program, warning } = asked;
  const layout = layoutOf(asked);
  const buttons = buttonsOf(asked, layout);
  const isListed = asked.choices.length > 0 && (buttons.length === 0 || asked.choices.some(isLong));
  const text = question === "" ? "(it says nothing)" : many(question, TEXT_MAX);
  const facts = [
    { name: "Asked by", value: program === "" ? "nobody could look who waits" : program },
    ...(warning === undefined ? [] : [{ name: "WARNING", value: warning }]),
    ...(asked.escalate ? [{ name: "Unsure", value: "look at the terminal before you answer" }] : []),
    { name: ANSWER, value: howToAnswer(asked, layout, link !== undefined) },
  ];
  const open = layout === "secret_link" && link !== undefined ? { link: { label: "Type it", url: link } } : {};
  const code = isListed && layout !== "secret_link" ? { code: listed(asked.choices) } : {};
  return sketch({ kind: "prompt", title, text, ...code, facts, ...open }, buttons);
}

/** For where others read too, or no link is to be had. */
export function withoutLink({ link: _link, ...card }: Card): Card {
  const facts = (card.facts ?? []).map((it) => (it.name === ANSWER ? { ...it, value: ELSEWHERE } : it));
  return { ...card, facts };
}

const ELSEWHERE = "on the hub's page, or with `sidestick answer`: its link is shown in direct chats alone";

function layoutOf(asked: AskedPrompt): ButtonLayout {
  if (isSecretPrompt(asked)) return "secret_link";
  if (asked.typing === "none") return "none";
  return asked.typing === "by_class" ? buildPlan(asked.class).buttonLayout : "text";
}

function buttonsOf(asked: AskedPrompt, layout: ButtonLayout): readonly Choice[] {
  const { promptId, nonce, choices, multiple } = asked;
  const button = (label: string, choice: string): Choice => ({
    label,
    means: { do: "reply", promptId, nonce, choice },
  });
  switch (layout) {
    case "yes_no":
    case "enter":
    case "choices":
    case "trust":
      if (choices.length > BUTTONS_MAX || multiple === true) return [];
      return choices.map((it) => button(labelOf(it, layout), it.key));
    case "text":
      return asked.default === undefined || asked.typing !== "by_class"
        ? []
        : [button(`Enter: ${asked.default}`, "default")];
    case "secret_link":
    case "none":
      return [];
  }
}

function howToAnswer({ choices, multiple }: AskedPrompt, layout: ButtonLayout, hasLink: boolean): string {
  switch (layout) {
    case "secret_link":
      return hasLink ? "open the link; what you type is shown nowhere" : "at the terminal";
    case "none":
      return "at the terminal: it can't be answered from here";
    case "text":
      return "with a message";
    case "yes_no":
    case "enter":
    case "choices":
    case "trust":
      if (multiple === true) return "with the numbers of all that you want";
      return choices.length > BUTTONS_MAX ? "with the number" : "with a button, or in words";
  }
}

function labelOf({ key, label }: PromptChoice, layout: ButtonLayout): string {
  if (layout !== "choices") return label === "" ? key : label;
  return isSaidByKey({ key, label }) ? key : `${key}. ${label}`;
}

function isSaidByKey({ key, label }: PromptChoice): boolean {
  return label === "" || label.toLowerCase() === key.toLowerCase();
}

function isLong({ label }: PromptChoice): boolean {
  return label.length > LABEL_FITS;
}

function listed(choices: readonly PromptChoice[]): string {
  const lines = choices.slice(0, LISTED_MAX).map((it) => {
    const box = it.checked === undefined ? "" : it.checked ? "[x] " : "[ ] ";
    return oneLine(isSaidByKey(it) ? `${box}${it.key}` : `${box}${it.key}  ${it.label}`, 120);
  });
  const rest = choices.length > LISTED_MAX ? [`… and ${choices.length - LISTED_MAX} more`] : [];
  return [...lines, ...rest].join("\n");
}
