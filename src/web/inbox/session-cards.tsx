import { WANTED } from "../../domain/prompts/wanted.ts";
import { type ReactNode, useEffect, useLayoutEffect, useRef } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";
import { type Asked, askedIn } from "../model/pending.ts";
import { useDriver, useWorld } from "../model/use-hub.ts";
import { AskedCard } from "./asked-card.tsx";
import { cardId } from "./place.ts";
import { askerOf } from "./prompt-words.ts";
import { useShown } from "./use-shown.ts";

/** What is asked in one session, above its terminal. */
export function SessionCards({ sessionId }: { readonly sessionId: string }): ReactNode {
  const asked = useWorld(askedIn).filter((it) => it.sessionId === sessionId && it.kind !== "request");
  const { shown, dismiss } = useShown(asked);
  const { isMe } = useDriver(sessionId);
  const cards = shown.filter((it) => !isAnsweredThere(it));
  const place = useRef<HTMLElement>(null);
  const first = cards.find((it) => it.waits)?.key;
  const waits = first !== undefined;
  const waited = useRef(false);
  useEffect(() => {
    if (waits) showFirst(place.current, first);
    else if (waited.current && isMe) giveBackKeyboard(place.current);
    waited.current = waits;
    // The next of several stays where it is: nothing moves under a hand that has just decided the one before it.
  }, [waits]);
  if (cards.length === 0) return null;
  return (
    <section ref={place} className="session-cards" aria-label="What is asked here">
      {cards.map((it) => (
        <Foldable key={it.key} asked={it} isAtTerminal={isMe}>
          <AskedCard asked={it} withSession={false} onDismiss={() => dismiss(it.key)} />
        </Foldable>
      ))}
    </section>
  );
}

/** Where cards have little room, what was decided before must not hide what is asked now, whose buttons are always in sight. */
function showFirst(place: HTMLElement | null, key: string): void {
  const card = document.getElementById(cardId(key));
  if (place === null || card === null) return;
  place.scrollTop += card.getBoundingClientRect().top - place.getBoundingClientRect().top;
}

/** With the button that was pressed the keyboard's place is gone. Whoever drives was typing in the terminal. */
function giveBackKeyboard(place: HTMLElement | null): void {
  const at = document.activeElement;
  if (at !== document.body && at?.matches(".folded > .ask") !== true) return;
  place?.parentElement?.querySelector<HTMLElement>(".terminal-place textarea")?.focus();
}

type Foldable = { readonly asked: Asked; readonly isAtTerminal: boolean; readonly children: ReactNode };

/**
 * Whoever drives has the question before them in the terminal: its card takes a line until they want it. Who drives changes by itself
 * too, when a lease runs out: a card that were another element then would lose what is typed into it, and the rest of a password would
 * go elsewhere.
 */
function Foldable({ asked, isAtTerminal, children }: Foldable): ReactNode {
  const place = useRef<HTMLDetailsElement>(null);
  const folds = asked.kind === "prompt" && asked.waits && isAtTerminal;
  useLayoutEffect(() => {
    const card = place.current;
    if (card !== null) card.open = !folds || card.contains(document.activeElement);
  }, [folds]);
  if (asked.kind !== "prompt") return children;
  return (
    <details ref={place} className="folded">
      <summary hidden={!folds}>{folds && foldedText(asked.prompt)}</summary>
      {children}
    </details>
  );
}

function foldedText(prompt: AskedPrompt): string {
  return `${shownText(askerOf(prompt))} asks for ${WANTED[prompt.class]}: answer it here or in the terminal`;
}

/** Whoever types the answer at the terminal sees there what becomes of it. */
function isAnsweredThere(asked: Asked): boolean {
  return asked.kind === "prompt" && asked.prompt.status === "gone";
}
