/** How long a terminal waits for what may never come, before it goes on without it. Milliseconds. */
export type TerminalPatience = {
  /** Of the steps that end a run, each before the next one; after the last one the shell is replaced. */
  readonly exitMs: number;
  readonly interruptMs: number;
  readonly sigtermMs: number;
  readonly sigkillMs: number;
  /** Of each signal that ends a session. */
  readonly terminateStepMs: number;
  /** A shell that is asked for its state and is all right answers within some milliseconds, on a busy machine within some hundred. */
  readonly answerMs: number;
  /** A shell that is stopped, or hangs in its own hooks, must not hold up whoever runs a command. */
  readonly beginMs: number;
  /** How long a shell may take to show its first prompt before the kernel's word alone counts. */
  readonly marksMs: number;
  /** A shell that was stopped and isn't at its prompt by then is replaced. */
  readonly promptMs: number;
  /** What a stop has killed and is there even then is told as a survivor. */
  readonly dyingMs: number;
  /** The receipt of a stop doesn't wait longer for the shell in the place of another: its disk may hang. */
  readonly respawnMs: number;
  /** What follows a Ctrl+C waits for the shell to take that; one that ignores it, or hangs, holds up nobody for long. */
  readonly heedMs: number;
};

export const PATIENCE: TerminalPatience = {
  exitMs: 1_000,
  interruptMs: 1_000,
  sigtermMs: 1_000,
  sigkillMs: 1_000,
  terminateStepMs: 500,
  answerMs: 3_000,
  beginMs: 3_000,
  marksMs: 1_500,
  promptMs: 150,
  dyingMs: 500,
  respawnMs: 2_000,
  heedMs: 100,
};
