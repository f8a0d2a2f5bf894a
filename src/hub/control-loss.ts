/** What an agent is told whose call ended because it lost control (CTL-33). */
import type { HandoffReason } from "../domain/control-state.ts";
import type { JsonObject } from "../domain/event.ts";
import { AppError } from "../protocol/errors.ts";
import { ControlLost } from "./controlled-session.ts";
import { woken } from "./woken.ts";

export type LossFields = { readonly epoch?: number; readonly control_reason?: HandoffReason };

export function lossOf({ reason }: AbortSignal): LossFields {
  if (!(reason instanceof ControlLost)) return {};
  const { epoch, reason: why } = reason.state;
  return { epoch, ...(why === null ? {} : { control_reason: why }) };
}

/** The call ends in the moment of the loss, whatever its action still does or leaves. */
export async function unlessLost<T>(action: Promise<T>, signal: AbortSignal, place: JsonObject): Promise<T> {
  await Promise.race([Promise.allSettled([action]), woken(new Set(), signal)]);
  throwIfLost(signal, place);
  return action;
}

export function throwIfLost(signal: AbortSignal, place: JsonObject): void {
  if (!signal.aborted) return;
  const lost = lossOf(signal);
  throw new AppError(lost.control_reason === "stop_now" ? "stopped" : "revoked", { ...place, ...lost });
}
