/**
 * What decides is pressed only where it has stood still. An agent chooses when a card appears, changes or runs out, and so what lies
 * under a hand that is about to press; half a second is enough to see that. Rule WEB-93.
 */
import { type MouseEvent, type RefObject, useEffect, useRef } from "react";
import { useHub } from "../model/use-hub.ts";

const STILL_MS = 500;
const LOOK_MS = 100;

/** `place`: in the window. `layout`: in what scrolls, and how much there is of that. */
type Stand = { readonly place: string; readonly layout: string; readonly since: number };

const stands = new Map<HTMLElement, Stand>();
let looking: ReturnType<typeof setInterval> | undefined;

export type Still<T extends HTMLElement> = {
  readonly ref: RefObject<T | null>;
  readonly onClickCapture: (event: MouseEvent) => void;
};

/** For the element around the buttons. A press by the keyboard has no place, so that nothing can slip under it. */
export function useStill<T extends HTMLElement>(): Still<T> {
  const hub = useHub();
  const ref = useRef<T>(null);
  useEffect(() => (ref.current === null ? undefined : watch(ref.current)), []);
  const onClickCapture = (event: MouseEvent): void => {
    const button = (event.target as Element).closest("button");
    const isPress = event.detail > 0 && button !== null && !isInDialog(button);
    if (!isPress || ref.current === null || isStill(ref.current)) return;
    event.preventDefault();
    event.stopPropagation();
    hub.tell("Nothing was pressed: this appeared or moved just then. Look again.");
  };
  return { ref, onClickCapture };
}

function watch(element: HTMLElement): () => void {
  isStill(element);
  looking ??= setInterval(() => [...stands.keys()].forEach(isStill), LOOK_MS);
  // A size that changes moves what lies below. The next frame already shows that the buttons can't be pressed.
  const sizes = new ResizeObserver(() => void isStill(element));
  for (let it: HTMLElement | null = element; it !== null; it = it.parentElement) sizes.observe(it);
  return () => {
    sizes.disconnect();
    stands.delete(element);
    if (stands.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };
}

/** Looks where it is now, and shows whether it can be pressed. */
function isStill(element: HTMLElement): boolean {
  const before = stands.get(element);
  const now = performance.now();
  const { place, layout } = placeOf(element);
  // Whoever scrolls moves it in the window alone, and sees it.
  const hasMoved = before === undefined || (before.place !== place && before.layout !== layout);
  const since = hasMoved ? now : before.since;
  stands.set(element, { place, layout, since });
  const is = now - since >= STILL_MS;
  for (const button of element.querySelectorAll("button")) {
    if (is || isInDialog(button)) button.removeAttribute("aria-disabled");
    else button.setAttribute("aria-disabled", "true");
  }
  return is;
}

/** A dialog stands in the middle of the window, wherever the card that opened it moves to. */
function isInDialog(button: HTMLButtonElement): boolean {
  return button.closest("dialog") !== null;
}

function placeOf(element: HTMLElement): Pick<Stand, "place" | "layout"> {
  const { x, y, width, height } = element.getBoundingClientRect();
  let inside = y;
  const around: number[] = [];
  for (let it = element.parentElement; it !== null; it = it.parentElement) {
    inside += it.scrollTop;
    around.push(it.scrollHeight);
  }
  return { place: textOf([x, y, width, height]), layout: textOf([x, inside, width, height, ...around]) };
}

function textOf(numbers: readonly number[]): string {
  return numbers.map(Math.round).join(" ");
}
