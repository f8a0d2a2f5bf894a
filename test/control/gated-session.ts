/** Sessions whose device only takes bytes, behind the real gate and stick, watched by a referee. */
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import { Gate } from "../../src/host/gate.ts";
import type { HostedSession, OpenSession, Reply, SessionRequest, StartMessage } from "../../src/host/hosted-session.ts";
import { Stick } from "../../src/host/stick.ts";
import { Frames } from "../../src/host/terminal/frames.ts";
import { AppError } from "../../src/protocol/errors.ts";
import { Sink } from "../support/sink.ts";
import { Referee } from "./referee.ts";

type Input = Extract<SessionRequest, { type: "SEND_INPUT" }>;
/** What the sink takes at once: then every part says who sent it, and under which epoch. */
const PART = 8;
const PARTS = 3;

export type GatedSessions = { readonly open: OpenSession; readonly sessions: Map<string, GatedSession> };

export function gatedSessions(elapsed: () => number): GatedSessions {
  const sessions = new Map<string, GatedSession>();
  const open: OpenSession = async (start, emit) => {
    const session = new GatedSession(start, emit, elapsed);
    sessions.set(start.session_id, session);
    return session;
  };
  return { open, sessions };
}

export class GatedSession implements HostedSession {
  readonly sessionId: string;
  readonly referee: Referee;
  readonly sink: Sink;
  readonly stick: Stick;
  /** Of an override: what happened at the device, in its order. */
  readonly happened: string[] = [];
  /** Each is a digit in what it types. */
  readonly #agents: string[] = [];
  /** A repeated request is none. */
  readonly #numbers = new Set<number>();
  readonly #gate: Gate;
  readonly #frames: Frames;

  constructor(start: StartMessage, emit: (frame: SessionFrame) => void, elapsed: () => number) {
    const attended = start.attended === true;
    this.sessionId = start.session_id;
    this.referee = new Referee(elapsed, attended);
    this.#frames = new Frames(emit);
    this.sink = new Sink({
      took: (bytes) => this.#took(Buffer.from(bytes).toString()),
      record: (payload, by) => this.#frames.event("input", payload, by),
    });
    this.stick = new Stick({
      attended,
      mayAcquire: start.agents_may_acquire ?? true,
      elapsed,
      tell: (fact) => {
        this.happened.push(`told ${this.stick.epoch}`);
        this.referee.told(fact);
        return this.#frames.event(fact.type, fact.payload, fact.by);
      },
      onAgentLost: () => {
        this.happened.push(`cleared ${this.stick.epoch}`);
        this.sink.clear();
      },
    });
    this.#gate = new Gate(this.sink, this.stick);
  }

  async handle(request: SessionRequest): Promise<Reply> {
    switch (request.type) {
      case "SEND_INPUT":
        return this.#input(request);
      case "CONTROL": {
        const { command } = request;
        const { action } = this.referee.expect(
          () => this.referee.change(command),
          () => this.stick.command(command),
          () => this.stick.state,
        );
        return { fields: { ...this.stick.describe(), ...(action === undefined ? {} : { action }) } };
      }
      case "TERMINATE_CMD":
        this.stick.close();
        this.#frames.exit("terminated", { exitCode: 0 });
        return { fields: {} };
      default:
        throw new AppError("invalid_request", { detail: `${request.type} is not for sinks` });
    }
  }

  pause(): void {}

  resume(): void {}

  async #input(request: Input): Promise<Reply> {
    const { by, epoch = 0 } = request;
    const isPersons = by.kind === "person";
    const bytes = Buffer.from(
      `${isPersons ? "p" : this.#indexOf(by.id)}${String(epoch).padStart(PART - 1, "0")}`.repeat(PARTS),
    );
    const type = () => this.#gate.input(request, { bytes, class: request.class });
    const state = () => this.stick.state;
    const typed = () => this.referee.personTypes(by.id);
    const isRepeated = this.#numbers.has(request.number);
    this.#numbers.add(request.number);
    const admitted =
      isPersons && !isRepeated ? this.#overridden(() => this.referee.expect(typed, type, state)) : type();
    const fields = { ...(await admitted) };
    return { fields: epoch === this.stick.epoch ? fields : { ...fields, control: this.stick.describe() } };
  }

  #indexOf(agent: string): number {
    const index = this.#agents.indexOf(agent);
    return index < 0 ? this.#agents.push(agent) - 1 : index;
  }

  /** Revoke, clear, tell: all of it before the person's bytes have even their turn. */
  #overridden<T>(type: () => T): T {
    const wasAgents = this.stick.state.mode === "AGENT";
    this.happened.length = 0;
    const admitted = type();
    const { epoch } = this.stick;
    if (wasAgents && this.happened.at(-1) !== `told ${epoch}`) this.referee.offences.push("an override was not told");
    if (wasAgents && this.happened[0] !== `cleared ${epoch}`) this.referee.offences.push("told before it was cleared");
    return admitted;
  }

  #took(part: string): void {
    const agent = this.#agents[Number(part[0])];
    if (agent !== undefined) this.referee.took(agent, Number(part.slice(1)));
  }
}
