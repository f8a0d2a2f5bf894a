/**
 * Terminals of conversations (seed 001): one per `conversation_id`, made on first use. A command runs as one block, a
 * wait reads the tape, input goes to the gate. Rules in docs/spec/pty.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { Session } from "../domain/session.ts";
import { AppError } from "../protocol/errors.ts";
import type { Output, ParsedInput } from "../protocol/operations.ts";
import { WAIT_BUDGET_MS } from "../protocol/pty-shapes.ts";
import type { InputChoice } from "../protocol/sessions.ts";
import type { ActionDesk } from "./action-desk.ts";
import type { BlockDesk, BlockRecord } from "./block-desk.ts";
import type { ControlDesk } from "./control-desk.ts";
import { type LossFields, lossOf, throwIfLost, unlessLost } from "./control-loss.ts";
import { type Conversations, ended, noTerminal } from "./conversations.ts";
import type { OpenContinuation } from "./open-continuation.ts";
import type { OutputReader } from "./output-reader.ts";
import type { BlockBegun, BlockRequest, TerminalDriver, TerminalStatus } from "./terminal-driver.ts";
import type { PromptReplies } from "./prompt-replies.ts";
import type { SessionDesk } from "./session-desk.ts";
import { conditionsOf, waitAnswer } from "./pty-waits.ts";
import { blockOf, endOf, levelOf, placeOf, waitingOf } from "./terminal-answers.ts";
import type { WaitAnswer, WaitDesk } from "./wait-desk.ts";

export type TerminalDeskParts = {
  readonly sessions: SessionDesk;
  readonly control: ControlDesk;
  readonly actions: ActionDesk;
  readonly conversations: Conversations;
  readonly openings: OpenContinuation;
  readonly replies: Pick<PromptReplies, "admit">;
  readonly blocks: BlockDesk;
  readonly waits: WaitDesk;
  readonly reader: OutputReader;
  readonly newId: () => string;
};

type RunInput = ParsedInput<"pty.exec_block">;
type RunOutput = Output<"pty.exec_block">;
type Caller = { readonly actor: Actor; readonly signal: AbortSignal };
type ByRun = { readonly conversation_id: string; readonly session_id?: string | undefined };

/** Refusals of a shell that is no more: nothing was typed. */
const GONE: ReadonlySet<string> = new Set(["invalid_transition", "not_found"]);
/** From a shell's last word to the record of its end. */
const ENDING_MS = 2_000;

export class TerminalDesk {
  readonly #parts: TerminalDeskParts;

  constructor(parts: TerminalDeskParts) {
    this.#parts = parts;
  }

  async execBlock(input: RunInput, caller: Caller): Promise<RunOutput> {
    return this.#run(input, undefined, caller);
  }

  async execInteractive(input: RunInput, caller: Caller): Promise<Output<"pty.exec_interactive">> {
    const runId = this.#parts.newId();
    return { ...(await this.#run(input, runId, caller)), session_id: runId };
  }

  /** `shell_idle` is for agents only; a person may type wherever they like. */
  async send(
    input: ByRun & InputChoice & SendTerms,
    { actor }: Caller,
    { notAtShell = actor.kind === "agent" }: { readonly notAtShell?: boolean } = {},
  ): Promise<Output<"pty.send">> {
    const session = this.#parts.conversations.open(input.conversation_id);
    this.#refuseOtherRun(session, input.session_id);
    const { keys, if_prompt: ifPrompt } = input;
    // Whoever answers the question of a program doesn't take the stick by it.
    const kind = actor.kind === "person" && ifPrompt !== undefined ? "assist" : "drive";
    const given = { bytes: bytesOf(input), keys, by: actor, class: kind, ifPrompt, notAtShell } as const;
    const asked = this.#parts.replies.admit(session.sessionId, given);
    const { position, cursor, bytes } = await this.#parts.actions.type({ session, input: asked, says: input.reason });
    this.#parts.blocks.noteInput(session.sessionId, actor.id, position);
    return { ...placeOf(session), bytes, position, cursor };
  }

  async waitFor(input: ParsedInput<"pty.wait_for">, caller: Caller): Promise<Output<"pty.wait_for">> {
    const session = this.#parts.conversations.known(input.conversation_id);
    const { answer, lost } = await this.#wait(session, input, caller);
    const told = await waitAnswer(answer, input, this.#parts.reader, session.sessionId);
    return { ...placeOf(session), ...told, ...lost };
  }

  async expectSend(input: ParsedInput<"pty.expect_send">, caller: Caller): Promise<Output<"pty.expect_send">> {
    const session = this.#parts.conversations.open(input.conversation_id);
    const { answer, lost } = await this.#wait(session, input, caller);
    const told = await waitAnswer(answer, input, this.#parts.reader, session.sessionId);
    if (!answer.matched) return { ...placeOf(session), ...told, ...lost, sent: false };
    const if_prompt = input.if_prompt ?? told.prompt_id;
    // What was meant for a program must not be run by the shell that it left behind.
    const notAtShell = caller.actor.kind === "agent" || told.kind !== "shell";
    const { bytes, position } = await this.send({ ...input, if_prompt }, caller, { notAtShell });
    return { ...placeOf(session), ...told, position, sent: true, bytes };
  }

  async readOutput(input: ParsedInput<"pty.read_output">): Promise<Output<"pty.read_output">> {
    const { session, ...range } = await this.#rangeOf(input);
    const read = await this.#parts.reader.read(session.sessionId, range, {
      view: input.view,
      maxBytes: input.max_bytes,
    });
    return { ...placeOf(session), view: input.view, ...read };
  }

  async readScreen({ conversation_id }: ParsedInput<"pty.read_screen">): Promise<Output<"pty.read_screen">> {
    const session = this.#parts.conversations.open(conversation_id);
    const driver = await this.#parts.sessions.running(session.sessionId);
    if (driver === undefined) throw ended(session);
    const { lines, cursorRow, cursorCol, altScreen, title, size, cursor } = await driver.screen(session.sessionId);
    const place = { cursor_row: cursorRow, cursor_col: cursorCol, alt_screen: altScreen };
    return { ...placeOf(session), lines: [...lines], ...place, title, ...size, cursor };
  }

  async blocks(input: ParsedInput<"pty.blocks">): Promise<Output<"pty.blocks">> {
    const sessions = this.#parts.conversations.all(input.conversation_id);
    const newest = sessions.at(-1);
    if (newest === undefined) throw noTerminal(input.conversation_id);
    const { query, after_seq: after = -1, limit } = input;
    const all = (await Promise.all(sessions.map((it) => this.#parts.blocks.list(it.sessionId)))).flat();
    const wanted = all.filter((it) => it.seq > after && (query === undefined || it.command.includes(query)));
    return { ...placeOf(newest), blocks: wanted.slice(-limit).map(blockOf) };
  }

  async status({ conversation_id }: ParsedInput<"pty.status">): Promise<Output<"pty.status">> {
    const session = this.#parts.conversations.open(conversation_id);
    const { sessionId } = session;
    const driver = await this.#parts.sessions.running(sessionId);
    if (driver === undefined) throw ended(session);
    const before = this.#parts.blocks.last(sessionId);
    const status = await driver.status(sessionId);
    const { mode, blockId, runId } = await this.#asRecorded(sessionId, status, before);
    const { pid, shell, integration, cwd, size } = status;
    const question = this.#parts.blocks.question(sessionId);
    return {
      ...placeOf(session),
      ...levelOf(session),
      mode,
      ...(runId === undefined ? {} : { active_session_id: runId }),
      ...(blockId === undefined ? {} : { active_block_id: blockId }),
      ...(pid === undefined ? {} : { pid }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(question === undefined || mode === "idle" ? {} : { waiting: waitingOf(question) }),
      shell_id: sessionId,
      shell,
      integration,
      ...size,
      ...(await this.#here(sessionId)),
    };
  }

  /** A host's answer may be here before its frames: a block without its end runs, for whoever reads its output next. */
  async #asRecorded(sessionId: string, status: TerminalStatus, before: BlockRecord | undefined) {
    if (status.mode !== "idle") return status;
    const open = await this.#parts.blocks.ended(sessionId, before, AbortSignal.timeout(ENDING_MS));
    if (open === undefined) return status;
    const { blockId, runId } = open;
    return { mode: runId === undefined ? "block_running" : "interactive", blockId, runId } as const;
  }

  async endSession(input: ByRun, { actor }: Caller): Promise<Output<"pty.end_session">> {
    const session = this.#parts.conversations.open(input.conversation_id);
    const { sessionId } = session;
    if (!this.#isOver(sessionId, input.session_id)) {
      this.#refuseOtherRun(session, input.session_id);
      using watch = this.#parts.control.watch(sessionId, actor);
      const end = (driver: TerminalDriver) => driver.endRun(sessionId, input.session_id, actor);
      await unlessLost(this.#parts.sessions.inTerminal(sessionId, actor, end), watch.signal, placeOf(session));
      const last = this.#parts.blocks.last(sessionId);
      if (last !== undefined) await this.#parts.blocks.settled(sessionId, last, AbortSignal.timeout(ENDING_MS));
      // The host may answer before the loss is known here that ended it.
      const endedAt = this.#parts.blocks.last(sessionId)?.end?.position ?? Number.POSITIVE_INFINITY;
      if (endedAt >= this.#lostAt(sessionId, actor)) throwIfLost(watch.signal, placeOf(session));
    }
    const exitCode = this.#parts.blocks.last(sessionId)?.end?.exitCode;
    return {
      ...placeOf(session),
      ...(exitCode === undefined ? {} : { exit_code: exitCode }),
      ...(await this.#here(sessionId)),
    };
  }

  async reset({ conversation_id }: ByRun, { actor }: Caller): Promise<Output<"pty.reset">> {
    const session = this.#parts.conversations.open(conversation_id);
    const { sessionId } = session;
    await this.#parts.sessions.inTerminal(sessionId, actor, (it) => it.respawn(sessionId, actor));
    return { ...placeOf(session), ...(await this.#here(sessionId)) };
  }

  async resize(input: ParsedInput<"pty.resize">, { actor }: Caller): Promise<Output<"pty.resize">> {
    const session = this.#parts.conversations.open(input.conversation_id);
    const { cols, rows } = input;
    await this.#parts.sessions.resize(session.sessionId, { cols, rows }, actor);
    return { ...placeOf(session), cols, rows };
  }

  async #run(input: RunInput, runId: string | undefined, caller: Caller): Promise<RunOutput> {
    const { command, cwd } = input;
    const blockId = this.#parts.newId();
    const request = { blockId, runId, command, cwd, by: caller.actor };
    const patience = AbortSignal.timeout(input.wait_ms);
    const asking = { ...input, until: AbortSignal.any([caller.signal, patience]) };
    const { session, begun, ...approved } = await this.#begin(asking, request, { isLast: false });
    this.#parts.blocks.noteInput(session.sessionId, caller.actor.id, begun.position);
    const told = { ...placeOf(session), block_id: blockId, seq: begun.seq, ts_begin: begun.beganAt, ...approved };
    const place = { cursor: begun.cursor, position: begun.position };
    if (input.wait_ms === 0) {
      // Whoever names the run in the next call must find it.
      await this.#parts.blocks.begun(session.sessionId, begun.position, AbortSignal.timeout(ENDING_MS));
      return { ...told, ...place };
    }
    using watch = this.#parts.control.watch(session.sessionId, caller.actor);
    // A person's time to decide counts, a shell's to start doesn't.
    const left = approved.approval_id === undefined ? AbortSignal.timeout(input.wait_ms) : patience;
    const until = AbortSignal.any([caller.signal, watch.signal, left]);
    const { seen, endedAt } = await this.#outcome(
      session,
      { blockId, ...begun },
      { max_bytes: input.max_bytes, until },
    );
    // What came to its end is told; what the loss ended, or goes on without the agent, is not its business any more.
    const isLost = seen.pending === true || (endedAt ?? 0) > this.#lostAt(session.sessionId, caller.actor);
    if (isLost) throwIfLost(watch.signal, { block_id: blockId, ...place });
    return { ...told, ...place, ...seen };
  }

  /** The shell may just have ended, by `exit` in the last command: then the next terminal runs it. */
  async #begin(
    input: RunInput & { readonly until: AbortSignal },
    request: BlockRequest,
    { isLast }: { readonly isLast: boolean },
  ): Promise<Begun> {
    const { blocks, sessions, openings, actions } = this.#parts;
    await openings.settled(input.conversation_id);
    const { conversation_id, workspace_id, cols, rows } = input;
    const session = await this.#parts.conversations.openOrCreate(conversation_id, request.by, workspace_id);
    const { sessionId } = session;
    try {
      if (cols !== undefined && rows !== undefined) await sessions.resize(sessionId, { cols, rows }, request.by);
      await sessions.inTerminal(sessionId, request.by, (driver) =>
        openings.refuseRights(session, request.command, request.by, driver),
      );
      const wish = { session, request, says: input.reason };
      const { outcome, edited, approvalId } = await actions.run(wish, input.until);
      return { session, begun: outcome, ...(edited && { edited }), ...(approvalId && { approval_id: approvalId }) };
    } catch (error) {
      // What a person was asked about is not done elsewhere.
      const isGone = error instanceof AppError && GONE.has(error.code) && error.details["requestId"] === undefined;
      if (!isGone || isLast) throw error;
      if (sessions.isOpen(sessionId)) await blocks.over(sessionId, AbortSignal.timeout(ENDING_MS));
      if (sessions.isOpen(sessionId)) throw error;
      return this.#begin(input, request, { isLast: true });
    }
  }

  /** What is known of a block at its end, or when its program asks, or when the caller's time is up. */
  async #outcome(
    { sessionId }: Session,
    block: BlockBegun & { readonly blockId: string },
    input: { readonly max_bytes: number; readonly until: AbortSignal },
  ): Promise<{ readonly seen: Partial<RunOutput>; readonly endedAt?: number }> {
    const { blocks, reader } = this.#parts;
    await blocks.settled(sessionId, block, input.until);
    const record = await this.#block(sessionId, block.blockId);
    const end = record?.end;
    const question = blocks.question(sessionId);
    const to = end?.cursor ?? (await reader.size(sessionId));
    const { data, omitted_bytes, redacted } = await reader.read(
      sessionId,
      { from: block.cursor, to },
      { view: "text", maxBytes: input.max_bytes },
    );
    const shown = { output: data, omitted_bytes, redacted, end_cursor: to };
    if (end !== undefined) return { seen: { ...shown, ...endOf(end) }, endedAt: end.position };
    const waits = question !== undefined && question.position > block.position;
    return { seen: { ...shown, ...(waits ? { waiting: waitingOf(question) } : { pending: true }) } };
  }

  /** A closed session's blocks are in the log only. */
  async #block(sessionId: string, blockId: string): Promise<BlockRecord | undefined> {
    const last = this.#parts.blocks.last(sessionId);
    if (last?.blockId === blockId) return last;
    return (await this.#parts.blocks.list(sessionId)).find((it) => it.blockId === blockId);
  }

  async #wait(session: Session, input: WaitInput, { actor, signal: caller }: Caller): Promise<Waited> {
    const { sessionId } = session;
    const { blocks, waits, control } = this.#parts;
    using watch = control.watch(sessionId, actor);
    const signal = AbortSignal.any([caller, watch.signal]);
    const block = blocks.last(sessionId);
    const runId = input.session_id ?? block?.runId;
    const answer = await waits.wait(
      {
        sessionId,
        conditions: conditionsOf(input),
        fromCursor: input.from_cursor ?? block?.cursor ?? 0,
        fromPosition: input.from_position ?? this.#sinceInput(session, input, actor),
        timeoutMs: input.timeout_ms,
        budgetMs: WAIT_BUDGET_MS,
        ...(input.max_bytes === undefined ? {} : { maxBytes: input.max_bytes }),
        ...(runId === undefined ? {} : { runId }),
      },
      signal,
    );
    return { answer, lost: answer.reason === "revoked" ? lossOf(watch.signal) : {} };
  }

  /** After the caller's last input; without a cursor also after the block began, whoever started it. */
  #sinceInput({ sessionId }: Session, { from_cursor: cursor }: WaitInput, actor: Actor): number {
    const { blocks } = this.#parts;
    const begun = cursor === undefined ? (blocks.last(sessionId)?.position ?? 0) : 0;
    return Math.max(begun, blocks.lastInput(sessionId, actor.id));
  }

  async #rangeOf(input: ParsedInput<"pty.read_output">) {
    if (input.block_id !== undefined) {
      const { session, from, to } = await this.#rangeOfBlock(input.conversation_id, input.block_id);
      return { session, from: Math.max(from, input.from_cursor ?? 0), to: Math.min(to, input.to_cursor ?? to) };
    }
    const session = this.#parts.conversations.known(input.conversation_id);
    const { sessionId } = session;
    const size = await this.#parts.reader.size(sessionId);
    const from = input.from_cursor ?? this.#parts.blocks.last(sessionId)?.cursor ?? 0;
    return { session, from, to: Math.min(input.to_cursor ?? size, size) };
  }

  /** In whichever of the conversation's terminals it ran. */
  async #rangeOfBlock(conversationId: string, blockId: string) {
    for (const session of this.#parts.conversations.all(conversationId).toReversed()) {
      const block = await this.#block(session.sessionId, blockId);
      if (block === undefined) continue;
      const to = block.end?.cursor ?? (await this.#parts.reader.size(session.sessionId));
      return { session, from: block.cursor, to };
    }
    throw new AppError("not_found", { what: "block", id: blockId });
  }

  /** The position of the agent's last loss of control. */
  #lostAt(sessionId: string, { id }: Actor): number {
    return this.#parts.control.lostAt(sessionId, id)?.position ?? Number.POSITIVE_INFINITY;
  }

  async #here(sessionId: string): Promise<{ readonly cursor: number; readonly position: number }> {
    return this.#parts.reader.here(sessionId);
  }

  #isOver(sessionId: string, runId: string | undefined): boolean {
    const last = this.#parts.blocks.last(sessionId);
    return runId !== undefined && last?.runId === runId && last.end !== undefined;
  }

  #refuseOtherRun({ sessionId }: Session, runId: string | undefined): void {
    const last = this.#parts.blocks.last(sessionId);
    if (runId === undefined || (last?.runId === runId && last.end === undefined)) return;
    throw new AppError("not_found", { what: "interactive run", id: runId, detail: "That interactive run is over" });
  }
}

/** How a person is asked, should policy say so. */
type SendTerms = {
  readonly if_prompt?: string | undefined;
  readonly reason?: string | undefined;
};

type Begun = {
  readonly session: Session;
  readonly begun: BlockBegun;
  readonly edited?: string;
  readonly approval_id?: string;
};

type Waited = { readonly answer: WaitAnswer; readonly lost: LossFields };

type WaitInput = Pick<
  ParsedInput<"pty.wait_for">,
  | "conditions"
  | "from_cursor"
  | "from_position"
  | "idle_ms"
  | "match"
  | "match_type"
  | "max_bytes"
  | "session_id"
  | "timeout_ms"
>;

export function bytesOf({ data, data_b64 }: InputChoice): Uint8Array {
  return data === undefined ? Buffer.from(data_b64 ?? "", "base64") : Buffer.from(data);
}
