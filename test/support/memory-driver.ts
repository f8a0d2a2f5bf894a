/**
 * A driver whose programs live in this process: it echoes its input as output. It stands in for the real drivers in
 * the test composition only and passes the driver contract (session-driver.contract.ts).
 */
import type { DriverSink, SessionDriver } from "../../src/hub/ports.ts";
import type { Session, SessionKind } from "../../src/domain/session.ts";

type Running = { readonly sink: DriverSink; cols: number; rows: number };

export class MemoryDriver implements SessionDriver {
  readonly kind: SessionKind;
  readonly hostId = "local";
  readonly #running = new Map<string, Running>();

  constructor(kind: SessionKind) {
    this.kind = kind;
  }

  async start(session: Session, sink: DriverSink): Promise<void> {
    if (session.title === "refuse to start") throw new Error("asked to refuse");
    this.#running.set(session.sessionId, { sink, cols: 80, rows: 24 });
  }

  async adopt(session: Session, sink: DriverSink): Promise<boolean> {
    if (session.title === "lost on restart") return false;
    this.#running.set(session.sessionId, { sink, cols: 80, rows: 24 });
    return true;
  }

  async input(sessionId: string, bytes: Uint8Array): Promise<void> {
    const { sink } = this.#get(sessionId);
    await sink.output(bytes);
    if (Buffer.from(bytes).toString() === "exit\r") sink.ended("exited");
  }

  async resize(sessionId: string, cols: number, rows: number): Promise<void> {
    Object.assign(this.#get(sessionId), { cols, rows });
  }

  size(sessionId: string): { cols: number; rows: number } {
    const { cols, rows } = this.#running.get(sessionId) ?? { cols: 80, rows: 24 };
    return { cols, rows };
  }

  async stop(sessionId: string): Promise<void> {
    this.#running.delete(sessionId);
  }

  #get(sessionId: string): Running {
    const running = this.#running.get(sessionId);
    if (running === undefined) throw new Error(`${sessionId} does not run here`);
    return running;
  }
}
