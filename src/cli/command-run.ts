/**
 * Follows one command until there is something to end with: shows what it says, passes on what is typed or piped, and
 * turns its end into an exit code. Rules TCL-8..TCL-12, TCL-25, TCL-26 in docs/spec/terminal-cli.md.
 */
import type { SidestickClient } from "../client/sidestick.ts";
import { startTimer } from "../lib/long-timer.ts";
import { EXIT } from "./exit.ts";
import { shellWord } from "./hub.ts";
import type { InputSource } from "./input-source.ts";
import { onEndingSignal, signalExitCode } from "./interruption.ts";
import { Keyboard } from "./keyboard.ts";
import type { LocalTerminal } from "./local-terminal.ts";
import { printable } from "./printable.ts";
import { type Begun, type BlockEnd, type Question, RunningBlock } from "./running-block.ts";
import { PlainOutput, WithoutQueries } from "./screen-output.ts";
import { StdinFeed } from "./stdin-feed.ts";
import type { Terminal } from "./terminal.ts";
import type { DetachKey } from "./typed-keys.ts";

export type RunInput =
  /** Somebody sits here. */
  | { readonly from: "keys"; readonly local: LocalTerminal; readonly detachKey: DetachKey }
  /** A file or a pipe. */
  | { readonly from: "stdin"; readonly source: InputSource }
  /** Somebody sits here, but not at a terminal that could be lent. */
  | { readonly from: "elsewhere" }
  | { readonly from: "nobody" };

export type CommandRunParts = {
  readonly client: SidestickClient;
  readonly stream: SidestickClient;
  readonly terminal: Terminal;
  readonly conversation: string;
  readonly begun: Begun;
  readonly input: RunInput;
  readonly onlyProgram: string | undefined;
  readonly json: boolean;
  readonly raw: boolean;
};

type Outcome =
  | { readonly why: "ended"; readonly end: BlockEnd }
  | { readonly why: "waiting"; readonly question: Question }
  | { readonly why: "over" | "timeout" }
  | { readonly why: "left"; readonly exitCode: number };

export class CommandRun {
  readonly #parts: CommandRunParts;
  readonly #outcome = Promise.withResolvers<Outcome>();
  readonly #told = new Set<string>();
  #feed: StdinFeed | undefined;
  #interrupts = 0;
  #stoppedBy: string | undefined;

  constructor(parts: CommandRunParts) {
    this.#parts = parts;
  }

  async exitCode(after: number, limitMs: number | undefined): Promise<number> {
    const { terminal, json } = this.#parts;
    const outcome = await this.#follow(after, limitMs);
    if (json) terminal.printJson(await this.#answer(outcome));
    return this.#codeOf(outcome);
  }

  async #follow(after: number, limitMs: number | undefined): Promise<Outcome> {
    const { input, stream, begun } = this.#parts;
    using opened = new DisposableStack();
    const { show, finish } = this.#output();
    const block = new RunningBlock(stream, begun, {
      onBytes: show,
      onQuestion: (question) => this.#asked(question),
      onStop: (by) => (this.#stoppedBy = by),
      onAway: () => this.#note("The hub is away; waiting for it …"),
      onBack: () => this.#note("The hub is back."),
      onGap: (bytes) => this.#note(`${bytes} bytes of output are no longer kept.`),
      ...(input.from === "keys" && { onRefused: () => input.local.bell() }),
    });
    opened.defer(() => block.close());
    if (input.from === "keys") opened.use(this.#keys(input, block));
    if (input.from === "stdin") opened.use((this.#feed = this.#fed(input.source)));
    opened.use(onEndingSignal((signal) => this.#interrupted(signal)));
    if (limitMs !== undefined) opened.use(startTimer(limitMs, () => this.#outcome.resolve({ why: "timeout" })));
    block.end(after, input.from === "keys" ? input.local.size : undefined).then(
      (end) => this.#outcome.resolve(end === undefined ? { why: "over" } : { why: "ended", end }),
      (error: unknown) => this.#outcome.reject(error),
    );
    const outcome = await this.#outcome.promise;
    await finish();
    return outcome;
  }

  #output(): { readonly show: (bytes: Uint8Array) => Promise<void>; readonly finish: () => Promise<void> } {
    const { terminal, input, json, raw } = this.#parts;
    const nothing = async (): Promise<void> => undefined;
    if (json) return { show: nothing, finish: nothing };
    if (input.from === "keys" && !raw) return { show: (bytes) => input.local.show(bytes), finish: nothing };
    const filter = terminal.isTTY ? new WithoutQueries() : new PlainOutput();
    return {
      show: (bytes) => terminal.write(raw ? bytes : filter.push(bytes)),
      finish: () => terminal.write(filter.end()),
    };
  }

  /** The terminal is lent until disposed. */
  #keys({ local, detachKey }: Extract<RunInput, { from: "keys" }>, block: RunningBlock): Disposable {
    const left = { why: "left", exitCode: EXIT.interrupted } as const;
    const opened = new DisposableStack();
    opened.defer(() => local.giveBack());
    local.lend();
    const keyboard = new Keyboard(detachKey, {
      onKeys: (keys) => {
        if (!block.type(keys)) local.bell();
      },
      onDetach: () => this.#outcome.resolve(left),
    });
    opened.use(keyboard);
    opened.use(
      local.listen({
        onInput: (chunk) => keyboard.push(chunk),
        onEnd: () => this.#outcome.resolve(left),
        onResize: () => block.resize(local.size),
        onContinue: () => undefined,
      }),
    );
    return opened;
  }

  #fed(source: InputSource): StdinFeed {
    const { client, conversation, onlyProgram, json } = this.#parts;
    return new StdinFeed({
      client,
      conversation,
      source,
      onlyProgram,
      onSilence: (question) => {
        // An open pipe may belong to somebody who never writes: an answer is not held up for it.
        if (json) return "leave";
        this.#tellHow(question);
        return "wait";
      },
      onNothingLeft: (question) => this.#unanswered(question),
      onManyLines: () => this.#note(`sidestick: ${SLOW}`),
      onFailure: (error) => this.#outcome.reject(error),
    });
  }

  #asked(question: Question): void {
    switch (this.#parts.input.from) {
      case "keys":
        return undefined;
      case "stdin":
        return this.#feed?.asked(question);
      case "elsewhere":
        return this.#tellHow(question);
      case "nobody":
        return this.#unanswered(question);
    }
  }

  /** What can't be seen for sure is no reason to leave: ssh looks so all the time. */
  #unanswered(question: Question): void {
    if (this.#parts.json || question.confidence !== "low") this.#outcome.resolve({ why: "waiting", question });
    else this.#tellHow(question);
  }

  /** Once for each program that asks: a REPL would say it at every line. */
  #tellHow(question: Question): void {
    const key = `${question.kind} ${question.program}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    this.#note(printable(`sidestick: ${whoAsks(question)}. ${this.#howToAnswer(question)}`));
  }

  #howToAnswer({ kind }: Question): string {
    const { conversation } = this.#parts;
    const ways = `sidestick answer ${conversation}, or: sidestick attach ${conversation}`;
    if (kind === "password") return `A person types it: ${ways}`;
    return `Answer it: ${ways}, or: sidestick send ${conversation} ${HOW[kind] ?? "--text TEXT --enter"}`;
  }

  #interrupted(signal: NodeJS.Signals): void {
    const { client, conversation } = this.#parts;
    this.#interrupts += 1;
    if (signal !== "SIGINT" || this.#interrupts > 1) {
      this.#outcome.resolve({ why: "left", exitCode: signalExitCode(signal) });
      return;
    }
    this.#note("sidestick: Interrupted it. Ctrl+C again leaves it to itself.");
    const failed = (error: unknown): void => this.#outcome.reject(error);
    client.pty.ctrl_c({ conversation_id: conversation }).catch(failed);
  }

  async #codeOf(outcome: Outcome): Promise<number> {
    const { terminal, conversation, json } = this.#parts;
    const goOn = `It runs on: sidestick wait ${conversation} --prompt, or: sidestick attach ${conversation}`;
    switch (outcome.why) {
      case "ended":
        return this.#endCode(outcome.end);
      case "waiting":
        if (!json) terminal.note(printable(`sidestick: ${await this.#open(outcome.question)}`));
        return EXIT.waiting;
      case "timeout":
        terminal.note(printable(`sidestick: Not over in time. ${goOn}`));
        return EXIT.timeout;
      case "left":
        terminal.note(printable(`sidestick: ${goOn}`));
        return outcome.exitCode;
      case "over":
        terminal.note("sidestick: The terminal ended, and with it the command.");
        return EXIT.over;
    }
  }

  /** The shell says only that it was killed. */
  #endCode({ signal, exit_code = EXIT.failure }: BlockEnd): number {
    const { terminal, conversation } = this.#parts;
    const code = signal === undefined ? exit_code : signalExitCode(signal);
    if (this.#stoppedBy !== undefined && code > 128) {
      const ask = `sidestick request ${shellWord(conversation)} --reason TEXT`;
      terminal.note(
        printable(`sidestick: ${this.#stoppedBy} stopped the agent, and with it this command. It may ask: ${ask}`),
      );
    }
    return code;
  }

  async #open(question: Question): Promise<string> {
    const { client, conversation: conversation_id, begun } = this.#parts;
    const { data } = await client.pty.read_output({ conversation_id, from_cursor: begun.cursor });
    const asked = data.split("\n").at(-1)?.trim() ?? "";
    const what = asked === "" ? "" : ` ("${asked}")`;
    return `${whoAsks(question)}${what}, and nothing is left on stdin. It runs on. ${this.#howToAnswer(question)}`;
  }

  /** As `exec_block` itself would have answered. */
  async #answer(outcome: Outcome): Promise<Begun> {
    const { client, conversation, begun } = this.#parts;
    const read = await client.pty.read_output({
      conversation_id: conversation,
      from_cursor: begun.cursor,
      to_cursor: outcome.why === "ended" ? outcome.end.end_cursor : undefined,
    });
    const { data: output, omitted_bytes, redacted, cursor: end_cursor } = read;
    const seen = { ...begun, end_cursor, output, omitted_bytes, redacted };
    switch (outcome.why) {
      case "ended":
        return { ...seen, ...outcome.end };
      case "waiting":
        return { ...seen, waiting: outcome.question };
      case "over":
        return seen;
      case "timeout":
      case "left":
        return { ...seen, pending: true };
    }
  }

  /** While the terminal is lent, a line feed alone would not return to the first column. */
  #note(text: string): void {
    const { terminal, input } = this.#parts;
    terminal.note(input.from === "keys" ? `${text}\r` : text);
  }
}

const SLOW =
  "It is fed line by line, some 20 a second, so that nothing it leaves is run by the shell. Quicker: sidestick run 'COMMAND < FILE'";

/** What reads keys rather than lines. */
const HOW: Partial<Record<Question["kind"], string>> = { pager: "--keys q", editor: "--keys KEY", tui: "--keys KEY" };

function whoAsks({ kind, program }: Question): string {
  const who = program === "" ? "The program" : program;
  return kind === "password" ? `${who} asks for a password` : `${who} waits for input`;
}
