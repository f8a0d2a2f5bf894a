/**
 * One command: what it is called, what it takes, what it does. Help, parsing and the way to the hub follow from the
 * definition. Rules CLI-1..CLI-4 in docs/spec/cli.md.
 */
import { parseArgs } from "node:util";
import { HubUnreachable } from "../client/sidestick.ts";
import { AppError } from "../protocol/errors.ts";
import { argumentProblem } from "./argument-problem.ts";
import { HubAway } from "./failure.ts";
import { AboutTerminal, EndsWith, type ExitCode, UsageError } from "./exit.ts";
import { chooseHub, type Hub } from "./hub.ts";
import { COMMON_OPTIONS, type Options } from "./options.ts";
import type { Terminal } from "./terminal.ts";

export type Command = {
  /** One or two words. */
  readonly name: string;
  readonly summary: string;
  /** `<id>` must be given, `[json]` may be, `<word...>` takes all that follow. */
  readonly takes: readonly string[];
  readonly options: Options;
  readonly examples: readonly string[];
  /** Said in the help below the options. */
  readonly notes?: readonly string[];
  /** Has its own help and options. */
  readonly isRaw?: boolean;
  /** Resolves with the exit code. */
  readonly run: (argv: readonly string[], terminal: Terminal) => Promise<number>;
};

type ParsedValues<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O & typeof COMMON_OPTIONS; allowPositionals: true }>
>["values"];

export type Invocation<O extends Options> = Hub & {
  readonly values: ParsedValues<O>;
  readonly given: readonly string[];
  readonly terminal: Terminal;
};

export type Definition<O extends Options> = Omit<Command, "run" | "isRaw" | "options" | "takes"> & {
  /** Instead of the usual codes, where those may be somebody else's. */
  readonly failureCode?: ExitCode;
  readonly takes?: readonly string[];
  readonly options?: O;
  readonly run: (invocation: Invocation<O>) => Promise<number>;
};

export function defineCommand<const O extends Options>(definition: Definition<O>): Command {
  const { takes = [], options = {} } = definition;
  const run: Command["run"] = async (argv, terminal) => {
    const { values, positionals } = parse(argv, { ...options, ...COMMON_OPTIONS });
    checkCount(definition.name, takes, positionals);
    const hub = await chooseHub(values);
    try {
      return await definition.run({ ...hub, values: values as ParsedValues<O>, given: positionals, terminal });
    } catch (error) {
      const [terminal] = takes[0]?.includes("conversation") === true ? positionals : [];
      const told = error instanceof HubUnreachable ? new HubAway(hub, error) : namedByOption(error, options);
      const failure = terminal === undefined || !(told instanceof AppError) ? told : new AboutTerminal(terminal, told);
      const { failureCode } = definition;
      const hasCode = failure instanceof UsageError || failure instanceof EndsWith;
      throw failureCode === undefined || hasCode ? failure : new EndsWith(failureCode, failure);
    }
  };
  return { ...definition, takes, options, run };
}

/** The hub names what it refuses by its own name; whoever typed `--limit 0` knows it as that. */
function namedByOption(error: unknown, options: Options): unknown {
  if (error instanceof AboutTerminal) return new AboutTerminal(error.terminal, namedByOption(error.cause, options));
  if (!(error instanceof AppError) || error.code !== "invalid_request") return error;
  const [path = "", ...rest] = error.message.split(" ");
  const field = path.split(".").findLast((it) => it !== "" && !/^\d+:?$/.test(it)) ?? "";
  const words = field
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[_:]/);
  const option = [words.join("-"), words.slice(0, -1).join("-")].find((it) => Object.hasOwn(options, it));
  if (option === undefined) return error;
  const detail = [`--${option}`, ...rest].join(" ");
  return new AppError("invalid_request", { ...error.details, detail }, { cause: error });
}

function parse(argv: readonly string[], options: Options) {
  try {
    return parseArgs({ args: [...argv], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${argumentProblem(error)}.`, { cause: error });
  }
}

function checkCount(name: string, takes: readonly string[], positionals: readonly string[]): void {
  const missing = takes.filter((it) => it.startsWith("<"))[positionals.length];
  if (missing !== undefined) throw new UsageError(`"${name}" needs ${missing}.`);
  if (takes.at(-1)?.includes("...") === true) return;
  const extra = positionals[takes.length];
  if (extra !== undefined) throw new UsageError(`"${name}" does not take "${extra}".`);
}
