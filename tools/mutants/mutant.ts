/** A deliberate fault. Its text stands exactly once in its file; a test sees to that. */
export type Mutant = {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly becomes: string;
  /** Those that must catch it. */
  readonly tests: readonly string[];
};
