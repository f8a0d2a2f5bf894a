/**
 * The host: the program in which sessions run. It outlives the hub: sessions go on while no hub is there, and what they
 * did is kept for the one that comes. It ends when it is told to, or when nothing runs and no hub has come for a while.
 * Rules in docs/spec/host.md.
 */
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "../lib/logger.ts";
import { AppError } from "../protocol/errors.ts";
import type { GuardAbility, HostFacts, HubRequest } from "../protocol/link.ts";
import type { OpenSession, Reply, SessionRequest, StartMessage } from "./hosted-session.ts";
import { CarriedSession } from "./link/carried-session.ts";
import { FrameSender } from "./link/frame-sender.ts";
import type { HubConnection } from "./link/hub-connection.ts";
import { isBelow, isElsewhere } from "./link/ancestry.ts";
import { takeInstanceLock } from "./link/instance-lock.ts";
import { type AfterHello, HubSeat, type HubSeatOptions, type WayToHub } from "./link/hub-seat.ts";
import { RequestParts } from "./link/request-parts.ts";
import { orphans } from "./orphans.ts";
import type { SpoolLimits } from "./spool.ts";

export type HostOptions = {
  /** Ours alone: socket, lock and spools are in it. */
  readonly directory: string;
  readonly hostId: string;
  readonly openSession: OpenSession;
  readonly way: WayToHub;
  readonly logger: Logger;
  /** How long it stays without a session and without a hub; infinite: for ever. */
  readonly idleMs?: number | undefined;
  readonly spoolLimits?: SpoolLimits | undefined;
  readonly deadAfterMs?: HubSeatOptions["deadAfterMs"];
  readonly guard?: GuardAbility | undefined;
  /** Told to hubs elsewhere. */
  readonly facts?: HostFacts | undefined;
};

type Shutdown = Extract<HubRequest, { type: "SHUTDOWN" }>["when"];

const IDLE_MS = 60_000;
const FULL: ReadonlySet<string> = new Set(["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "ENFILE"]);
/** For programs to end and for the hub to store it; then the host ends anyway. */
const ENDING_MS = 5_000;

export class Host {
  readonly #options: HostOptions;
  readonly #instance = crypto.randomUUID();
  readonly #sessions = new Map<string, CarriedSession>();
  readonly #parts = new WeakMap<HubConnection, RequestParts>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #seat: HubSeat;
  #closeWay!: () => Promise<void>;
  #unlock!: () => void;
  #sender: FrameSender | undefined;
  #idle: NodeJS.Timeout | undefined;
  #draining = false;
  /** It ends now, and waits only for the hub to acknowledge what its sessions said last. */
  #endsWithHub = false;
  #isEnding = false;

  /** Undefined: another host runs in this directory. */
  static async start(options: HostOptions): Promise<Host | undefined> {
    const spools = join(options.directory, "spool");
    await mkdir(options.directory, { mode: 0o700, recursive: true });
    const unlock = await takeInstanceLock(join(options.directory, "lock"));
    if (unlock === undefined) return undefined;
    await rm(spools, { recursive: true, force: true });
    await mkdir(spools, { mode: 0o700 });
    const host = new Host(options);
    host.#unlock = unlock;
    const isInside = (pid: number): boolean => isElsewhere(pid) || isBelow(pid, host.#processes());
    host.#closeWay = await options.way(host.#seat, isInside);
    host.#considerIdle();
    return host;
  }

  private constructor(options: HostOptions) {
    this.#options = options;
    this.#seat = new HubSeat({
      welcome: () => this.#introduction(),
      listener: {
        came: (data) => this.#hubCame(data),
        left: () => this.#hubLeft(),
        message: (message, body, from) => this.#receive(message, body, from),
      },
      deadAfterMs: options.deadAfterMs,
    });
  }

  /** Resolves when the host is over and holds nothing any more. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** `idle`: when the last session is over. `now`: the sessions are ended. Answers how many there are. */
  shutdown(when: Shutdown): number {
    const count = this.#sessions.size;
    this.#draining = true;
    if (when === "now") {
      const ends = [...this.#sessions].map(([sessionId, session]) =>
        session.handle({ type: "TERMINATE_CMD", id: 0, session_id: sessionId }, new Uint8Array(0)),
      );
      void Promise.allSettled(ends).then(() => this.#sessionsEnded());
      setTimeout(() => void this.#end(), count === 0 ? 0 : ENDING_MS).unref();
    }
    // After the answer to whoever asked.
    setImmediate(() => this.#considerIdle());
    return count;
  }

  /** The hub that is here acknowledges their last words; without one nobody will. */
  #sessionsEnded(): void {
    this.#endsWithHub = true;
    if (!this.#seat.hasHub) void this.#end();
  }

  #introduction() {
    const { hostId: host_id, guard, facts } = this.#options;
    const sessions = [...this.#sessions.keys()];
    const about = { ...(guard && { guard }), ...(facts && { facts }) };
    return { host_id, pid: process.pid, instance: this.#instance, sessions, ...about };
  }

  /** Of the sessions: what each began with, and what those that ended left behind. */
  #processes(): ReadonlySet<number> {
    return new Set([...[...this.#sessions.values()].flatMap((it) => it.processIds), ...orphans()]);
  }

  #hubCame(data: HubConnection): void {
    for (const session of this.#sessions.values()) session.detach();
    this.#sender = new FrameSender(data);
    // What an earlier hub asked for when it left; this one may want to start sessions.
    this.#draining = false;
    this.#endsWithHub = false;
    this.#options.logger.info("a hub has come", { sessions: this.#sessions.size });
    this.#considerIdle();
  }

  #hubLeft(): void {
    for (const session of this.#sessions.values()) session.detach();
    this.#sender = undefined;
    this.#options.logger.info("the hub has left", { sessions: this.#sessions.size });
    if (this.#endsWithHub) void this.#end();
    this.#considerIdle();
  }

  #receive(message: AfterHello, body: Uint8Array, from: HubConnection): void {
    if (message.type === "PING") return from.send({ type: "PONG", at: message.at });
    if (message.type === "ACK") return this.#sessions.get(message.session_id)?.acknowledge(message.order);
    this.#answer(message, body, from).then(
      (reply) => reply !== undefined && from.reply(message.id, reply),
      (error: unknown) => from.refuse(message.id, this.#failureOf(error, message)),
    );
  }

  /** Up to the session's own turn nothing here waits, so that requests stay in the order in which they came. */
  async #answer(part: HubRequest, bytes: Uint8Array, from: HubConnection): Promise<Reply | undefined> {
    const detail = "Too many requests are unfinished.";
    const flooded = (): void => from.end({ type: "ERROR", code: "framing", detail });
    const parts = this.#parts.get(from) ?? new RequestParts(flooded);
    this.#parts.set(from, parts);
    const whole = parts.add(part, bytes);
    if (whole === undefined) return undefined;
    const { request, body } = whole;
    switch (request.type) {
      case "SHUTDOWN":
        return { fields: { sessions: this.shutdown(request.when) } };
      case "START_INTERACTIVE_CMD":
        return this.#open(request);
      case "ADOPT":
        return this.#session(request.session_id).adopt(request.order, () => this.#currentSender());
      default:
        return this.#session(request.session_id).handle(request satisfies SessionRequest, body);
    }
  }

  async #open(start: StartMessage): Promise<Reply> {
    const { session_id: sessionId } = start;
    if (this.#draining) throw new AppError("host_offline", { detail: "The host is ending." });
    if (this.#sessions.has(sessionId)) throw new AppError("invalid_transition", { detail: "It runs already." });
    const carried = new CarriedSession({
      sessionId,
      spoolPath: join(this.#options.directory, "spool", sessionId),
      limits: this.#options.spoolLimits,
      onOver: () => this.#forget(sessionId),
    });
    carried.attach(0, this.#currentSender());
    this.#sessions.set(sessionId, carried);
    this.#considerIdle();
    try {
      carried.opened(await this.#options.openSession(start, (frame) => carried.emit(frame)));
      return { fields: {} };
    } catch (error) {
      carried.failed(error);
      this.#forget(sessionId);
      throw error;
    }
  }

  #session(sessionId: string): CarriedSession {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) throw new AppError("not_found", { detail: "That session does not run here." });
    return session;
  }

  #currentSender(): FrameSender {
    if (this.#sender === undefined) throw new AppError("invalid_request", { detail: "There is no data connection." });
    return this.#sender;
  }

  #failureOf(error: unknown, { type }: HubRequest): AppError {
    if (error instanceof AppError) return error;
    this.#options.logger.error("a request failed", { type, error });
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && FULL.has(code)) {
      return new AppError("storage_unavailable", { detail: `The host could not write (${code}).` }, { cause: error });
    }
    return new AppError("internal", { detail: `The host could not do ${type}.` }, { cause: error });
  }

  #forget(sessionId: string): void {
    this.#sessions.delete(sessionId);
    this.#considerIdle();
  }

  #considerIdle(): void {
    clearTimeout(this.#idle);
    if (this.#sessions.size > 0) return;
    if (this.#draining) void this.#end();
    else if (!this.#seat.hasHub && this.#options.idleMs !== Number.POSITIVE_INFINITY) {
      this.#idle = setTimeout(() => void this.#end(), this.#options.idleMs ?? IDLE_MS);
    }
  }

  async #end(): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    clearTimeout(this.#idle);
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
    await this.#closeWay().catch(() => undefined);
    this.#unlock();
    this.#ended.resolve();
  }
}
