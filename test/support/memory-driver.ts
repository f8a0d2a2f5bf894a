/**
 * A driver whose programs live in this process: it echoes its input as output. It stands in for the real drivers in
 * the test composition only and passes the driver contract (session-driver.contract.ts).
 */
import type {
  Adoption,
  ControlAnswer,
  DriverInput,
  InputTaken,
  SessionDriver,
  SessionIntake,
  StartTerms,
} from "../../src/hub/ports.ts";
import { Stick } from "../../src/host/stick.ts";
import type { ControlChange, GuardAbility } from "../../src/protocol/link.ts";
import { AppError } from "../../src/protocol/errors.ts";
import type { Actor } from "../../src/domain/actor.ts";
import type { EventType, JsonObject } from "../../src/domain/event.ts";
import type { Session, SessionKind } from "../../src/domain/session.ts";
import type { Size } from "../../src/domain/session-frame.ts";

type Known = { readonly order: number; readonly cursor: number };

class MemorySession {
  readonly #intake: SessionIntake;
  readonly stick: Stick;
  #order: number;
  #cursor: number;
  #said: Promise<unknown> = Promise.resolve();

  constructor(intake: SessionIntake, known: Known, terms: Partial<StartTerms> = {}) {
    this.#intake = intake;
    this.stick = new Stick({
      attended: terms.attended ?? false,
      mayAcquire: terms.agentsMayAcquire ?? true,
      elapsed: () => performance.now(),
      tell: ({ type, payload, by }) => {
        void this.tell(type, payload, by);
        return this.#order;
      },
      onAgentLost: () => undefined,
    });
    this.#order = known.order;
    this.#cursor = known.cursor;
  }

  get order(): number {
    return this.#order;
  }

  get cursor(): number {
    return this.#cursor;
  }

  print(bytes: Uint8Array): Promise<void> {
    const frame = { kind: "bytes", order: (this.#order += 1), cursor: this.#cursor, bytes } as const;
    this.#cursor += bytes.length;
    return this.#say(() => this.#intake([frame]));
  }

  tell(type: EventType, payload: JsonObject, by: Actor): Promise<void> {
    const place = { order: (this.#order += 1), cursor: this.#cursor, at: Date.now() };
    return this.#say(() => this.#intake([{ kind: "event", ...place, type, payload, by }]));
  }

  end(reason: string): Promise<void> {
    const place = { order: (this.#order += 1), cursor: this.#cursor, at: Date.now() };
    return this.#say(() => this.#intake([{ kind: "exit", ...place, reason }]));
  }

  #say(take: () => Promise<void>): Promise<void> {
    const said = this.#said.then(take);
    this.#said = said.catch(() => undefined);
    return said;
  }
}

export class MemoryDriver implements SessionDriver {
  readonly kind: SessionKind;
  readonly hostId = "local";
  readonly online = true;
  readonly hosted = [];
  readonly guard?: GuardAbility;
  /** How each session was started. */
  readonly terms = new Map<string, StartTerms>();
  readonly #running = new Map<string, MemorySession>();

  constructor(kind: SessionKind, guard?: GuardAbility) {
    this.kind = kind;
    if (guard !== undefined) this.guard = guard;
  }

  async start(session: Session, terms: StartTerms, intake: SessionIntake): Promise<void> {
    if (session.title === "refuse to start") throw new Error("asked to refuse");
    if (session.title.endsWith("refuse with a reason"))
      throw new AppError("kind_unavailable", { detail: "the reason" });
    this.terms.set(session.sessionId, terms);
    this.#running.set(session.sessionId, new MemorySession(intake, { order: 0, cursor: 0 }, terms));
  }

  async adopt(session: Session, known: Known, intake: SessionIntake): Promise<Adoption> {
    if (session.title === "lost on restart") return "gone";
    const taken = new MemorySession(intake, known);
    if (session.title === "ends on restart") this.#lastWords(taken);
    else this.#running.set(session.sessionId, taken);
    return "running";
  }

  /** It ended after it was taken up and before anything else could be asked; its words are on their way. */
  #lastWords(session: MemorySession): void {
    setTimeout(() => {
      void session.print(Buffer.from("last words"));
      void session.end("exited");
    }, 50);
  }

  async input(sessionId: string, { bytes, by }: DriverInput): Promise<InputTaken> {
    const session = this.#get(sessionId);
    session.stick.admit(by, session.stick.epoch);
    await session.tell("input", { bytes: bytes.length }, by);
    const { order: position, cursor } = session;
    await session.print(bytes);
    if (Buffer.from(bytes).toString() === "exit\r") {
      this.#running.delete(sessionId);
      await session.end("exited");
    }
    return { position, cursor, bytes: bytes.length };
  }

  /** It runs no programs: a stop has nothing to kill. */
  async control(sessionId: string, change: ControlChange): Promise<ControlAnswer> {
    const { stick } = this.#get(sessionId);
    const { action, state } = stick.command(change);
    const position = Number(stick.describe()["position"]);
    if (change.type === "intent" && change.intent === "STOP_NOW") stick.command({ type: "stopped", receipt: {} });
    return { state, position, ...(action === undefined ? {} : { action }) };
  }

  /** The log says it soon enough. */
  onControl(): void {}

  async resize(sessionId: string, { cols, rows }: Size, by: Actor): Promise<void> {
    await this.#get(sessionId).tell("resize", { cols, rows }, by);
  }

  async stop(sessionId: string): Promise<void> {
    const session = this.#running.get(sessionId);
    this.#running.delete(sessionId);
    await session?.end("stopped");
  }

  discard(sessionId: string): Promise<void> {
    return this.stop(sessionId);
  }

  /** It is never away. */
  onReturn(): void {}

  #get(sessionId: string): MemorySession {
    const running = this.#running.get(sessionId);
    if (running === undefined) throw new AppError("invalid_transition", { detail: "The session has ended" });
    return running;
  }
}
