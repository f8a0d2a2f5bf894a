/**
 * The only way into a session's device. It takes each number once, in turn, lets in only whoever has the stick at that
 * moment, and tells who put what in. Rules PTY-15..PTY-19 in docs/spec/terminal.md, CTL-14..CTL-26 in
 * docs/spec/control.md.
 */
import type { Actor } from "../domain/actor.ts";
import type { JsonObject } from "../domain/event.ts";
import { redactText } from "../domain/redaction/redact-text.ts";
import type { InputClass } from "../domain/session-frame.ts";
import { AppError } from "../protocol/errors.ts";
import type { Stick } from "./stick.ts";

export type Claim = {
  readonly by: Actor;
  readonly epoch?: number | undefined;
  readonly number: number;
};

export type GatedInput = {
  readonly bytes: Uint8Array;
  readonly class: InputClass;
  readonly ifPrompt?: string | undefined;
  readonly notAtShell?: boolean | undefined;
  readonly secret?: boolean | undefined;
};

/** `reply`: what a terminal says by itself. */
type TakenAs = InputClass | "reply";
type TakenInput = Omit<GatedInput, "class"> & { readonly class: TakenAs };

/** What the gate asks and tells of the device behind it. */
export interface GateDevice {
  /** Once `covered` says no, what the device has not taken yet is dropped. */
  write(bytes: Uint8Array, covered?: () => boolean): void;
  /** Bytes written that the device has not taken. */
  readonly waiting: number;
  /** Where its output stands. */
  readonly cursor: number;
  readonly atShell: boolean;
  /**
   * `hidden`: nothing typed now is shown. `secretLine`: a line that nobody may see is read now. `focus`: a program wants
   * to be told who looks.
   */
  modes(): { readonly hidden: boolean; readonly secretLine: boolean; readonly focus: boolean };
  /** Asks the device itself, now. */
  promptStands(promptId: string): Promise<boolean>;
  /** Records an input; answers its place. */
  record(payload: JsonObject, by: Actor): number;
  /** Something goes in that isn't an emulator's reply: whatever waited is answered. */
  entered(bytes: Uint8Array, by: Actor): void;
  /** Before an actor's bytes go in. */
  taken(input: { readonly bytes: Uint8Array; readonly secret: boolean }): void;
}

export type Admitted = {
  readonly position: number;
  /** Where the output stood. */
  readonly cursor: number;
  /** How many went in: keys are counted as what they send. */
  readonly bytes: number;
  readonly waiting: number;
};

/** The turn is over when this exists; `answer` may take longer. */
export type Begun<T> = { readonly answer: T | Promise<T> };
/** After a wait `recheck` throws if control has changed hands meanwhile. */
type Act<T> = (recheck: () => void) => Promise<Begun<T>> | Begun<T>;

export class Gate {
  readonly #device: GateDevice;
  readonly #stick: Stick;
  readonly #answers = new Map<number, Promise<unknown>>();
  #turn: Promise<unknown> = Promise.resolve();
  #number = 0;
  /** Numbers up to this one are no longer known one by one. */
  #forgotten = 0;
  #inputs = 0;

  constructor(device: GateDevice, stick: Stick) {
    this.#device = device;
    this.#stick = stick;
  }

  /** The largest number taken. */
  get number(): number {
    return this.#number;
  }

  /** How often something went in; a prompt that was asked before the last one is answered or gone. */
  get inputs(): number {
    return this.#inputs;
  }

  /** One at a time, each number once: a repeat gets the first answer, whatever it was. */
  take<T>(claim: Claim, act: Act<T>, drives = true): Promise<T> {
    const known = this.#answers.get(claim.number);
    if (known !== undefined) return known as Promise<T>;
    if (claim.number <= this.#forgotten)
      return Promise.reject(new AppError("unknown_outcome", { number: claim.number }));
    // Not the largest alone counts: a stop comes on a way of its own and overtakes.
    this.#number = Math.max(this.#number, claim.number);
    // A person waits for nobody's turn to get the stick; their bytes wait for theirs.
    if (drives && claim.by.kind !== "agent") this.#stick.admit(claim.by);
    const answer = this.inTurn(claim, act, drives);
    this.#remember(claim.number, answer);
    return answer;
  }

  /** For what was taken and had to wait: a turn of its own, under the same epoch. */
  async inTurn<T>(claim: Claim, act: Act<T>, drives = true): Promise<T> {
    const begun = this.#turn.then(() => {
      if (drives) this.#stick.admit(claim.by, claim.epoch);
      const { epoch } = this.#stick;
      return act(() => drives && this.#stick.admit(claim.by, epoch));
    });
    this.#turn = begun.catch(() => undefined);
    const { answer } = await begun;
    return answer;
  }

  input(claim: Claim, asked: GatedInput): Promise<Admitted> {
    // Whoever is sure to be refused takes the stick from nobody.
    if (claim.by.kind === "person" && asked.notAtShell === true && this.#device.atShell)
      return this.take(claim, () => Promise.reject(new AppError("shell_idle")), false);
    const input = { ...asked, class: this.#classOf(asked, claim) };
    const drives = input.class === "drive";
    const act = async (recheck: () => void): Promise<Begun<Admitted>> => {
      await this.#check(input);
      recheck();
      return { answer: this.#admit(claim, input) };
    };
    return this.take(claim, act, drives);
  }

  /** Input of ours that is part of a request already taken: a command, a step of ending. */
  put(bytes: Uint8Array, by: Actor): void {
    const { epoch } = this.#stick;
    this.#inputs += 1;
    this.#device.entered(bytes, by);
    this.#device.write(bytes, by.kind === "agent" ? () => this.#stick.covers(epoch) : undefined);
  }

  /** An emulator's answer to a program: no input of anybody. */
  reply(bytes: Uint8Array): void {
    this.#device.write(bytes);
  }

  /** Only a person's answer to a named prompt assists; what a person's terminal says by itself is nobody's input. */
  #classOf(input: GatedInput, { by }: Claim): TakenAs {
    // Whatever an agent calls its input, it needs the stick for it.
    if (by.kind !== "person") return "drive";
    if (isFocusReport(input.bytes) && this.#device.modes().focus) return "reply";
    return input.class === "assist" && input.ifPrompt !== undefined ? "assist" : "drive";
  }

  #admit(claim: Claim, input: TakenInput): Admitted {
    if (input.class === "reply") {
      this.reply(input.bytes);
      return { position: 0, cursor: this.#device.cursor, bytes: input.bytes.length, waiting: this.#device.waiting };
    }
    const modes = this.#device.modes();
    const secret = input.secret === true || (modes.secretLine && claim.by.kind === "person");
    const text = secret || modes.hidden ? undefined : shownText(input.bytes);
    const payload = { bytes: input.bytes.length, epoch: this.#stick.epoch, class: input.class, number: claim.number };
    const { cursor } = this.#device;
    const position = this.#device.record(text === undefined ? payload : { ...payload, text }, claim.by);
    this.#device.taken({ bytes: input.bytes, secret });
    this.put(input.bytes, claim.by);
    return { position, cursor, bytes: input.bytes.length, waiting: this.#device.waiting };
  }

  async #check(input: TakenInput): Promise<void> {
    if (this.#device.waiting + input.bytes.length > WAITING_MAX) {
      throw new AppError("limit_reached", {
        detail: "The program does not read its input",
        waiting: this.#device.waiting,
      });
    }
    if (input.notAtShell === true && this.#device.atShell) throw new AppError("shell_idle");
    if (input.ifPrompt !== undefined && !(await this.#device.promptStands(input.ifPrompt))) {
      throw new AppError("prompt_gone", { prompt_id: input.ifPrompt });
    }
  }

  #remember(number: number, answer: Promise<unknown>): void {
    answer.catch(() => undefined);
    this.#answers.set(number, answer);
    const oldest = this.#answers.keys().next();
    if (this.#answers.size <= ANSWERS_KEPT || oldest.done === true) return;
    this.#answers.delete(oldest.value);
    this.#forgotten = Math.max(this.#forgotten, oldest.value);
  }
}

const ANSWERS_KEPT = 1_000;
const TEXT_MAX = 4_096;
/** A program that doesn't read must not fill our memory. */
const WAITING_MAX = 16 * 1024 * 1024;

const FOCUS_REPORTS = ["\u001B[I", "\u001B[O"];

/** One or more of them, and nothing else. */
function isFocusReport(bytes: Uint8Array): boolean {
  if (bytes.length === 0 || bytes.length > 60) return false;
  const text = Buffer.from(bytes).toString("latin1");
  return FOCUS_REPORTS.reduce((rest, report) => rest.replaceAll(report, ""), text) === "";
}

function shownText(bytes: Uint8Array): string | undefined {
  if (bytes.length > TEXT_MAX) return undefined;
  try {
    return redactText(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof TypeError) return undefined; // no text
    throw error;
  }
}
