/** Log lines as JSON, one a line. Fields are for programs: `session` and `sequence` tie a line to the log of events. */
export type LogLevel = "debug" | "info" | "warn" | "error";
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];

export type LogFields = {
  readonly session?: string | undefined;
  readonly sequence?: number | undefined;
  readonly [key: string]: unknown;
};

export type Logger = { readonly [L in LogLevel]: (message: string, fields?: LogFields) => void };

export function createLogger(level: LogLevel, write: (line: string) => void): Logger {
  const least = LOG_LEVELS.indexOf(level);
  const at =
    (name: LogLevel) =>
    (message: string, fields: LogFields = {}) => {
      if (LOG_LEVELS.indexOf(name) < least) return;
      write(`${JSON.stringify({ time: new Date().toISOString(), level: name, message, ...printable(fields) })}\n`);
    };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function printable(fields: LogFields): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key, value instanceof Error ? describe(value) : value]),
  );
}

function describe(error: Error): Record<string, unknown> {
  const cause = error.cause instanceof Error ? { cause: describe(error.cause) } : {};
  return { name: error.name, message: error.message, stack: error.stack, ...cause };
}
