import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { startTimer } from "../../lib/long-timer.ts";
import { defineCommand, type Invocation } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { shellWord } from "../hub.ts";
import { onEndingSignal, signalExitCode } from "../interruption.ts";
import { timeoutMs } from "../options.ts";
import { printable } from "../printable.ts";
import { type Begun, type BlockEnd, type Question, RunningBlock } from "../running-block.ts";
import { PlainOutput, WithoutQueries } from "../screen-output.ts";
import { ownConversation } from "../terminals.ts";

const OPTIONS = {
  conversation: {
    type: "string",
    value: "NAME",
    help: "whose terminal (default: cli-<you>); made by its first command",
  },
  new: { type: "boolean", help: "a fresh terminal, whose name is told on stderr" },
  cwd: {
    type: "string",
    value: "DIR",
    help: "change there first; the terminal stays there (default when it is new: here)",
  },
  timeout: { type: "string", value: "S", help: "leave it running after so long, with 124 (default: never)" },
  interactive: { type: "boolean", help: "start a program to talk to with send and wait; do not wait for its end" },
  raw: { type: "boolean", help: "output exactly as it is, into a pipe too" },
} as const;

export const run = defineCommand({
  name: "run",
  summary: "Run a command in a terminal that stays, show its output as it comes, end with its exit code",
  takes: ["<command...>"],
  failureCode: EXIT.notRun,
  options: OPTIONS,
  examples: [
    "sidestick run -- npm test",
    "sidestick run 'cd /srv && make | tee log'",
    "sidestick run --conversation build --timeout 10m --json -- make -j4",
    "sidestick run --interactive --conversation py -- python3",
  ],
  notes: [
    "One word is shell text; several are a program and its arguments, passed as they are. Variables, directory and\nfunctions stay for the next command in the same conversation.",
    "Exit codes: the command's own, 128+n after signal n; 125 it could not be run, 124 --timeout is over, 130 left by a second Ctrl+C.\nWith --json it ends as soon as the program waits for input, with `waiting` in the answer.",
  ],
  run: async (invocation) => {
    const { client, values, given, terminal } = invocation;
    const limitMs = values.timeout === undefined ? undefined : timeoutMs(values.timeout, "--timeout");
    const conversation_id = conversationFor(values);
    if (values.new === true) terminal.note(`Conversation ${conversation_id}`);
    const { eventCursor } = await client.snapshot.get();
    const input = { conversation_id, command: commandOf(given), cwd: await cwdOf(invocation, conversation_id) };
    // The same key if the answer is lost: nothing is run twice.
    const once = { idempotencyKey: randomUUID() };
    if (values.interactive === true) {
      const started = await client.pty.exec_interactive(input, once);
      if (values.json === true) terminal.printJson(started);
      else
        terminal.note(
          printable(
            `It runs. Talk to it: sidestick wait ${conversation_id} --input; sidestick send ${conversation_id} --text TEXT --enter`,
          ),
        );
      return EXIT.ok;
    }
    const begun = await client.pty.exec_block(input, once);
    return new Run(invocation, conversation_id, begun).exitCode(eventCursor, limitMs);
  },
});

type RunInvocation = Invocation<typeof OPTIONS>;
type Outcome =
  | { readonly why: "ended"; readonly end: BlockEnd }
  | { readonly why: "waiting"; readonly question: Question }
  | { readonly why: "over" | "timeout" }
  | { readonly why: "left"; readonly exitCode: number };

/** Follows one command until there is something to end with. */
class Run {
  readonly #invocation: RunInvocation;
  readonly #conversation: string;
  readonly #begun: Begun;
  readonly #outcome = Promise.withResolvers<Outcome>();
  #told = new Set<string>();
  #interrupts = 0;

  constructor(invocation: RunInvocation, conversation: string, begun: Begun) {
    this.#invocation = invocation;
    this.#conversation = conversation;
    this.#begun = begun;
  }

  async exitCode(after: number, limitMs: number | undefined): Promise<number> {
    const { terminal, streaming, values } = this.#invocation;
    const filter = terminal.isTTY && values.raw !== true ? new WithoutQueries() : new PlainOutput();
    const isShown = values.json !== true;
    const show = async (bytes: Uint8Array): Promise<void> => {
      if (isShown) await terminal.write(bytes);
    };
    const block = new RunningBlock(await streaming(), this.#begun, {
      onBytes: (bytes) => show(values.raw === true ? bytes : filter.push(bytes)),
      onQuestion: (question) => this.#asked(question),
      onAway: () => terminal.note("The hub is away; waiting for it …"),
      onBack: () => terminal.note("The hub is back."),
      onGap: (bytes) => terminal.note(`${bytes} bytes of output are no longer kept.`),
    });
    using opened = new DisposableStack();
    opened.defer(() => block.close());
    opened.use(onEndingSignal((signal) => this.#interrupted(signal)));
    if (limitMs !== undefined) opened.use(startTimer(limitMs, () => this.#outcome.resolve({ why: "timeout" })));
    block.end(after).then(
      (end) => this.#outcome.resolve(end === undefined ? { why: "over" } : { why: "ended", end }),
      (error: unknown) => this.#outcome.reject(error),
    );
    const outcome = await this.#outcome.promise;
    await show(filter.end());
    if (!isShown) terminal.printJson(await this.#answer(outcome));
    return this.#codeOf(outcome);
  }

  /** Once for each program that asks: a REPL would say it at every line. */
  #asked(question: Question): void {
    const { terminal, values } = this.#invocation;
    if (values.json === true) {
      this.#outcome.resolve({ why: "waiting", question });
      return;
    }
    const { kind, program } = question;
    const key = `${kind} ${program}`;
    if (this.#told.has(key)) return;
    this.#told.add(key);
    const attach = `sidestick attach ${this.#conversation}`;
    const who = program === "" ? "The program" : program;
    const told =
      kind === "password"
        ? `${who} asks for a password. A person types it: ${attach}`
        : `${who} waits for input. Answer it: ${attach}, or: sidestick send ${this.#conversation} ${HOW[kind] ?? "--text TEXT --enter"}`;
    terminal.note(printable(`sidestick: ${told}`));
  }

  #interrupted(signal: NodeJS.Signals): void {
    const { client, terminal } = this.#invocation;
    this.#interrupts += 1;
    if (signal !== "SIGINT" || this.#interrupts > 1) {
      this.#outcome.resolve({ why: "left", exitCode: signalExitCode(signal) });
      return;
    }
    terminal.note("sidestick: Interrupted it. Ctrl+C again leaves it to itself.");
    const failed = (error: unknown): void => this.#outcome.reject(error);
    client.pty.ctrl_c({ conversation_id: this.#conversation }).catch(failed);
  }

  #codeOf(outcome: Outcome): number {
    const { terminal } = this.#invocation;
    const goOn = `It runs on: sidestick wait ${this.#conversation} --prompt, or: sidestick attach ${this.#conversation}`;
    switch (outcome.why) {
      case "ended":
        if (outcome.end.signal !== undefined) return signalExitCode(outcome.end.signal);
        return outcome.end.exit_code ?? EXIT.failure;
      case "waiting":
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

  /** As `exec_block` itself would have answered. */
  async #answer(outcome: Outcome): Promise<Begun> {
    const read = await this.#invocation.client.pty.read_output({
      conversation_id: this.#conversation,
      from_cursor: this.#begun.cursor,
      to_cursor: outcome.why === "ended" ? outcome.end.end_cursor : undefined,
    });
    const { data: output, omitted_bytes, redacted, cursor: end_cursor } = read;
    const seen = { ...this.#begun, end_cursor, output, omitted_bytes, redacted };
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
}

/** What reads keys rather than lines. */
const HOW: Partial<Record<Question["kind"], string>> = { pager: "--keys q", editor: "--keys KEY", tui: "--keys KEY" };

function conversationFor(values: RunInvocation["values"]): string {
  if (values.new === true && values.conversation !== undefined) {
    throw new UsageError("--new makes a conversation of its own: leave out --conversation, or --new.");
  }
  if (values.new === true) return `${ownConversation()}-${randomUUID().slice(0, 8)}`;
  return values.conversation ?? ownConversation();
}

function commandOf(words: readonly string[]): string {
  const [only = ""] = words;
  const command = words.length === 1 ? only : words.map(shellWord).join(" ");
  if (command.trim() === "") throw new UsageError("The command is empty.");
  return command;
}

/** A terminal that is made here begins where we are; afterwards it stays where it was left. */
async function cwdOf({ values: { cwd }, dataDir, client }: RunInvocation, conversation_id: string) {
  if (dataDir === undefined || cwd !== undefined) return dataDir === undefined ? cwd : resolve(cwd ?? ".");
  const terminals = await client.session.list({ conversationId: conversation_id, limit: 1 });
  return terminals.at(-1)?.status === "active" ? undefined : process.cwd();
}
