/**
 * Where a shell is: at its prompt, or running a command, and which block that command is. Two factors move it: the
 * shell's own marks and what the kernel says. A block ends only when the kernel agrees, or when the shell goes on
 * to its next command. Rules PTY-20..PTY-31 in docs/spec/terminal.md.
 */
import type { Actor } from "./actor.ts";
import type { Mark } from "./marks.ts";

export type Mode = "idle" | "block_running" | "interactive";

/** What the last word about the shell was founded on. */
export type Integration = "marks" | "kernel" | "none";

export type Place = { readonly cursor: number; /** Epoch milliseconds. */ readonly at: number };

export type BlockRun = {
  readonly blockId: string;
  readonly seq: number;
  /** Present: an interactive run. */
  readonly runId?: string | undefined;
  readonly command: string;
  /** Where it was asked to run; absent: where the shell is. */
  readonly cwd?: string | undefined;
  readonly by?: Actor | undefined;
};

export type Outcome = {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  readonly cwd?: string | undefined;
};

export type BlockFact =
  | { readonly type: "begin"; readonly run: BlockRun; readonly begin: Place }
  | {
      readonly type: "end";
      readonly run: BlockRun;
      readonly begin: Place;
      readonly end: Place;
      readonly outcome: Outcome;
      readonly integration: Integration;
      readonly canceled: boolean;
    }
  | {
      readonly type: "prompt";
      readonly outcome: Outcome;
      readonly integration: Integration;
      /** The block that this prompt ended. */
      readonly blockId?: string | undefined;
    };

export type Refusal = "starting" | "half_line" | "busy" | "interactive_active" | "gone";

type Phase =
  | { readonly name: "starting" }
  | { readonly name: "prompt"; readonly touched: boolean; readonly entered: boolean }
  | { readonly name: "submitted"; readonly run: BlockRun; readonly begin: Place }
  /** Without `run` it is a person's own command. */
  | { readonly name: "running"; readonly run?: BlockRun; readonly begin: Place }
  | { readonly name: "gone" };

export class ShellBlocks {
  #phase: Phase = { name: "starting" };
  #seq = 0;
  #integration: Integration = "none";
  #cwd: string | undefined;
  /** What the shell's last `command_done` said; believed when the kernel agrees. */
  #done: (Outcome & { readonly place: Place }) | undefined;
  #promptShown = false;
  #canceled = false;
  #isHalfAhead = false;
  /** The shell has said that it begins what was submitted. */
  #isBegun = false;

  get mode(): Mode {
    const run = this.run;
    if (run?.runId !== undefined) return "interactive";
    return this.#phase.name === "submitted" || this.#phase.name === "running" ? "block_running" : "idle";
  }

  /** The shell has begun a command and not said that it is over. */
  get hasBegun(): boolean {
    return this.#phase.name === "running" && this.#done === undefined;
  }

  /** It was typed, and the shell, which would say so, has not begun it: a prompt that it shows may be the one before. */
  get isUnbegun(): boolean {
    return this.run !== undefined && !this.#isBegun && this.#integration === "marks";
  }

  get run(): BlockRun | undefined {
    return this.#phase.name === "submitted" || this.#phase.name === "running" ? this.#phase.run : undefined;
  }

  get integration(): Integration {
    return this.#integration;
  }

  get cwd(): string | undefined {
    return this.#cwd;
  }

  /** A prompt stands there by the marks; the kernel has still to agree. */
  get awaitsKernel(): boolean {
    return this.#promptShown && this.#phase.name !== "gone";
  }

  /** Where the shell says that the command ended; what follows is its prompt, if that is true. */
  get doneAt(): number | undefined {
    return this.#done?.place.cursor;
  }

  /** Why no command can be submitted now. */
  get refusal(): Refusal | undefined {
    switch (this.#phase.name) {
      case "starting":
        return "starting";
      case "gone":
        return "gone";
      case "prompt":
        return this.#phase.touched ? "half_line" : undefined;
      case "submitted":
      case "running":
        return this.#phase.run?.runId === undefined ? "busy" : "interactive_active";
    }
  }

  get nextSeq(): number {
    return this.#seq + 1;
  }

  /** The command goes to the shell now; `refusal` was asked. */
  submit(run: BlockRun, begin: Place): readonly BlockFact[] {
    this.#seq = run.seq;
    this.#canceled = false;
    this.#isBegun = false;
    this.#done = undefined;
    this.#promptShown = false;
    this.#phase = { name: "submitted", run, begin };
    // Nobody will tell when it starts.
    return this.#integration === "marks" ? [] : this.#started(begin);
  }

  /** The shell has said nothing since the command was typed: it counts as begun there. */
  overdue(): readonly BlockFact[] {
    return this.#begunAtLeast();
  }

  /** What ends the running block was asked for. */
  cancel(): void {
    this.#canceled = true;
  }

  /** Input went to the terminal. `entered`: it may have ended a line. `isHalf`: its last line lies in the kernel, unread. */
  touch({ entered, isHalf }: { readonly entered: boolean; readonly isHalf: boolean }): void {
    this.#isHalfAhead = isHalf;
    if (this.#phase.name !== "prompt") return;
    this.#phase = { name: "prompt", touched: true, entered: this.#phase.entered || entered };
  }

  mark(mark: Mark, place: Place): readonly BlockFact[] {
    switch (mark.kind) {
      case "prompt_start":
        if (this.#isNewPrompt(mark)) this.#finished({ exitCode: mark.exitCode, cwd: mark.cwd, place });
        return [];
      case "command_start":
        return this.#begun(place);
      case "command_done":
        this.#finished({ exitCode: mark.exitCode, cwd: mark.cwd, place });
        return [];
      case "prompt_end":
        this.#promptShown ||= this.#done !== undefined || this.#phase.name === "starting";
        return [];
    }
  }

  /** The kernel says that the shell is blocked at its prompt, while the marks say so too. */
  confirm(place: Place): readonly BlockFact[] {
    if (!this.awaitsKernel) return [];
    return [...this.#begunAtLeast(), ...this.#atPrompt("marks", this.#done ?? {}, this.#done?.place ?? place)];
  }

  /** The kernel alone, at a quiet point, with all input read. */
  kernelPrompt(place: Place, cwd: string | undefined): readonly BlockFact[] {
    if (this.awaitsKernel) return this.confirm(place);
    switch (this.#phase.name) {
      case "gone":
        return [];
      case "prompt":
        return this.#phase.entered ? this.#atPrompt("kernel", { cwd }, place) : [];
      case "submitted":
        return [...this.#started(this.#phase.begin), ...this.#atPrompt("kernel", { cwd }, place)];
      case "starting":
        return this.#atPrompt("kernel", { cwd }, place);
      case "running":
        // The shell has said where the command ended; only the end of its prompt is still on its way.
        if (this.#isBegun && this.#done !== undefined) return this.#atPrompt("marks", this.#done, this.#done.place);
        return this.#atPrompt("kernel", { cwd }, place);
    }
  }

  exited(outcome: Outcome, place: Place): readonly BlockFact[] {
    const facts = [...this.#begunAtLeast(), ...this.#endOf(this.#integration, outcome, place)];
    this.#phase = { name: "gone" };
    return facts;
  }

  /** Another shell takes its place. */
  respawned(outcome: Outcome, place: Place): readonly BlockFact[] {
    this.#canceled = true;
    const facts = this.exited(outcome, place);
    this.#phase = { name: "starting" };
    this.#integration = "none";
    this.#done = undefined;
    this.#promptShown = false;
    return facts;
  }

  #begun(place: Place): readonly BlockFact[] {
    if (this.isUnbegun) {
      // What it said since the command was typed was about the one before.
      this.#done = undefined;
      this.#promptShown = false;
    }
    this.#isBegun = true;
    return this.#started(place);
  }

  #started(place: Place): readonly BlockFact[] {
    const phase = this.#phase;
    if (phase.name === "gone") return [];
    if (phase.name === "submitted") {
      this.#phase = { name: "running", run: phase.run, begin: place };
      return [{ type: "begin", run: phase.run, begin: place }];
    }
    // Typed ahead: the shell showed its prompt and went on before the kernel could be asked.
    const facts = this.awaitsKernel ? this.#atPrompt("marks", this.#done ?? {}, this.#done?.place ?? place) : [];
    if (this.#phase.name !== "running") this.#phase = { name: "running", begin: place };
    return facts;
  }

  #finished(done: Outcome & { readonly place: Place }): void {
    this.#done = done;
    this.#promptShown = false;
  }

  /**
   * A line editor draws its prompt again and again; a shell that comes to a new one also says where it is. One that was
   * shown and not confirmed was not the shell's.
   */
  #isNewPrompt(mark: Mark): boolean {
    if (mark.cwd !== undefined) return this.#done === undefined || this.#promptShown;
    return this.#phase.name === "prompt" && this.#phase.entered && this.#done === undefined;
  }

  /** A shell whose marks come only at the end. */
  #begunAtLeast(): readonly BlockFact[] {
    return this.#phase.name === "submitted" ? this.#started(this.#phase.begin) : [];
  }

  #atPrompt(integration: Integration, outcome: Outcome, end: Place): readonly BlockFact[] {
    const { exitCode, cwd } = outcome;
    const ends = this.#endOf(integration, { exitCode, cwd }, end);
    this.#integration = integration;
    this.#cwd = cwd ?? this.#cwd;
    this.#done = undefined;
    this.#promptShown = false;
    const blockId = this.run?.blockId;
    // What the program left unread stands at the prompt by now.
    this.#phase = { name: "prompt", touched: this.#isHalfAhead, entered: false };
    this.#isHalfAhead = false;
    return [...ends, { type: "prompt", outcome: { exitCode, cwd: this.#cwd }, integration, blockId }];
  }

  #endOf(integration: Integration, outcome: Outcome, end: Place): readonly BlockFact[] {
    if (this.#phase.name !== "running" || this.#phase.run === undefined) return [];
    const { run, begin } = this.#phase;
    return [{ type: "end", run, begin, end, outcome, integration, canceled: this.#canceled }];
  }
}
