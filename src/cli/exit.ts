/** How a command ends. Scripts rely on the numbers: CLI-3 in docs/spec/cli.md. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  unreachable: 3,
  refused: 4,
  /** The terminal is over: what was waited for can't come. */
  over: 5,
  /** Control was taken away during a wait. */
  revoked: 6,
  /** The program waits for input. */
  waiting: 123,
  /** As timeout(1) says it. */
  timeout: 124,
  /** `run` could not run the command: as env(1) and timeout(1) say it. */
  notRun: 125,
  /** There is no such program: as env(1) says it. */
  notFound: 127,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failure that ends with another code than usual. */
export class EndsWith extends Error {
  override readonly name = "EndsWith";
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, cause: unknown) {
    super("a failure", { cause });
    this.exitCode = exitCode;
  }
}

/** A failure in a terminal whose name is known, so that what is advised names it. */
export class AboutTerminal extends Error {
  override readonly name = "AboutTerminal";
  readonly terminal: string;

  constructor(terminal: string, cause: unknown) {
    super("a failure", { cause });
    this.terminal = terminal;
  }
}

/** Nothing was started; `remedy` says what would help. */
export class CannotRun extends Error {
  override readonly name = "CannotRun";
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

/** The command line is wrong; the sentence says what it should be. */
export class UsageError extends Error {
  override readonly name = "UsageError";
  readonly remedy: string;

  constructor(message: string, options: ErrorOptions & { readonly remedy?: string } = {}) {
    super(message, options);
    this.remedy = options.remedy ?? "See --help.";
  }
}
