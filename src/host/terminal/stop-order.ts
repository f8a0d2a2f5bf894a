/** What a stop is told, and what it tells. Rules in docs/spec/stopping.md. */
import type { Actor } from "../../domain/actor.ts";

/** From `from` to `to`, by `bootTimeMs`; without `to` it lasts. */
export type Period = { readonly from: number; readonly to?: number | undefined };

export type StopScope = "agent" | "all";

/** How completely the processes of a session can be found. */
export type Tracking = "pid_namespace" | "subreaper" | "best_effort";

export type StopOrder = {
  /** When an agent held control, or the shell still ran a command of one. */
  readonly agentTimes: readonly Period[];
  /** An agent held control when it was stopped, or what is in front does what it typed: the job in front is its. */
  readonly drivesForeground: boolean;
  readonly scope: StopScope;
  /** What the gate dropped before. */
  readonly droppedInputs: number;
  readonly droppedBytes: number;
  /** Who stopped it. */
  readonly by?: Actor | undefined;
};

export type StoppedProcess = { readonly pid: number; readonly program: string };

export type SurvivorReason = "another_user" | "uninterruptible" | "still_there";

export type StopReceipt = {
  readonly dropped_inputs: number;
  readonly dropped_bytes: number;
  /** At most 100 of them. */
  readonly killed: readonly StoppedProcess[];
  readonly killed_count: number;
  /** The shell could not be brought to its prompt, so another one took its place. */
  readonly respawned: boolean;
  readonly survivors: readonly (StoppedProcess & { readonly reason: SurvivorReason })[];
  readonly kill_scope: StopScope;
  readonly containment: Tracking;
};
