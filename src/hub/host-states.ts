/**
 * Which hosts are there now. Each change is a `host_link` event; of a host that comes and goes without end only every
 * few seconds' last one, so that its log stays small (RML-12).
 */
import { HUB_STREAM, type StoredEvent } from "../domain/event.ts";
import type { Logger } from "../lib/logger.ts";
import type { HostFacts } from "../protocol/link.ts";
import type { Journal } from "./journal.ts";
import type { Clock } from "./ports.ts";

export type HostState = {
  readonly online: boolean;
  readonly since?: string | undefined;
  /** As it told itself last. */
  readonly facts?: HostFacts | undefined;
};

type Kept = { state: HostState; notedAt: number; noted: boolean; timer?: NodeJS.Timeout | undefined };

const BETWEEN_MS = 5_000;

export class HostStates {
  readonly #parts: { readonly journal: Journal; readonly clock: Clock; readonly logger: Logger };
  readonly #kept = new Map<string, Kept>();
  #stopped = false;

  constructor(parts: { readonly journal: Journal; readonly clock: Clock; readonly logger: Logger }) {
    this.#parts = parts;
  }

  async start(): Promise<void> {
    const last = new Map<string, StoredEvent>();
    for await (const batch of this.#parts.journal.log.scan(["host_link"])) {
      for (const event of batch) last.set(event.payload["hostId"] as string, event);
    }
    for (const [hostId, { payload, timestamp }] of last) {
      // Whoever was online when the hub ended went offline nobody knows when.
      const since = payload["online"] === false ? timestamp : undefined;
      this.#of(hostId).state = { online: false, since };
    }
  }

  /** That links end with the hub is no news of the hosts. */
  stop(): void {
    this.#stopped = true;
    for (const { timer } of this.#kept.values()) clearTimeout(timer);
    this.#kept.clear();
  }

  of(hostId: string): HostState {
    return this.#kept.get(hostId)?.state ?? { online: false };
  }

  online(hostId: string, facts: HostFacts | undefined): void {
    this.#change(hostId, { online: true, facts });
  }

  offline(hostId: string): void {
    this.#change(hostId, { online: false, facts: this.of(hostId).facts });
  }

  forget(hostId: string): void {
    clearTimeout(this.#kept.get(hostId)?.timer);
    this.#kept.delete(hostId);
  }

  #change(hostId: string, state: Omit<HostState, "since">): void {
    if (this.#stopped) return;
    const kept = this.#of(hostId);
    const now = this.#parts.clock.now();
    kept.state = { ...state, since: new Date(now).toISOString() };
    if (kept.timer !== undefined) return;
    const waitMs = kept.notedAt + BETWEEN_MS - now;
    if (waitMs <= 0) return this.#note(hostId, kept);
    kept.timer = setTimeout(() => {
      kept.timer = undefined;
      if (kept.noted !== kept.state.online) this.#note(hostId, kept);
    }, waitMs).unref();
  }

  #note(hostId: string, kept: Kept): void {
    const { online } = kept.state;
    kept.notedAt = this.#parts.clock.now();
    kept.noted = online;
    const event = { type: "host_link", payload: { hostId, online }, source: { kind: "host", id: hostId } } as const;
    this.#parts.journal.note(HUB_STREAM, "process", [event]).catch((error: unknown) => {
      this.#parts.logger.warn("a host's coming or going was not stored", { hostId, error });
    });
  }

  #of(hostId: string): Kept {
    const kept = this.#kept.get(hostId) ?? { state: { online: false }, notedAt: 0, noted: false };
    this.#kept.set(hostId, kept);
    return kept;
  }
}
