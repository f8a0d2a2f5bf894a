/**
 * Gives commands to a terminal's shell, one block each, in turns of the gate. A bound one runs only if it would meet what
 * was prepared, and is watched until its end. Rules PTY-20..PTY-31 in docs/spec/terminal.md, APR-11..APR-14 in
 * docs/spec/approvals.md.
 */
import { resolve } from "node:path";
import { SYSTEM } from "../../domain/actor.ts";
import type { Refusal } from "../../domain/blocks.ts";
import { AppError } from "../../protocol/errors.ts";
import { bind, type Binding, differences } from "../bound/binding.ts";
import type { Begun } from "../gate.ts";
import type { SessionRequest } from "../hosted-session.ts";
import type { BlockBegin, BlockEnd } from "./block-tracker.ts";
import { BoundRun } from "./bound-run.ts";
import { type Submission, submissionOf } from "./shells/shell.ts";
import { surroundingsOf } from "./surroundings.ts";
import type { Terminal } from "./terminal.ts";

type RunRequest = Extract<SessionRequest, { type: "RUN_BLOCK" }>;
type PrepareRequest = Extract<SessionRequest, { type: "PREPARE" }>;
type Act<T> = (recheck: () => void) => Promise<Begun<T>>;

export type Prepared = Binding & { readonly epoch: number };

export class BlockRunner {
  readonly #terminal: Terminal;
  readonly #shellName: string;
  /** By digest: what a later command can be compared with. */
  readonly #prepared = new Map<string, Binding["parts"]>();

  constructor(terminal: Terminal, shellName: string) {
    this.#terminal = terminal;
    this.#shellName = shellName;
  }

  run(request: RunRequest, text: string): Promise<BlockBegin> {
    return this.#whenStarted(request, (recheck) => this.#submit(request, text, recheck));
  }

  prepare(request: PrepareRequest): Promise<Prepared> {
    return this.#whenStarted(request, async (recheck) => {
      refuse(this.#terminal.blocks.refusal);
      const binding = await bind(await surroundingsOf(this.#terminal, request.cwd), request);
      recheck();
      this.#remember(binding);
      return { answer: { ...binding, epoch: this.#terminal.stick.epoch } };
    });
  }

  /** A shell may ask something while it starts: others' input isn't held up. */
  #whenStarted<T>(request: RunRequest | PrepareRequest, act: Act<T>): Promise<T> {
    const { gate, blocks } = this.#terminal;
    const whenSeen = async (): Promise<T> => {
      await blocks.seenWithin(START_MS);
      return gate.inTurn(request, act);
    };
    return gate.take<T>(request, (recheck) => (blocks.refusal === "starting" ? { answer: whenSeen() } : act(recheck)));
  }

  async #submit(request: RunRequest, text: string, recheck: () => void): Promise<Begun<BlockBegin>> {
    const { blocks, path, gate } = this.#terminal;
    refuse(blocks.refusal);
    const seq = blocks.nextSeq;
    const bound = request.bound === undefined ? undefined : await this.#compared(request, request.bound);
    await using untilTyped = new AsyncDisposableStack();
    untilTyped.defer(() => bound?.close());
    const submission = await this.#submissionOf(text, request.cwd, seq);
    untilTyped.defer(() => submission.remove());
    await bound?.watchCommand(submission.files);
    // A person may have typed meanwhile.
    recheck();
    refuse(blocks.refusal);
    untilTyped.move();
    const cwd = request.cwd === undefined ? undefined : resolve(blocks.cwd ?? "/", request.cwd);
    const run = { blockId: request.block_id, seq, runId: request.run_id, command: text, cwd, by: request.by };
    const answer = blocks.submit(run, this.#endOf(request.block_id, submission, bound));
    path.expectEcho(submission.echo, submission.shown);
    gate.put(submission.typed, request.by);
    return { answer };
  }

  #submissionOf(text: string, cwd: string | undefined, seq: number): Promise<Submission> {
    const { blocks, path, shell } = this.#terminal;
    const place = {
      directory: shell.directory,
      shell: this.#shellName,
      bracketedPaste: path.modes.bracketedPaste,
      integrated: blocks.integration === "marks",
    };
    return submissionOf(shell.family, { text, cwd, seq }, place);
  }

  /** Its files are watched before they are compared. */
  async #compared({ cwd }: RunRequest, expected: NonNullable<RunRequest["bound"]>): Promise<BoundRun> {
    const surroundings = { ...(await surroundingsOf(this.#terminal, cwd)), known: new Map() };
    const run = new BoundRun(this.#terminal, await bind(surroundings, expected));
    const binding = await bind(surroundings, expected);
    if (binding.digest === expected.digest && run.isSame(binding)) return run;
    run.close();
    const before = this.#prepared.get(expected.digest);
    const changed = before === undefined ? [] : differences(before, binding.parts);
    throw new AppError("approval_stale", { changed });
  }

  /** Nothing else gets its turn before it is known whether the block ran what was approved. */
  #endOf(blockId: string, submission: Submission, bound: BoundRun | undefined): BlockEnd {
    const { gate, shell } = this.#terminal;
    if (bound === undefined) return { cleanUp: () => submission.remove() };
    const looked = Promise.withResolvers<void>();
    shell.inUse = looked.promise;
    const look = async (): Promise<Begun<void>> => ({ answer: await bound.end(blockId) });
    const onEnd = (): void => {
      void gate.inTurn({ by: SYSTEM, number: 0 }, look, false).finally(() => looked.resolve());
    };
    return { onEnd, cleanUp: () => void looked.promise.then(() => submission.remove()) };
  }

  #remember({ digest, parts }: Binding): void {
    this.#prepared.delete(digest);
    this.#prepared.set(digest, parts);
    const oldest = this.#prepared.keys().next();
    if (this.#prepared.size > PREPARED_KEPT && oldest.done === false) this.#prepared.delete(oldest.value);
  }
}

/** How long a shell may take to its first prompt before a command is refused. */
const START_MS = 10_000;
/** More than an agent may have pending. */
const PREPARED_KEPT = 200;

function refuse(refusal: Refusal | undefined): void {
  switch (refusal) {
    case undefined:
      return;
    case "busy":
      throw new AppError("busy");
    case "interactive_active":
      throw new AppError("interactive_active");
    case "starting":
      throw new AppError("busy", { detail: "The shell has not shown its prompt yet" });
    case "half_line":
      throw new AppError("busy", { detail: "Something is typed at the shell's prompt and not entered yet" });
    case "gone":
      throw new AppError("invalid_transition", { detail: "The shell has ended" });
  }
}
