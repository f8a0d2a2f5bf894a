/** Options of commands, as `node:util` parses them, with a word for the help; and checks of their values. */
import { UsageError } from "./exit.ts";

export type Option = {
  readonly type: "string" | "boolean";
  readonly help: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  /** May be given several times. */
  readonly multiple?: boolean;
};
export type Options = Readonly<Record<string, Option>>;

export const COMMON_OPTIONS = {
  json: { type: "boolean", help: "answer, and failures on stderr, as JSON" },
  "data-dir": {
    type: "string",
    value: "DIR",
    help: "the hub's data directory (default: $SIDESTICK_DATA_DIR or as configured)",
  },
  url: {
    type: "string",
    value: "URL",
    help: "a hub elsewhere ($SIDESTICK_URL); needs a token in $SIDESTICK_TOKEN or --token-file",
  },
  "token-file": { type: "string", value: "FILE", help: "act with the token in this file" },
  help: { type: "boolean", help: "this text" },
} as const satisfies Options;

export function oneOf<T extends string>(value: string, choices: readonly T[], option: string): T {
  const found = choices.find((choice) => choice === value);
  if (found === undefined) throw new UsageError(`${option} is "${value}", but should be one of ${choices.join(", ")}.`);
  return found;
}

export function wholeNumber(value: string, option: string): number {
  const number = /^\d+$/.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number)) throw new UsageError(`${option} is "${value}", but should be a whole number.`);
  return number;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** `90s`, `30m`, `12h`, `30d`, `4w` */
export function durationSeconds(value: string, option: string): number {
  const [, count, unit = ""] = /^(\d+)([smhdw])$/.exec(value) ?? [];
  const seconds = Number(count) * (UNIT_SECONDS[unit] ?? Number.NaN);
  if (!Number.isSafeInteger(seconds) || seconds < 1) {
    throw new UsageError(`${option} is "${value}", but should be a time such as 90s, 30m, 12h, 30d or 4w.`);
  }
  return seconds;
}

/** Seconds, also with a fraction, or a time such as `5m`; the answer is in milliseconds. */
export function timeoutMs(value: string, option: string): number {
  return /^\d+(?:\.\d+)?$/.test(value) ? Math.round(Number(value) * 1000) : durationSeconds(value, option) * 1000;
}
