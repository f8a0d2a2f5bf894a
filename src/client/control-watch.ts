/**
 * Hears of every change of control in a session, from the log as it grows; nobody polls. An epoch that is over stays
 * over, so that what comes late or twice does no harm.
 */
import { HANDOFF_REASONS } from "../domain/control-state.ts";
import type { WorkspaceEvent } from "../protocol/events.ts";
import type { Output } from "../protocol/operations.ts";
import type { SidestickClient } from "./client.ts";
import { RunnerStopped, type StopReason } from "./runner-stopped.ts";

type Told = Pick<Output<"control.get">, "epoch" | "control_mode" | "holder" | "reason" | "user_intent">;

export type Watched = { readonly signal: AbortSignal; readonly end: () => void };

export class ControlWatch {
  readonly #listeners = new Set<(told: Told) => void>();
  readonly #ending = new AbortController();
  /** Whoever asks for control and then begins to listen must not miss what came in between. */
  #last: Told | undefined;

  constructor(client: SidestickClient, sessionId: string, after: number) {
    void this.#follow(client, sessionId, after);
  }

  /** Aborted when there is nothing more to hear: the session is over, or the hub refuses us. */
  get ended(): AbortSignal {
    return this.#ending.signal;
  }

  /** Aborted when whoever drives in this state no longer does. */
  lost({ epoch, holder }: Told): Watched {
    return this.#when((told) => {
      const drivesStill = told.control_mode === "AGENT" && told.holder?.id === holder?.id;
      return told.epoch > epoch && !drivesStill ? (told.reason ?? "released") : undefined;
    });
  }

  /** Aborted when somebody stops the agent after this state. */
  stopped({ epoch }: Told): Watched {
    return this.#when((told) => (told.epoch > epoch && told.user_intent === "STOP_NOW" ? "stop_now" : undefined));
  }

  close(): void {
    this.#ending.abort(new RunnerStopped("closed"));
  }

  #when(isTime: (told: Told) => StopReason | undefined): Watched {
    const found = new AbortController();
    const listener = (told: Told): void => {
      const reason = isTime(told);
      if (reason !== undefined) found.abort(new RunnerStopped(reason));
    };
    this.#listeners.add(listener);
    if (this.#last !== undefined) listener(this.#last);
    return {
      signal: AbortSignal.any([found.signal, this.#ending.signal]),
      end: () => void this.#listeners.delete(listener),
    };
  }

  async #follow(client: SidestickClient, sessionId: string, after: number): Promise<void> {
    const { signal } = this.#ending;
    try {
      const types = ["control_handoff" as const, "status" as const];
      for await (const item of client.events({ sessionId, types, after, signal })) {
        if (item.type === "event") this.#hear(item.event);
      }
    } catch (cause) {
      // Whoever can't hear must not act: nobody could tell it to stop.
      this.#ending.abort(new RunnerStopped("unwatched", undefined, { cause }));
    }
  }

  #hear({ type, payload }: WorkspaceEvent): void {
    if (type === "status") {
      if (payload["status"] === "closed") this.close();
      return;
    }
    const told = payload as unknown as Partial<Told>;
    if (typeof told.epoch !== "number") return;
    const reason = HANDOFF_REASONS.find((it) => it === told.reason) ?? null;
    this.#last = { ...(told as Told), reason };
    for (const listener of this.#listeners) listener(this.#last);
  }
}
