import { useState } from "react";
import type { Asked } from "../model/pending.ts";

/** Decided ones that stay in sight; then those go that were decided first. */
const DECIDED_SHOWN = 5;

/** What a view has shown: each thing as it was last known, and those that are decided in the order in which they were. */
export type Sight = { readonly cards: ReadonlyMap<string, Asked>; readonly decided: readonly string[] };

export const NOTHING_SEEN: Sight = { cards: new Map(), decided: [] };

/** What it shows now. What the world has forgotten is over. */
export function sightAfter(before: Sight, asked: readonly Asked[]): Sight {
  const known = new Map(asked.map((it) => [it.key, it]));
  const old = [...before.cards].map(([key, last]) => known.get(key) ?? { ...last, waits: false });
  const fresh = asked.filter((it) => it.waits && !before.cards.has(it.key));
  const over = new Set(old.filter((it) => !it.waits).map((it) => it.key));
  const decided = [
    ...before.decided.filter((it) => over.has(it)),
    ...[...over].filter((it) => !before.decided.includes(it)),
  ];
  const gone = new Set(decided.slice(0, -DECIDED_SHOWN));
  const cards = [...old, ...fresh].filter((it) => !gone.has(it.key)).toSorted((a, b) => a.at - b.at);
  return { cards: new Map(cards.map((it) => [it.key, it])), decided: decided.slice(-DECIDED_SHOWN) };
}

export type Shown = { readonly shown: readonly Asked[]; readonly dismiss: (key: string) => void };

/**
 * What waits, and what was decided since the view is there, each in its place: who looks at a card sees what became of it, and
 * nothing moves under a hand that is about to press.
 */
export function useShown(asked: readonly Asked[]): Shown {
  const [before, setSight] = useState(NOTHING_SEEN);
  const sight = sightAfter(before, asked);
  if (!isSame(before, sight)) setSight(sight);
  const dismiss = (key: string): void =>
    setSight(({ cards, decided }) => ({ cards: new Map([...cards].filter(([it]) => it !== key)), decided }));
  return { shown: [...sight.cards.values()], dismiss };
}

/** The same keys in the same states: how each stands now is the world's to say. */
function isSame(a: Sight, b: Sight): boolean {
  const keysOf = ({ cards, decided }: Sight): string => JSON.stringify([[...cards.keys()], decided]);
  return keysOf(a) === keysOf(b);
}
