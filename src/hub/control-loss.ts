/** What an agent is told whose call ended because it lost control (CTL-33). */
import type { HandoffReason } from "../domain/control-state.ts";
import type { JsonObject } from "../domain/event.ts";
import { AppError } from "../protocol/errors.ts";
import { ControlLost } from "./control-desk.ts";

export type LossFields = { readonly epoch?: number; readonly control_reason?: HandoffReason };

export function lossOf({ reason }: AbortSignal): LossFields {
  if (!(reason instanceof ControlLost)) return {};
  const { epoch, reason: why } = reason.state;
  return { epoch, ...(why === null ? {} : { control_reason: why }) };
}

export function throwIfLost(signal: AbortSignal, place: JsonObject): void {
  if (!signal.aborted) return;
  const lost = lossOf(signal);
  throw new AppError(lost.control_reason === "stop_now" ? "stopped" : "revoked", { ...place, ...lost });
}
