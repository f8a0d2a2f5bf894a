/**
 * What an agent has going in a shell when it no longer drives: its input that nobody has read is dropped, but a command
 * that the shell runs for it goes on, and what that starts is the agent's, whoever drives. Rules STP-5 and STP-7 in
 * docs/spec/stopping.md.
 */
import type { Actor } from "../../domain/actor.ts";
import { bootTimeMs } from "./boot-clock.ts";
import { bounded, holds } from "./periods.ts";
import type { ProcessStat } from "./probe/processes.ts";
import { reserve } from "./reserve.ts";
import type { ShellProcess } from "./shell-process.ts";
import type { Period } from "./stop-order.ts";

export type AgentWorkOptions = {
  readonly shell: () => ShellProcess;
  /** When an agent had control. */
  readonly driven: () => readonly Period[];
  /** The shell waits for a command, by the kernel's word too. */
  readonly isIdle: () => boolean;
};

export class AgentWork {
  readonly #options: AgentWorkOptions;
  /** What the last loss of control dropped. */
  dropped = { inputs: 0, bytes: 0 };
  /** Who entered what the shell runs: the first line since its last prompt, else what was typed ahead before that. */
  #first: Actor["kind"] | undefined;
  #last: Actor["kind"] | undefined;
  /** Since when a command of an agent's runs that no longer drives. */
  #since: number | undefined;
  #past: readonly Period[] = [];

  constructor(options: AgentWorkOptions) {
    this.#options = options;
  }

  /** The shell's command, if it runs one, is an agent's. */
  get isCommand(): boolean {
    return (this.#first ?? this.#last) === "agent";
  }

  /** What is in front does what an agent has typed: the shell's command, or the last line into what a person started. */
  get isInFront(): boolean {
    return this.isCommand || this.#last === "agent";
  }

  /** When an agent had control, or the shell still ran a command of one that had lost it. */
  get times(): readonly Period[] {
    const present = this.#since === undefined ? [] : [{ from: this.#since }];
    return [...this.#options.driven(), ...this.#past, ...present];
  }

  /** A child of the shell's, by when it began. */
  hasStarted({ startedAt }: Pick<ProcessStat, "startedAt">): boolean {
    return this.times.some((period) => holds(period, startedAt));
  }

  /** Whatever key an agent presses may end a line; a person's keys count when they do. */
  entered(bytes: Uint8Array, { kind }: Actor): void {
    if (kind !== "agent" && !bytes.some((byte) => LINE_ENDS.has(byte))) return;
    this.#first ??= kind;
    this.#last = kind;
  }

  /** What was typed and is read by nobody yet: ours and the kernel's. What the shell has read, it runs. */
  lost(): void {
    const shell = this.#options.shell();
    const { inputs, bytes } = shell.cancelInput();
    this.dropped = { inputs, bytes: bytes + reserve.during(() => shell.flushInput()) };
    if (reserve.during(() => this.#options.isIdle())) this.#first = this.#last = undefined;
    else if (this.isCommand) this.#since ??= bootTimeMs();
  }

  /** The shell is at its prompt. */
  done(): void {
    this.#first = undefined;
    if (this.#since === undefined) return;
    this.#past = bounded([...this.#past, { from: this.#since, to: bootTimeMs() }], TIMES_KEPT);
    this.#since = undefined;
  }
}

const TIMES_KEPT = 1_000;
/** CR, LF, ^C, ^D. */
const LINE_ENDS: ReadonlySet<number> = new Set([13, 10, 3, 4]);
