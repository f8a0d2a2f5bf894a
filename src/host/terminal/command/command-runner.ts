/**
 * Gives a session its one command, in a turn of the gate, and ends it when its time is over: by a timer of the host's own,
 * whether a hub is there or not. Rules RMC-2..RMC-9 in docs/spec/commands.md.
 */
import { SYSTEM } from "../../../domain/actor.ts";
import type { CommandForm } from "../../../domain/session.ts";
import { AppError } from "../../../protocol/errors.ts";
import { bind, type Binding, differences } from "../../bound/binding.ts";
import type { Begun } from "../../gate.ts";
import type { SessionRequest } from "../../hosted-session.ts";
import type { BlockBegin, BlockEnd } from "../block-tracker.ts";
import type { Prepared } from "../block-runner.ts";
import { BoundRun } from "../bound-run.ts";
import { terminate } from "../ending.ts";
import { READ_ONLY, writeAnew } from "../shells/submission.ts";
import type { Terminal } from "../terminal.ts";
import { becoming, commandFile, commandWords } from "./command-launch.ts";
import { commandSurroundings } from "./command-surroundings.ts";

type RunRequest = Extract<SessionRequest, { type: "RUN_COMMAND" }>;
type PrepareRequest = Extract<SessionRequest, { type: "PREPARE" }>;
type Wanted = Parameters<typeof bind>[1];

/** Longer than any question stays with a person: then nobody will give it a command any more. */
const HOLD_MS = 25 * 60 * 60 * 1000;

export class CommandRunner {
  readonly #terminal: Terminal;
  readonly #form: CommandForm;
  readonly #shellName: string;
  readonly #prepared = new Map<string, Binding["parts"]>();
  #hasBegun = false;
  #life: NodeJS.Timeout;

  constructor(terminal: Terminal, form: CommandForm, shellName: string) {
    this.#terminal = terminal;
    this.#form = form;
    this.#shellName = shellName;
    this.#life = this.#endAfter(HOLD_MS, "not_run");
    void terminal.ended.then(() => clearTimeout(this.#life));
  }

  prepare(request: PrepareRequest): Promise<Prepared> {
    return this.#terminal.gate.take(request, async (recheck) => {
      this.#refuse();
      const binding = await this.#bind(request);
      recheck();
      this.#prepared.set(binding.digest, binding.parts);
      return { answer: { ...binding, epoch: this.#terminal.stick.epoch } };
    });
  }

  run(request: RunRequest, text: string): Promise<BlockBegin> {
    return this.#terminal.gate.take(request, (recheck) => this.#begin(request, text, recheck));
  }

  async #begin(request: RunRequest, text: string, recheck: () => void): Promise<Begun<BlockBegin>> {
    this.#refuse();
    if (text.includes("\0")) throw new AppError("invalid_request", { detail: "a command can't contain a NUL byte" });
    const { blocks, shell } = this.#terminal;
    const bound = request.bound === undefined ? undefined : await this.#compared(request.bound);
    await using untilBegun = new AsyncDisposableStack();
    untilBegun.defer(() => bound?.close());
    const words = commandWords(this.#shellName, text);
    const file = { path: commandFile(shell.directory), text: becoming(this.#form, words) };
    writeAnew(file.path, file.text, READ_ONLY);
    await bound?.watchCommand([file]);
    // A person may have taken over, or ended it, meanwhile.
    recheck();
    this.#refuse();
    untilBegun.move();
    this.#hasBegun = true;
    const { block_id: blockId, run_id: runId, by, lifetime_ms: lifetimeMs } = request;
    const run = { blockId, seq: blocks.nextSeq, runId, command: text, cwd: shell.cwd, by };
    const answer = blocks.submit(run, this.#endOf(blockId, bound));
    clearTimeout(this.#life);
    this.#life = this.#endAfter(lifetimeMs, "timeout");
    shell.become(words);
    return { answer };
  }

  async #compared(expected: NonNullable<RunRequest["bound"]>): Promise<BoundRun> {
    const run = new BoundRun(this.#terminal, await this.#bind(expected));
    const binding = await this.#bind(expected);
    if (binding.digest === expected.digest && run.isSame(binding)) return run;
    run.close();
    const before = this.#prepared.get(expected.digest);
    throw new AppError("approval_stale", { changed: before === undefined ? [] : differences(before, binding.parts) });
  }

  /** The shell that runs it is one of its programs. */
  #bind({ programs, scripts }: Wanted): Promise<Binding> {
    const surroundings = commandSurroundings(this.#terminal.shell, this.#shellName);
    return bind(surroundings, { programs: [this.#shellName, ...programs], scripts });
  }

  /** Its end isn't told before it is known whether it ran what was approved. */
  #endOf(blockId: string, bound: BoundRun | undefined): BlockEnd {
    if (bound === undefined) return { cleanUp: () => undefined };
    const { gate, shell } = this.#terminal;
    const looked = Promise.withResolvers<void>();
    shell.inUse = looked.promise;
    const look = async (): Promise<Begun<void>> => ({ answer: await bound.end(blockId) });
    const onEnd = (): void => {
      void gate.inTurn({ by: SYSTEM, number: 0 }, look, false).finally(() => looked.resolve());
    };
    return { onEnd, cleanUp: () => undefined };
  }

  #endAfter(ms: number, reason: string): NodeJS.Timeout {
    return setTimeout(() => void terminate(this.#terminal, reason), ms);
  }

  #refuse(): void {
    if (this.#terminal.over || this.#terminal.shell.gone)
      throw new AppError("invalid_transition", { detail: "The session has ended" });
    if (!this.#hasBegun) {
      if (this.#terminal.shell.isItself) return;
      throw new AppError("kind_unavailable", { detail: "What waits for the command is not there" });
    }
    throw new AppError(this.#form === "plain" ? "busy" : "interactive_active", { detail: "Its command runs already" });
  }
}
