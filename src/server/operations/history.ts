/** Looking back at a session: input → one call of the history desk → output. */
import type { HistoryDesk } from "../../hub/history-desk.ts";
import type { Handlers } from "../dispatcher.ts";

export function historyHandlers(history: HistoryDesk) {
  return {
    "session.output": (input) => history.output(input),
    "session.keyframe": (input) => history.keyframe(input),
    "session.timeline": (input) => history.timeline(input),
  } satisfies Partial<Handlers>;
}
