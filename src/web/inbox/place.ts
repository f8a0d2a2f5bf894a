/** Where a card stands, so that the keyboard and notifications lead to it. */
import { linkTo } from "../model/route.ts";

/** In the address: which card is meant. */
export const CARD = "card";

export function cardId(key: string): string {
  return `card-${key}`;
}

/** To the card where it is in sight, else to the inbox. */
export function goToCard(key: string): void {
  const card = document.getElementById(cardId(key));
  if (card === null) location.hash = `${linkTo("inbox")}?${new URLSearchParams({ [CARD]: key })}`;
  else lookAt(card);
}

export function lookAt(card: HTMLElement): void {
  card.closest("details")?.setAttribute("open", "");
  card.focus();
  card.scrollIntoView({ block: "nearest" });
}

/** The keyboard goes to the card beside it, or to the page. */
export function leaveCard(key: string): void {
  const cards = [...document.querySelectorAll<HTMLElement>(".ask")];
  const at = cards.findIndex((it) => it.id === cardId(key));
  (cards[at + 1] ?? cards[at - 1] ?? document.getElementById("main"))?.focus();
}

/** The one after that which has the keyboard; behind the last in sight, those that are elsewhere. */
export function goToNext(waiting: readonly string[]): void {
  const isHere = (key: string): boolean => document.getElementById(cardId(key)) !== null;
  const here = waiting.filter(isHere);
  const at = here.findIndex((key) => document.getElementById(cardId(key))?.contains(document.activeElement));
  const next = here[at + 1] ?? waiting.find((key) => !isHere(key)) ?? here[0];
  if (next !== undefined) goToCard(next);
}
