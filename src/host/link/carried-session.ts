/** A session and what the link keeps for it: its spool, and the last input number that was passed to it. */
import type { SessionFrame } from "../../domain/session-frame.ts";
import { AppError } from "../../protocol/errors.ts";
import type { HostedSession, Reply, SessionRequest } from "../hosted-session.ts";
import { Spool, type SpoolLimits } from "../spool.ts";
import { frameMessage } from "./frame-message.ts";
import type { FrameSender } from "./frame-sender.ts";

export type CarriedOptions = {
  readonly sessionId: string;
  readonly spoolPath: string;
  readonly limits?: SpoolLimits | undefined;
  /** Its end is stored: there is nothing more to tell of it. */
  readonly onOver: () => void;
};

export class CarriedSession {
  readonly #options: CarriedOptions;
  readonly #spool: Spool;
  readonly #opened = Promise.withResolvers<HostedSession>();
  #session: HostedSession | undefined;
  #sender: FrameSender | undefined;
  #paused = false;
  #inputs = 0;
  #exitOrder: number | undefined;

  constructor(options: CarriedOptions) {
    this.#options = options;
    this.#spool = new Spool({
      path: options.spoolPath,
      limits: options.limits,
      onFull: () => this.#pause(),
      onRoom: () => this.#resume(),
    });
    this.#opened.promise.catch(() => undefined);
  }

  get processIds(): readonly number[] {
    return this.#session?.processIds ?? [];
  }

  emit(frame: SessionFrame): void {
    if (this.#exitOrder !== undefined) return;
    this.#spool.push(frameMessage(this.#options.sessionId, frame));
    if (frame.kind === "exit") this.#exitOrder = frame.order;
    this.#sender?.wake(this.#spool);
  }

  opened(session: HostedSession): void {
    this.#session = session;
    this.#opened.resolve(session);
    if (this.#paused) session.pause();
  }

  failed(reason: unknown): void {
    this.#opened.reject(reason instanceof Error ? reason : new Error(String(reason)));
    this.close();
  }

  /** Requests reach the session in the order in which they came. */
  async handle(request: SessionRequest, body: Uint8Array): Promise<Reply> {
    if ("number" in request) this.#inputs = Math.max(this.#inputs, request.number);
    const session = this.#session ?? (await this.#opened.promise);
    return session.handle(request, body);
  }

  /** Every frame after `order` goes to the sender, kept ones first, unless more was acknowledged already. */
  async adopt(order: number, sender: () => FrameSender): Promise<Reply> {
    if (this.#session === undefined) await this.#opened.promise.catch(() => refuseUnknown());
    this.attach(order, sender());
    const { acknowledged, last } = this.#spool;
    return { fields: { acknowledged, order: last, inputs: this.#inputs } };
  }

  attach(order: number, sender: FrameSender): void {
    this.#sender = sender;
    this.#spool.attach(order);
    sender.wake(this.#spool);
    this.#endIfStored();
  }

  detach(): void {
    this.#sender = undefined;
    this.#spool.detach();
  }

  acknowledge(order: number): void {
    this.#spool.acknowledge(order);
    this.#sender?.wake(this.#spool);
    this.#endIfStored();
  }

  close(): void {
    this.#sender = undefined;
    this.#spool.close();
  }

  #endIfStored(): void {
    if (this.#exitOrder === undefined || this.#spool.acknowledged < this.#exitOrder) return;
    this.close();
    this.#options.onOver();
  }

  #pause(): void {
    this.#paused = true;
    this.#session?.pause();
  }

  #resume(): void {
    this.#paused = false;
    this.#session?.resume();
  }
}

function refuseUnknown(): never {
  throw new AppError("not_found", { detail: "That session does not run here." });
}
