/** For feeds of events: says once that the hub is away, not at every attempt. */
import type { Terminal } from "./terminal.ts";

export function outageTeller(terminal: Pick<Terminal, "note">) {
  let isAway = false;
  return {
    onRetry: (): void => {
      if (!isAway) terminal.note("The hub is away; waiting for it …");
      isAway = true;
    },
    onOpen: (): void => {
      if (isAway) terminal.note("The hub is back.");
      isAway = false;
    },
  };
}
