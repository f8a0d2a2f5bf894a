/** One simple command of an action, or a piece of it that rules judge apart (a redirection, an assignment): what is known of it. */
import type { Effect, Touch } from "./verdict.ts";

export type Part = {
  readonly text: string;
  /** Without its path; empty where there is none. */
  readonly program: string;
  /** Its words without options and their values, the program first; `undefined`: a word that nobody knows. */
  readonly words: readonly (string | undefined)[];
  readonly options: readonly string[];
  readonly effects: readonly Effect[];
  readonly touches: readonly Touch[];
  /** Programs and script files as they are named. */
  readonly programs: readonly string[];
  readonly scripts: readonly string[];
};

export function barePart(text: string, effects: readonly Effect[], touches: readonly Touch[] = []): Part {
  return { text, program: "", words: [], options: [], effects, touches, programs: [], scripts: [] };
}
