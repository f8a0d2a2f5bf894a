/** What one run of vitest came to: `reporter.ts` writes it line by line, and everything else of the suite reads it. */

export type TestReport = {
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  readonly ms: number;
  /** The first one, as text. */
  readonly error?: string;
  /** The missing programs that caused the skip. */
  readonly missing?: readonly string[];
};

export type FileReport = {
  /** Relative to the root, with `/`. */
  readonly file: string;
  readonly ms: number;
  /** Whether its tests could be collected, and it ended. */
  readonly isLoaded: boolean;
  /** Of the file itself and of hooks around its tests. */
  readonly errors: readonly string[];
  readonly tests: readonly TestReport[];
};

export type RunReport = {
  readonly files: readonly FileReport[];
  /** Errors that belong to no test, and workers that died. */
  readonly unhandled: readonly string[];
  /** Why vitest didn't get to its end by itself: it was killed because it was stuck, or it broke down. */
  readonly cutOff?: "timed out" | "broken";
};

/** One line of the progress of a run. The unhandled errors are those since the line before. */
export type ProgressLine =
  | { readonly started: string }
  | { readonly ended: FileReport; readonly unhandled: readonly string[] }
  | { readonly over: true; readonly unhandled: readonly string[] };

export function hasFailed({ errors, tests }: FileReport): boolean {
  return errors.length > 0 || tests.some(({ state }) => state === "failed");
}
