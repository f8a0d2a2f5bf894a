/** Reading the log, with who may see what: the hub's housekeeping is for operators. */
import type { EventFilter, EventLog } from "../../hub/ports.ts";
import { type EventType, retentionOf, type StoredEvent } from "../../domain/event.ts";
import { AppError } from "../../protocol/errors.ts";
import type { ParsedInput } from "../../protocol/operations.ts";
import type { CallContext, Caller } from "../caller.ts";

export function visibleFilter(
  filter: { sessionId?: string | undefined; types?: readonly EventType[] | undefined },
  caller: Caller,
): EventFilter {
  const secret = filter.types?.filter((type) => retentionOf(type) === "housekeeping") ?? [];
  if (secret.length > 0 && caller.role !== "operator") {
    throw new AppError("forbidden", {
      role: caller.role,
      detail: `Only operators see events of type ${secret.join(", ")}`,
    });
  }
  return { sessionId: filter.sessionId, types: filter.types };
}

/**
 * Where a stream goes on for a cursor that the log has not reached: its events were in a log that is no more (another
 * data directory, a restored copy), and waiting for that number would skip all that comes before it.
 */
export function aheadOf(log: EventLog, after: number | undefined): number | undefined {
  return after !== undefined && after > log.head ? log.head : after;
}

export async function listEvents(
  log: EventLog,
  input: ParsedInput<"event.list">,
  { caller, signal }: CallContext,
): Promise<StoredEvent[]> {
  const filter = visibleFilter(input, caller);
  const page = await log.read({ ...filter, after: input.after, limit: input.limit });
  if (page.length > 0 || input.waitMs === 0) return [...page];

  const until = AbortSignal.any([signal, caller.revoked, AbortSignal.timeout(input.waitMs)]);
  for await (const batch of log.subscribe({ ...filter, after: input.after }, until)) return batch.slice(0, input.limit);
  return [];
}
