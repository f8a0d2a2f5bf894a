/** Signals that end a command, as something to wait for. */
import { constants } from "node:os";

const ENDING = ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"] as const;

export type EndingSignal = (typeof ENDING)[number];

/** Calls back for each until disposed. */
export function onEndingSignal(react: (signal: EndingSignal) => void): Disposable {
  for (const signal of ENDING) process.on(signal, react);
  return {
    [Symbol.dispose]: () => {
      for (const signal of ENDING) process.off(signal, react);
    },
  };
}

/** As shells say it. */
export function signalExitCode(name: string): number {
  const full = (name.startsWith("SIG") ? name : `SIG${name}`) as NodeJS.Signals;
  return 128 + (constants.signals[full] ?? 0);
}

export type Interruption = Disposable & {
  readonly signal: AbortSignal;
  /** What the command ends with then. */
  readonly exitCode: () => number;
};

export function untilInterrupted(): Interruption {
  const abort = new AbortController();
  let by: EndingSignal = "SIGINT";
  const listening = onEndingSignal((signal) => {
    by = signal;
    abort.abort();
  });
  return {
    signal: abort.signal,
    exitCode: () => signalExitCode(by),
    [Symbol.dispose]: () => listening[Symbol.dispose](),
  };
}
