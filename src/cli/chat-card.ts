/** A card of a chat as lines of a terminal. Buttons have numbers, unless the program's own keys say it already. */
import type { Button, Card } from "../domain/channels/card.ts";
import { ANSWER, isDecided, outcomeOf } from "../domain/channels/cards.ts";
import { printable, printableText } from "./printable.ts";

export function cardText(card: Card): string {
  const { kind, title = "", text, code = "" } = card;
  switch (kind) {
    case "notice":
      return `* ${printableText(text)}`;
    case "agent_message":
      return prefixed(text, "> ");
    case "output":
      return prefixed(code, "| ");
    case "prompt":
    case "plan":
    case "approval":
    case "control":
      return [
        `? ${printable(title)}`,
        prefixed(text, "  "),
        ...(code === "" ? [] : [prefixed(code, "      ")]),
        ...factsOf(card).map(({ name, value }) => `  ${printable(`${name}: ${value}`)}`),
        ...buttonsLine(card),
      ].join("\n");
  }
}

/** What became of it, in one line. */
export function outcomeText(card: Card): string {
  const [question = ""] = card.text.split("\n");
  return `= ${printable(question)} ${printable(outcomeOf(card) ?? "")}`;
}

/** What a number means on a card: a button; undefined: it is for the program. */
export function buttonOf(card: Card, line: string): Button | undefined {
  if (hasOwnKeys(card) || !/^[1-9]\d?$/.test(line)) return undefined;
  return card.buttons.flat()[Number(line) - 1];
}

/** Whether something is to be decided by it. */
export function isOpen(card: Card): boolean {
  return ["prompt", "plan", "approval", "control"].includes(card.kind) && !isDecided(card);
}

/** How a card is answered is told by its buttons here; a link is not shown. */
function factsOf({ facts = [] }: Card) {
  return facts.filter(({ name }) => name !== ANSWER);
}

function buttonsLine(card: Card): readonly string[] {
  const buttons = card.buttons.flat();
  if (buttons.length === 0) return [];
  const own = hasOwnKeys(card);
  return [`  ${buttons.map(({ label }, index) => printable(own ? label : `[${index + 1}] ${label}`)).join("   ")}`];
}

/** `2. green` is typed as the program wants it. */
function hasOwnKeys({ kind, buttons }: Card): boolean {
  return kind === "prompt" && buttons.flat().some(({ label }) => /^\d+(?:\.|$)/.test(label));
}

function prefixed(text: string, prefix: string): string {
  return printableText(text.replace(/\n+$/, ""))
    .split("\n")
    .map((line) => `${prefix}${line}`)
    .join("\n");
}
