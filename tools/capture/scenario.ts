/** What is run, and what each question is expected to be. */
export type Expected = {
  readonly class: string;
  readonly yes?: string;
  readonly no?: string;
  readonly default?: string;
  /** Keys of the choices, in their order. */
  readonly keys?: readonly string[];
  readonly highlighted?: string;
};

export type Ask = {
  /** Absent: a step on the way, not a sample. */
  readonly expect?: Expected;
  readonly answer?: string;
};

export type Scenario = {
  readonly id: string;
  /** A bash script. */
  readonly run: string;
  readonly lang?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly asks: readonly Ask[];
  /** Runs to its end without a question: a negative. */
  readonly ends?: boolean;
};

export const LOCALES = ["de_DE.UTF-8", "fr_FR.UTF-8", "es_ES.UTF-8", "ja_JP.UTF-8", "zh_CN.UTF-8"];

type More = Omit<Expected, "class">;

export const yesNo = (answer?: string, more: More = {}): Ask => ask("YES_NO", answer, more);
export const enter = (answer?: string): Ask => ask("CONFIRM_ENTER", answer);
export const choice = (answer?: string, more: More = {}): Ask => ask("NUMBERED_CHOICE", answer, more);
export const text = (answer?: string, more: More = {}): Ask => ask("FREE_TEXT", answer, more);
export const secret = (answer?: string): Ask => ask("PASSWORD_INPUT", answer);
export const chat = (answer?: string): Ask => ask("CHAT_INPUT", answer);
export const none = (answer?: string): Ask => ask("NONE", answer);
/** Typed on the way. */
export const step = (answer: string): Ask => ({ answer });

function ask(name: string, answer: string | undefined, more: More = {}): Ask {
  return { expect: { class: name, ...more }, ...(answer !== undefined && { answer }) };
}

/** The same in several languages. */
export function inLocales(scenario: Scenario, locales: readonly string[] = LOCALES): Scenario[] {
  return locales.map((lang) => ({ ...scenario, id: `${scenario.id}-${lang.slice(0, 2)}`, lang }));
}
