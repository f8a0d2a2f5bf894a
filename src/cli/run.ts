/** The command line: finds the command, runs it, turns what went wrong into a sentence and an exit code. */
import type { Command } from "./command.ts";
import { COMMANDS, DEFAULTS } from "./commands.ts";
import { EXIT, UsageError } from "./exit.ts";
import { explain } from "./failure.ts";
import { commandHelp, generalHelp, groupHelp } from "./help.ts";
import { printable, printableJson } from "./printable.ts";
import { suggest } from "./suggest.ts";
import type { Terminal } from "./terminal.ts";
import { readVersion } from "./version.ts";

/** Resolves with the exit code. Throws only what is a fault of ours. */
export async function run(argv: readonly string[], terminal: Terminal): Promise<number> {
  try {
    return await dispatch(argv, terminal);
  } catch (error) {
    const { exitCode, problem } = explain(error);
    const told = ownWords(argv).includes("--json")
      ? printableJson(problem)
      : printable(`sidestick: ${problem.detail} ${problem.remedy}`);
    terminal.note(told);
    return exitCode;
  }
}

async function dispatch(argv: readonly string[], terminal: Terminal): Promise<number> {
  const [first, ...rest] = argv;
  if (first === "--version") return say(terminal, readVersion());
  if (first === undefined || first === "--help" || first === "-h") return say(terminal, generalHelp(COMMANDS));
  if (first === "help") return dispatch([...rest, "--help"], terminal);
  if (first.startsWith("-")) throw new UsageError(`Options come after the command, but "${first}" is first.`);

  const wantsHelp = ownWords(rest).some((word) => word === "--help" || word === "-h");
  const { command, args } = find(argv, wantsHelp ? {} : DEFAULTS);
  if (command === undefined) {
    const group = COMMANDS.filter(({ name }) => name.startsWith(`${first} `));
    if (group.length === 0) throw unknownCommand(first);
    if (!wantsHelp) throw new UsageError(unknownInGroup(first, rest[0], group));
    return say(terminal, groupHelp(first, group));
  }
  if (wantsHelp && command.isRaw !== true) return say(terminal, commandHelp(command));
  return command.run(args, terminal);
}

/** What follows `--` is somebody else's. */
function ownWords(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf("--");
  return end === -1 ? argv : argv.slice(0, end);
}

/** Two words are tried before one; a bare `sessions` is `sessions list`. */
function find(
  argv: readonly string[],
  defaults: Readonly<Record<string, string>>,
): { command?: Command; args: readonly string[] } {
  for (const words of [2, 1]) {
    const command = COMMANDS.find(({ name }) => name === argv.slice(0, words).join(" "));
    if (command !== undefined) return { command, args: argv.slice(words) };
  }
  const [first = "", second] = argv;
  const fallback = second === undefined || second.startsWith("-") ? defaults[first] : undefined;
  const command = COMMANDS.find(({ name }) => name === fallback);
  return { ...(command !== undefined && { command }), args: argv.slice(1) };
}

function unknownCommand(typed: string): UsageError {
  const near = suggest(typed, [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0] ?? ""))]);
  return new UsageError(`There is no command "${typed}".${near === undefined ? "" : ` Did you mean "${near}"?`}`);
}

function unknownInGroup(first: string, second: string | undefined, group: readonly Command[]): string {
  const names = group.map(({ name }) => name);
  const near = second === undefined ? undefined : suggest(`${first} ${second}`, names);
  const typed = second === undefined ? `"${first}" needs one more word` : `There is no command "${first} ${second}"`;
  return near === undefined ? `${typed}: ${names.join(", ")}.` : `${typed}. Did you mean "${near}"?`;
}

function say(terminal: Terminal, text: string): number {
  terminal.print(text);
  return EXIT.ok;
}
