/** Which recorded events are tokens and quiet points. Rules WAI-14..WAI-16. */
import type { StoredEvent } from "../domain/event.ts";
import type { Condition } from "./wait-desk.ts";

/** Nothing more comes for now: regexes and screens are judged here. */
export function isQuietPoint({ type, payload }: StoredEvent): boolean {
  if (type === "status") return payload["status"] === "closed";
  return type === "quiet" || type === "prompt" || type === "agent_block_end";
}

/** The first condition that this event is the token of. */
export function tokenOf(
  event: StoredEvent,
  conditions: readonly Condition[],
  runId: string | undefined,
): number | undefined {
  const which = conditions.findIndex((it) => it.type === "token" && isToken(event, it, runId));
  return which < 0 ? undefined : which;
}

function isToken(
  { type, payload }: StoredEvent,
  condition: Extract<Condition, { type: "token" }>,
  runId: string | undefined,
): boolean {
  switch (condition.token) {
    case "PROMPT":
      return type === "prompt" && payload["kind"] === "shell";
    case "INPUT":
      return type === "prompt" && payload["kind"] !== "shell";
    case "IDLE":
      return type === "quiet" && Number(payload["ms"]) >= condition.idleMs;
    case "EOF":
      return type === "status" || (type === "agent_block_end" && isRun(payload["runId"], runId));
  }
}

function isRun(ended: unknown, runId: string | undefined): boolean {
  return runId === undefined ? ended !== undefined : ended === runId;
}
