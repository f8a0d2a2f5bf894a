/** Counts for Prometheus. Labels are names from our own tables, never something a caller chose. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { EventLog } from "../hub/ports.ts";
import type { SessionDesk } from "../hub/session-desk.ts";
import { SESSION_STATUSES } from "../domain/session.ts";

export class Metrics {
  readonly #registry = new Registry();
  readonly #calls: Histogram<"operation" | "code">;

  constructor(log: EventLog, sessions: SessionDesk, viewers: () => number) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry, prefix: "sidestick_" });
    this.#calls = new Histogram({
      name: "sidestick_call_seconds",
      help: "Time to answer an operation",
      labelNames: ["operation", "code"],
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
      registers,
    });
    const events = new Counter({
      name: "sidestick_events_total",
      help: "Events stored",
      labelNames: ["type"],
      registers,
    });
    log.observe((batch) => {
      for (const event of batch) events.inc({ type: event.type });
    });
    this.#gauge("sidestick_log_head", "Newest sequence", () => log.head);
    this.#gauge("sidestick_viewers", "Open WebSockets", viewers);
    this.#registry.registerMetric(sessionGauge(sessions));
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  call(operation: string, code: string, seconds: number): void {
    this.#calls.observe({ operation, code }, seconds);
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #gauge(name: string, help: string, read: () => number): void {
    const gauge = new Gauge({
      name,
      help,
      registers: [],
      collect() {
        this.set(read());
      },
    });
    this.#registry.registerMetric(gauge);
  }
}

function sessionGauge(sessions: SessionDesk): Gauge<"status"> {
  return new Gauge({
    name: "sidestick_sessions",
    help: "Sessions kept, by status",
    labelNames: ["status"],
    registers: [],
    collect() {
      const all = sessions.list();
      for (const status of SESSION_STATUSES) this.set({ status }, all.filter((it) => it.status === status).length);
    },
  });
}
