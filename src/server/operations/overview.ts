/** What a page begins with: one look at every desk, between two events. */
import type { Control } from "../../protocol/control.ts";
import type { Overview } from "../../protocol/overview.ts";
import type { AskedPrompt } from "../../protocol/prompts.ts";
import type { Handlers } from "../dispatcher.ts";
import type { Desks } from "./handlers.ts";

/** How many closed sessions it tells, of those that were closed last. */
const CLOSED_MAX = 50;

export type OverviewWords = {
  readonly version: string;
  readonly controlOf: (sessionId: string) => Control;
  readonly pendingPrompts: () => AskedPrompt[];
};

export function overviewHandlers(desks: Desks, { version, controlOf, pendingPrompts }: OverviewWords) {
  const { log, sessions, approvals, plans, hosts } = desks;
  const overview = (me: Overview["me"]): Overview => {
    const all = [...sessions.list()];
    const open = all.filter((it) => it.status !== "closed");
    const closed = all.filter((it) => it.status === "closed").toSorted((a, b) => (a.updatedAt < b.updatedAt ? -1 : 1));
    return {
      now: new Date().toISOString(),
      version,
      me,
      eventCursor: log.head,
      sessions: [...closed.slice(-CLOSED_MAX), ...open],
      controls: open.map((it) => controlOf(it.sessionId)),
      approvals: [...approvals.list("pending")],
      prompts: pendingPrompts(),
      plans: plans.undecided().map((it) => ({ ...it, steps: [...it.steps] })),
      hosts: [...hosts.list()],
    };
  };
  return {
    "hub.overview": (_input, { caller }) => overview({ role: caller.role, id: caller.actor.id }),
  } satisfies Partial<Handlers>;
}
