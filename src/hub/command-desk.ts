/**
 * Commands of projects (seed 002): each has a session of its own, which ends with it. One without a terminal is waited for;
 * one on a terminal is talked to, and every answer has what its caller has not been told yet. Rules in docs/spec/commands.md.
 */
import { type Actor, SYSTEM } from "../domain/actor.ts";
import { redactText } from "../domain/redaction/redact-text.ts";
import type { CommandForm, Session } from "../domain/session.ts";
import { shownText } from "../domain/shown-text.ts";
import type { Logger } from "../lib/logger.ts";
import { Turns } from "../lib/turns.ts";
import { AppError } from "../protocol/errors.ts";
import type { Output, ParsedInput } from "../protocol/operations.ts";
import { WAIT_BUDGET_MS } from "../protocol/pty-shapes.ts";
import type { ActionDesk } from "./action-desk.ts";
import type { BlockDesk } from "./block-desk.ts";
import { CommandAnswers, type Place } from "./command-answers.ts";
import type { ControlDesk } from "./control-desk.ts";
import { throwIfLost } from "./control-loss.ts";
import type { Journal } from "./journal.ts";
import type { OpenContinuation } from "./open-continuation.ts";
import type { OutputReader } from "./output-reader.ts";
import type { PlainResults } from "./plain-result.ts";
import type { PromptReplies } from "./prompt-replies.ts";
import type { SessionDesk } from "./session-desk.ts";
import { notStarted } from "./session-refusals.ts";
import type { BlockBegun } from "./terminal-driver.ts";
import type { Condition, WaitAnswer, WaitDesk } from "./wait-desk.ts";
import type { WorkspaceDesk } from "./workspace-desk.ts";

export type CommandDeskParts = {
  readonly journal: Journal;
  readonly sessions: SessionDesk;
  readonly workspaces: WorkspaceDesk;
  readonly control: ControlDesk;
  readonly actions: ActionDesk;
  readonly openings: OpenContinuation;
  readonly replies: Pick<PromptReplies, "admit">;
  readonly blocks: BlockDesk;
  readonly waits: WaitDesk;
  readonly reader: OutputReader;
  readonly results: PlainResults;
  readonly logger: Logger;
  readonly newId: () => string;
  /** The longest that one on a terminal may run. */
  readonly lifetimeSeconds: number;
};

type Caller = { readonly actor: Actor; readonly signal: AbortSignal };
type Answer = Output<"command.wait">;
type Patience = Pick<ParsedInput<"command.wait">, "wait_ms" | "until" | "until_type" | "max_bytes">;

/** Of either form. */
type Start = {
  readonly form: CommandForm;
  readonly lifetimeMs: number;
  readonly input: Pick<ParsedInput<"command.start">, "project_id" | "command" | "cwd" | "reason"> & {
    readonly cols?: number;
    readonly rows?: number;
  };
};

type Started = {
  readonly session: Session;
  readonly begun: BlockBegun;
  readonly approved: { readonly edited?: string; readonly approval_id?: string };
};

/** From a command's last word to the record of its end. */
const ENDING_MS = 5_000;
/** Beyond its time: to be killed, and for that to be told. */
const OVERTIME_MS = 10_000;
const TITLE_LENGTH = 100;

export class CommandDesk {
  readonly #parts: CommandDeskParts;
  readonly #answers: CommandAnswers;
  /** A limit that all of them pass at once is none. */
  readonly #births = new Turns();
  /** Sessions whose command is on its way to them. */
  readonly #beginning = new Set<string>();
  /** By what is wanted: the way out of the guard that a person is asked about. */
  readonly #offers = new Map<string, Offer>();
  readonly #offering = new Turns();

  constructor(parts: CommandDeskParts) {
    this.#parts = parts;
    this.#answers = new CommandAnswers(parts);
  }

  /** What a former hub asked a person about ended with it: sessions that wait for that have nothing to do any more. */
  async start(): Promise<void> {
    const { sessions } = this.#parts;
    for (const session of sessions.list()) if (session.status !== "closed") void this.#endUnlessBegun(session);
    sessions.onTakenUp((session) => void this.#endUnlessBegun(session));
  }

  async execute(input: ParsedInput<"command.execute">, caller: Caller): Promise<Output<"command.execute">> {
    const until = AbortSignal.any([caller.signal, AbortSignal.timeout(WAIT_BUDGET_MS)]);
    const start = { form: "plain", lifetimeMs: input.timeout_ms, input } as const;
    const { session, begun, approved } = await this.#run(start, caller, until);
    const { sessionId } = session;
    await this.#waited(session, { place: begun, caller, conditions: [OVER], ms: input.timeout_ms + OVERTIME_MS });
    const end = await this.#answers.endOf(sessionId);
    if (end === undefined) throw new AppError("unknown_outcome", { session_id: sessionId });
    const { durationMs, ...how } = end;
    return {
      session_id: sessionId,
      ...how,
      ...(await this.#parts.results.read(sessionId, input.max_bytes)),
      timed_out: end.reason === "timeout",
      duration_ms: durationMs ?? 0,
      ...approved,
    };
  }

  async begin(input: ParsedInput<"command.start">, caller: Caller): Promise<Answer> {
    const patience = AbortSignal.timeout(input.wait_ms);
    const { lifetimeSeconds } = this.#parts;
    const lifetimeMs = Math.min(input.lifetime_seconds ?? lifetimeSeconds, lifetimeSeconds) * 1000;
    const start = { form: "interactive", lifetimeMs, input } as const;
    const startedAt = performance.now();
    const until = AbortSignal.any([caller.signal, patience]);
    const { session, begun, approved } = await this.#run(start, caller, until);
    // A person's time to decide counts, that of a program to start doesn't.
    const spentMs = approved.approval_id === undefined ? 0 : performance.now() - startedAt;
    const left = { ...input, wait_ms: Math.max(0, Math.ceil(input.wait_ms - spentMs)) };
    return { ...(await this.#follow(session, begun, left, caller)), ...approved };
  }

  async send(input: ParsedInput<"command.send">, caller: Caller): Promise<Answer> {
    const { actor } = caller;
    if (input.terminate) return this.terminate(input, caller);
    const { sessions, replies, actions, blocks } = this.#parts;
    const session = this.#command(input);
    const { sessionId } = session;
    if (!sessions.isOpen(sessionId)) {
      const detail = "The command is over; wait_for_command tells how it ended";
      throw new AppError("invalid_transition", { session_id: sessionId, status: "closed", detail });
    }
    const { if_prompt: ifPrompt, input_text: text, reason: says } = input;
    const kind = actor.kind === "person" && ifPrompt !== undefined ? ("assist" as const) : ("drive" as const);
    const secret = input.secret || blocks.question(sessionId)?.kind === "password";
    const notAtShell = actor.kind === "agent";
    const given = { bytes: Buffer.from(text), by: actor, class: kind, ifPrompt, secret, notAtShell };
    const asked = replies.admit(sessionId, given);
    const { position, cursor } = await actions.type({ session, input: asked, says }).catch(refuseEarly);
    blocks.noteInput(sessionId, actor.id, position);
    const told = this.#answers.toldTo(sessionId, actor);
    return this.#follow(session, { cursor: told?.cursor ?? cursor, position }, input, caller);
  }

  async wait(input: ParsedInput<"command.wait">, caller: Caller): Promise<Answer> {
    const session = this.#command(input);
    const told = this.#answers.toldTo(session.sessionId, caller.actor);
    const { from_cursor: cursor = told?.cursor ?? 0 } = input;
    return this.#follow(session, { cursor, position: told?.position ?? 0 }, input, caller);
  }

  async terminate(
    input: Omit<ParsedInput<"command.terminate">, "max_bytes"> & Pick<Patience, "max_bytes">,
    { actor }: Caller,
  ): Promise<Answer> {
    const { sessions } = this.#parts;
    const { sessionId } = this.#command(input);
    try {
      if (sessions.isOpen(sessionId)) await sessions.close(sessionId, actor, "terminated");
    } catch (error) {
      // It ended by itself meanwhile.
      if (sessions.isOpen(sessionId)) throw error;
    }
    const from = this.#answers.toldTo(sessionId, actor)?.cursor ?? 0;
    return this.#answers.tell(sessionId, actor, { from, maxBytes: input.max_bytes });
  }

  async #run(start: Start, { actor }: Caller, until: AbortSignal): Promise<Started> {
    const { sessions, openings } = this.#parts;
    const { form, input } = start;
    const session = await this.#opened(form, input, actor);
    try {
      return await this.#begun(start, { session, actor, until }, () =>
        sessions.inTerminal(session.sessionId, actor, (driver) =>
          openings.refuseRights(session, input.command, actor, driver),
        ),
      );
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "needs_open" || !openings.mayOffer(session, actor))
        throw error;
      const key = JSON.stringify([actor.id, form, input.project_id, input.cwd, input.command]);
      const offer = await this.#offering.run(key, () => this.#offered(key, start, actor));
      throw new AppError("needs_open", { ...error.details, ...offer, detail: OFFERED }, { cause: error });
    }
  }

  /** The same in an open session, bound and put before a person: once, however often it is tried. */
  async #offered(key: string, start: Start, actor: Actor): Promise<Offer> {
    const known = this.#offers.get(key);
    if (known !== undefined && this.#parts.actions.isAsked(known.session_id)) return known;
    this.#offers.delete(key);
    const session = await this.#opened(start.form, start.input, actor, { isOpen: true });
    const { sessionId: session_id } = session;
    const until = AbortSignal.abort();
    const asked = await this.#begun(start, { session, actor, until, mustAsk: true }).catch((error: unknown) => error);
    const { code, details = {} } = asked as Partial<AppError>;
    if (code !== "approval_pending") throw asked;
    const offer = { approvalId: details["requestId"] as string, session_id };
    if (this.#offers.size >= OFFERS_KEPT) this.#offers.clear();
    this.#offers.set(key, offer);
    return offer;
  }

  async #begun({ form, lifetimeMs, input }: Start, how: Beginning, check?: () => Promise<void>): Promise<Started> {
    const { actions, newId } = this.#parts;
    const { command, reason: says } = input;
    const { session, actor, until, mustAsk = false } = how;
    const { sessionId } = session;
    const onNotRun = (): void => void this.#end(sessionId);
    const runId = form === "interactive" ? newId() : undefined;
    const request = { blockId: newId(), runId, command, by: actor, lifetimeMs };
    this.#beginning.add(sessionId);
    try {
      await check?.();
      const { outcome, edited, approvalId } = await actions.run({ session, request, says, onNotRun, mustAsk }, until);
      const approved = { ...(edited && { edited }), ...(approvalId && { approval_id: approvalId }) };
      return { session, begun: outcome, approved };
    } catch (error) {
      const { code, details } = error instanceof AppError ? error : new AppError("internal");
      if (code === "approval_pending") throw new AppError(code, { ...details, session_id: sessionId, detail: ASKED });
      // It may run: then its time ends it.
      if (code !== "unknown_outcome") await this.#end(sessionId);
      throw error;
    } finally {
      this.#beginning.delete(sessionId);
    }
  }

  async #opened(form: CommandForm, input: Start["input"], by: Actor, { isOpen = false } = {}): Promise<Session> {
    const { sessions } = this.#parts;
    const { project_id: workspaceId, cwd, cols, rows } = input;
    const size = cols === undefined || rows === undefined ? undefined : { cols, rows };
    const usual = { kind: "terminal", workspaceId, interactive: false, title: titleOf(input.command) } as const;
    // Nothing runs in it unless a person says so, which is why it isn't the agent that chooses it.
    const config = isOpen ? ({ ...usual, containment: "open", ownerAgentId: by.id } as const) : usual;
    const { sessionId } = await this.#births.run(workspaceId, async () => {
      if (form === "interactive") this.#refuseOneMore(workspaceId);
      return sessions.create(config, isOpen ? SYSTEM : by, { command: form, cwd, size });
    });
    if ((await sessions.running(sessionId)) === undefined) throw notStarted(sessions.get(sessionId));
    return sessions.get(sessionId);
  }

  #refuseOneMore(workspaceId: string): void {
    const { sessions, workspaces } = this.#parts;
    const { max_interactive_commands: most } = workspaces.get(workspaceId).settings;
    const isActive = (it: Session): boolean => it.workspaceId === workspaceId && it.command === "interactive";
    const active = sessions.list().filter((it) => it.status !== "closed" && isActive(it));
    const [first] = active;
    if (first === undefined || active.length < most) return;
    const detail = `An interactive command is active in this project already: ${first.sessionId}`;
    throw new AppError("interactive_active", { session_id: first.sessionId, most, detail });
  }

  async #follow(session: Session, place: Place, input: Patience, caller: Caller): Promise<Answer> {
    const { sessionId } = session;
    const { sessions } = this.#parts;
    const conditions = [...untilOf(input), ASKS, OVER];
    let matched = false;
    if (sessions.isOpen(sessionId)) {
      matched = await this.#waited(session, { place, caller, conditions, ms: input.wait_ms });
    }
    const told = { from: place.cursor, maxBytes: input.max_bytes };
    return { ...(await this.#answers.tell(sessionId, caller.actor, told)), ...(matched && { matched }) };
  }

  /** True: what the caller waits for was seen. */
  async #waited(session: Session, { place, caller, conditions, ms }: Wait): Promise<boolean> {
    const { waits, control, sessions, blocks } = this.#parts;
    const { sessionId } = session;
    using watch = control.watch(sessionId, caller.actor);
    const signal = AbortSignal.any([caller.signal, watch.signal]);
    const end = performance.now() + ms;
    const waitFrom = (fromPosition: number) => {
      const leftMs = Math.max(0, Math.ceil(end - performance.now()));
      const from = { fromCursor: place.cursor, fromPosition };
      return waits.wait({ sessionId, conditions, ...from, timeoutMs: leftMs, budgetMs: leftMs }, signal);
    };
    let answer = await waitFrom(place.position);
    // Whoever says what they wait for is not disturbed by a guess.
    while (conditions[0] !== ASKS && isGuess(answer)) answer = await waitFrom(answer.position);
    const { which, matched } = answer;
    const seen = which === undefined ? undefined : conditions[which];
    if (!matched) throwIfLost(watch.signal, { session_id: sessionId });
    // Whoever hears of its end can start the next one.
    if (seen === OVER && sessions.isOpen(sessionId)) await blocks.over(sessionId, AbortSignal.timeout(ENDING_MS));
    return seen !== undefined && seen.type !== "token";
  }

  #command({ project_id, session_id }: { readonly project_id: string; readonly session_id: string }): Session {
    const session = this.#parts.sessions.find(session_id);
    if (session?.command !== undefined && session.workspaceId === project_id) return session;
    throw new AppError("not_found", { what: "command", id: session_id });
  }

  /** Nobody will give it a command any more, though it may have got one. */
  async #endUnlessBegun({ sessionId, command }: Session): Promise<void> {
    const { actions, blocks, sessions } = this.#parts;
    if (command === undefined || this.#beginning.has(sessionId) || actions.isAsked(sessionId)) return;
    if (blocks.last(sessionId) !== undefined) return;
    try {
      const driver = await sessions.running(sessionId);
      const { mode } = (await driver?.status(sessionId)) ?? {};
      if (mode === "idle") await this.#end(sessionId);
    } catch (error) {
      // It is looked at again when its host is back, which ends it by itself, later.
      this.#parts.logger.warn("a command's session could not be looked at", { session: sessionId, error });
    }
  }

  /** It will never have a command. */
  async #end(sessionId: string): Promise<void> {
    const { sessions, logger } = this.#parts;
    if (!sessions.isOpen(sessionId)) return;
    await sessions.close(sessionId, SYSTEM, "not_run").catch((error: unknown) => {
      if (sessions.isOpen(sessionId)) logger.warn("a session could not be ended", { session: sessionId, error });
    });
  }
}

type Offer = { readonly approvalId: string; readonly session_id: string };

type Beginning = {
  readonly session: Session;
  readonly actor: Actor;
  readonly until: AbortSignal;
  readonly mustAsk?: boolean;
};

type Wait = {
  readonly place: Place;
  readonly caller: Caller;
  readonly conditions: readonly Condition[];
  readonly ms: number;
};

const ASKS: Condition = { type: "token", token: "INPUT" };
const OVER: Condition = { type: "token", token: "EOF" };
const ASKED =
  "A person is asked; approval_wait with this requestId tells what they decide, then wait_for_command with this session_id what came of it";

const OFFERS_KEPT = 1_000;
const OFFERED =
  "It can't gain rights inside the guard; a person is asked whether it runs in an open session: approval_wait with this approvalId tells what they decide, then wait_for_command with this session_id what came of it";

/** What runs as somebody else can't be looked at: that it asks is only likely. */
function isGuess({ fact }: WaitAnswer): boolean {
  return fact?.type === "prompt" && fact.payload["confidence"] === "low";
}

/** There is no shell here that could be idle. */
function refuseEarly(error: unknown): never {
  if (!(error instanceof AppError) || error.code !== "shell_idle") throw error;
  throw new AppError("invalid_transition", { detail: "The command has not begun yet" }, { cause: error });
}

function untilOf({ until, until_type: type }: Patience): readonly Condition[] {
  if (until === undefined) return [];
  return [{ type: type === "regex" ? "regex" : "substring", match: until }];
}

function titleOf(command: string): string {
  return `command: ${shownText(redactText(command)).replaceAll(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ")}`.slice(0, TITLE_LENGTH);
}
