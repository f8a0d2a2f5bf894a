/**
 * From what an agent wants to what would be done: judged by policy and, where a person is to be asked, bound to all that it
 * would meet. Rules APR-9..APR-12.
 */
import { setTimeout as later } from "node:timers/promises";
import type { ActionKind, Action, Circumstances } from "../domain/policy/action.ts";
import type { Actor } from "../domain/actor.ts";
import type { Json, JsonObject } from "../domain/event.ts";
import { presented } from "../domain/policy/present.ts";
import { possibleActions, type Typed, typedAction } from "../domain/policy/typed.ts";
import type { Verdict } from "../domain/policy/verdict.ts";
import type { Session } from "../domain/session.ts";
import { AppError } from "../protocol/errors.ts";
import type { BlockDesk } from "./block-desk.ts";
import type { CircumstancesOf } from "./circumstances.ts";
import type { ControlDesk } from "./control-desk.ts";
import type { DriverInput, InputTaken } from "./ports.ts";
import type { BlockBegun, BlockRequest, TerminalDriver, TerminalStatus } from "./terminal-driver.ts";
import type { SessionDesk } from "./session-desk.ts";

export type ActionPlansParts = {
  readonly sessions: SessionDesk;
  readonly control: ControlDesk;
  readonly blocks: BlockDesk;
  readonly circumstances: CircumstancesOf;
  readonly judge: (action: Action, circumstances: Circumstances, by: Actor) => Verdict;
  /** Of what applies to a workspace now. */
  readonly policyVersion: (workspaceId: string) => string;
};

/** What can be done at once. */
export type Ready<T> = { readonly decision: "auto"; readonly run: () => Promise<T> };

/** What a person is to be asked about: this and nothing else is done if they approve. */
export type Plan<T> = {
  readonly decision: "ask";
  readonly action: ActionKind;
  readonly verdict: Verdict;
  readonly epoch: number;
  /** All that must be the same when it is done. */
  readonly facts: { readonly [name: string]: Json };
  readonly shown: JsonObject;
  /** Recorded when it is taken up. */
  readonly names: JsonObject;
  /** Recorded when it is done. */
  readonly tell: (done: T) => JsonObject;
  readonly run: () => Promise<T>;
};

export type Wish = {
  readonly session: Session;
  /** The agent's own words. */
  readonly says?: string | undefined;
};

export type CommandWish = Wish & {
  readonly request: BlockRequest;
  /** A person is asked, whatever policy says. */
  readonly mustAsk?: boolean;
  /** Called when a person was asked and it will never run. */
  readonly onNotRun?: (() => void) | undefined;
};
export type InputWish = Wish & { readonly input: DriverInput };

export class ActionPlans {
  readonly #parts: ActionPlansParts;

  constructor(parts: ActionPlansParts) {
    this.#parts = parts;
  }

  /** Throws `policy_denied`. */
  async command(wish: CommandWish): Promise<Ready<BlockBegun> | Plan<BlockBegun>> {
    const { session, request } = wish;
    if (wish.mustAsk === true) return this.boundCommand(wish);
    const isJudged = request.by.kind === "agent";
    const verdict = isJudged ? await this.#judged(session, request) : undefined;
    if (verdict?.decision === "ask") return this.#bound(wish, verdict);
    return { decision: "auto", run: () => this.#run(session, request) };
  }

  async refuseDenied({ session, request }: CommandWish): Promise<void> {
    await this.#judged(session, request);
  }

  /** Also what policy would let pass is bound: a person decides about it. */
  async boundCommand(wish: CommandWish): Promise<Plan<BlockBegun>> {
    return this.#bound(wish, await this.#judged(wish.session, wish.request));
  }

  async #bound({ session, request, says }: CommandWish, verdict: Verdict): Promise<Plan<BlockBegun>> {
    const { sessionId } = session;
    const { programs, scripts } = verdict;
    const terms = { programs, scripts, cwd: request.cwd, by: request.by };
    const bound = await this.#parts.sessions.inTerminal(sessionId, request.by, (it) => it.prepare(sessionId, terms));
    const { epoch, digest, cwd, resolved, unbound } = bound;
    const { command, blockId, runId, lifetimeMs } = request;
    const kind = kindOf(session, request);
    const place = { cwd, resolved, unbound, conversationId: session.conversationId };
    return {
      decision: "ask",
      action: actionOf(session, command).kind,
      verdict,
      epoch,
      facts: { kind, bytes: command, cwd, host: digest, lifetime: lifetimeMs ?? null },
      shown: presented({ command, verdict, ...place, agentSays: says }),
      names: { blockId, ...(runId !== undefined && { runId }) },
      tell: ({ seq, cursor, position, beganAt }) => ({ seq, cursor, position, beganAt }),
      run: async () => {
        this.#refuseOldPolicy(session, verdict);
        return this.#run(session, { ...request, epoch, bound: { programs, scripts, digest } });
      },
    };
  }

  #run({ sessionId }: Session, request: BlockRequest): Promise<BlockBegun> {
    return this.#parts.sessions.inTerminal(sessionId, request.by, (driver) => driver.run(sessionId, request));
  }

  /** Throws `policy_denied`, and for what would be asked about `control_refused` and `shell_idle`. */
  async input(wish: InputWish): Promise<Ready<InputTaken> | Plan<InputTaken>> {
    const { session, input } = wish;
    const { sessionId } = session;
    const run = () => this.#parts.sessions.input(sessionId, input);
    if (input.by.kind !== "agent" || isInterrupt(input) || session.kind !== "terminal")
      return { decision: "auto", run };
    const typed = { text: textOf(input), keys: input.keys?.length };
    const offhand = this.#parts.circumstances.offhand(session);
    const isHarmless = possibleActions(typed).every(
      (it) => this.#parts.judge(it, offhand, input.by).decision === "auto",
    );
    // Keys must not wait for a question to the host.
    if (isHarmless) return { decision: "auto", run };
    return this.#judgedInput(wish, typed, TRIES);
  }

  async #judgedInput(wish: InputWish, typed: Typed, tries: number): Promise<Ready<InputTaken> | Plan<InputTaken>> {
    const { session, input } = wish;
    const driver = await this.#running(session);
    const circumstances = await this.#parts.circumstances.of(session, driver);
    const { action, foreground, mode } = await this.#actionOf(typed, driver, session.sessionId);
    const verdict = this.#judge(action, circumstances, input.by);
    const { programs = [], waits } = foreground ?? {};
    if (verdict.decision === "ask") {
      // Nobody is asked about what would be refused anyway.
      this.#parts.control.refuseUnlessDriving(session.sessionId, input.by);
      if (input.notAtShell === true && mode === "idle") throw new AppError("shell_idle");
      return this.#inputPlan(wish, { action, verdict, program: programs.join(", ") });
    }
    if (waits === undefined || action.kind === "opaque_send")
      return { decision: "auto", run: () => this.#parts.sessions.input(session.sessionId, input) };
    const rejudge = async (): Promise<InputTaken> => {
      const again = await this.#judgedInput(wish, typed, tries - 1);
      if (again.decision === "auto") return again.run();
      throw new AppError("busy", { detail: "The program went on before it could be typed; look, and send it again" });
    };
    return { decision: "auto", run: () => this.#answered(wish, waits.promptId, tries > 1 ? rejudge : undefined) };
  }

  /** A program that has just begun, or been answered, is given a moment to come to its next question. */
  async #actionOf(typed: Typed, driver: TerminalDriver, sessionId: string): Promise<Read> {
    for (let looks = 1; ; looks += 1) {
      const { foreground, mode } = await driver.status(sessionId);
      const reader = { programs: [], atEmptyPrompt: false, ...foreground, waitsFor: foreground?.waits?.for };
      const action = typedAction(typed, reader);
      const mayChange = foreground !== undefined && foreground.waits === undefined && action.kind === "opaque_send";
      const isHopeless = typedAction(typed, { ...reader, waitsFor: "line" }).kind === "opaque_send";
      if (!mayChange || looks >= (isHopeless ? HOPELESS_LOOKS_MAX : LOOKS_MAX)) return { action, foreground, mode };
      await later(LOOK_AGAIN_MS);
    }
  }

  /** Only while the question stands for which it was judged: the next one may be a shell's. */
  async #answered(
    { session, input }: InputWish,
    promptId: string,
    rejudge: (() => Promise<InputTaken>) | undefined,
  ): Promise<InputTaken> {
    if (input.ifPrompt !== undefined && input.ifPrompt !== promptId)
      throw new AppError("prompt_gone", { prompt_id: input.ifPrompt });
    try {
      return await this.#parts.sessions.input(session.sessionId, { ...input, ifPrompt: promptId });
    } catch (error) {
      const isGone = error instanceof AppError && error.code === "prompt_gone";
      if (!isGone || input.ifPrompt !== undefined || rejudge === undefined) throw error;
      return rejudge();
    }
  }

  #inputPlan({ session, input, says }: InputWish, { action, verdict, program }: Judged): Plan<InputTaken> {
    const { sessionId } = session;
    const { epoch } = this.#parts.control.state(sessionId);
    // What is typed where nothing is shown is for nobody's eyes, nor are the parts that it was judged by.
    const isHidden = input.secret === true || this.#parts.blocks.question(sessionId)?.kind === "password";
    const shownVerdict = isHidden ? { ...verdict, parts: [], touches: [] } : verdict;
    const bytes = Buffer.from(input.bytes).toString("base64");
    const text = isHidden ? `(${input.bytes.length} bytes, hidden)` : (textOf(input) ?? (input.keys ?? []).join(" "));
    const unbound = [{ what: "program", reason: "what a program does with what is typed can't be known" }];
    const terms = { keys: [...(input.keys ?? [])], ifPrompt: input.ifPrompt ?? null, program };
    const { conversationId } = session;
    return {
      decision: "ask",
      action: action.kind,
      verdict,
      epoch,
      facts: { kind: action.kind, bytes, ...terms },
      shown: presented({
        command: text,
        verdict: shownVerdict,
        unbound,
        agentSays: says,
        conversationId,
        program: program || undefined,
      }),
      names: {},
      tell: ({ cursor, position }) => ({ cursor, position }),
      run: async () => {
        this.#refuseOldPolicy(session, verdict);
        return this.#typed(session, { ...input, epoch }, program);
      },
    };
  }

  /** Only for the program that it was meant for. */
  async #typed(session: Session, input: DriverInput, program: string): Promise<InputTaken> {
    const { foreground } = await (await this.#running(session)).status(session.sessionId);
    if ((foreground?.programs ?? []).join(", ") !== program)
      throw new AppError("approval_stale", { changed: ["program"] });
    return this.#parts.sessions.input(session.sessionId, input);
  }

  #refuseOldPolicy({ workspaceId }: Session, { policyVersion }: Verdict): void {
    if (this.#parts.policyVersion(workspaceId) === policyVersion) return;
    throw new AppError("approval_stale", { changed: ["policy"] });
  }

  async #judged(session: Session, { command, cwd, by }: BlockRequest): Promise<Verdict> {
    const driver = await this.#running(session);
    const circumstances = await this.#parts.circumstances.of(session, driver, cwd);
    return this.#judge(actionOf(session, command), circumstances, by);
  }

  #judge(action: Action, circumstances: Circumstances, by: Actor): Verdict {
    const verdict = this.#parts.judge(action, circumstances, by);
    if (verdict.decision !== "deny") return verdict;
    const { rule, riskLevel, reason } = verdict;
    throw new AppError("policy_denied", { rule, riskLevel, reason, detail: `Policy denies it: ${reason}` });
  }

  async #running({ sessionId, status }: Session): Promise<TerminalDriver> {
    const driver = await this.#parts.sessions.running(sessionId);
    if (driver === undefined) throw new AppError("invalid_transition", { status, detail: "The session is closed" });
    return driver;
  }
}

function actionOf({ command: form }: Session, text: string): Action {
  return { kind: form === undefined ? "exec" : "remote_command", text };
}

function kindOf({ command: form }: Session, { runId }: BlockRequest): string {
  if (form !== undefined) return form === "plain" ? "execute_command" : "start_interactive_command";
  return runId === undefined ? "exec_block" : "exec_interactive";
}

/** `program`: all in front, empty where nobody is. */
type Judged = { readonly action: Action; readonly verdict: Verdict; readonly program: string };
type Read = Pick<TerminalStatus, "foreground" | "mode"> & { readonly action: Action };

const LOOK_AGAIN_MS = 20;
/**
 * How often a program that doesn't wait yet is looked at before what is typed counts as typed ahead: 1.5 s. By looks, not by a clock:
 * when we stood still ourselves, it may have come to its question meanwhile.
 */
const LOOKS_MAX = 1_500 / LOOK_AGAIN_MS;
/** Where no question of those in front could make it harmless, as of a shell: it may be the one that has yet to become its program. */
const HOPELESS_LOOKS_MAX = 1_000 / LOOK_AGAIN_MS;
/** A program that asks anew again and again while one types. */
const TRIES = 5;

/** Interrupting is always allowed to whoever may type at all. */
function isInterrupt({ keys }: DriverInput): boolean {
  return keys?.length === 1 && keys[0] === "C-c";
}

/** Undefined: what is typed isn't text. */
function textOf({ bytes, keys }: DriverInput): string | undefined {
  if (keys !== undefined) return undefined;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
