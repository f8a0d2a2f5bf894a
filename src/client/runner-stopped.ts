import type { HandoffReason } from "../domain/control-state.ts";
import type { Output } from "../protocol/operations.ts";

/** `not_granted`: the session is a person's, and nobody has granted it. `closed`: the runner or the session is. */
export type StopReason = HandoffReason | "not_granted" | "declined" | "closed" | "unwatched";

/** The runner may not go on; a person decides whether and when it may again. */
export class RunnerStopped extends Error {
  override readonly name = "RunnerStopped";
  readonly reason: StopReason;
  /** Who has control instead, where that is known. */
  readonly state: Output<"control.get"> | undefined;

  constructor(reason: StopReason, state?: Output<"control.get">, options: ErrorOptions = {}) {
    super(`The runner has no control: ${reason}`, options);
    this.reason = reason;
    this.state = state;
  }
}
