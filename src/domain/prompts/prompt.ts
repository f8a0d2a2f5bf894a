/**
 * What a program asks. The kernel says that a question stands (domain/waiting.ts); the text on the screen says what it
 * is and which literals answer it. Rules PMT-1..PMT-24 in docs/spec/prompts.md.
 */
import type { Confidence, WaitingKind } from "../waiting.ts";

/** The deterministic classifier gives neither of the last two: only an ML classifier does. */
export type PromptClass =
  | "YES_NO"
  | "CONFIRM_ENTER"
  | "NUMBERED_CHOICE"
  | "FREE_TEXT"
  | "PASSWORD_INPUT"
  | "CHAT_INPUT"
  | "FOLDER_TRUST"
  | "RAW_TERMINAL";

export type PromptConfidence = "HIGH" | "MED" | "LOW";

/** The rendered end of the screen. */
export type PromptView = {
  readonly lines: readonly string[];
  /** In characters of its line, not in columns. Absent: behind the last line. */
  readonly cursor?: { readonly row: number; readonly column: number } | undefined;
  /** Width of the screen: a full line goes on in the next. */
  readonly columns?: number | undefined;
};

/** What the kernel said; `none`: nobody could look. */
export type PromptEvidence = {
  readonly kind: WaitingKind | "none";
  readonly confidence: Confidence;
  readonly program: string;
  readonly echo?: boolean | undefined;
  readonly canonical?: boolean | undefined;
  /** How long nothing was printed. */
  readonly quietMs?: number | undefined;
};

export type PromptChoice = {
  /** What a person answers with: `1`, `yes`, `web`. */
  readonly key: string;
  readonly label: string;
  /** What the program wants to read for it; absent for items that are reached by arrow keys. */
  readonly types?: string | undefined;
  readonly highlighted?: boolean | undefined;
  /** State of a check box. */
  readonly checked?: boolean | undefined;
};

/**
 * How an answer is entered: a `line` is read with its Enter, `keys` take text and Enter apart, `key` is one key without
 * Enter, `arrows` and `buttons` move a highlight by the arrow keys or Tab, `sideways` by left and right.
 */
export type PromptEntry = "line" | "keys" | "key" | "arrows" | "sideways" | "buttons";

export type Prompt = {
  readonly class: PromptClass;
  readonly confidence: PromptConfidence;
  readonly question: string;
  readonly choices: readonly PromptChoice[];
  /** Key of the choice, or the text, that Enter alone stands for. */
  readonly default?: string | undefined;
  /** Literals as the program spells them, `[fingerprint]` for a text of that kind. */
  readonly accepts: readonly string[];
  readonly entry: PromptEntry;
  /** Several items can be checked before Enter. */
  readonly multiple?: boolean | undefined;
};

export type NotAsked = "still_printing" | "shell_prompt" | "screen_program" | "not_a_prompt";

export type Classified =
  | { readonly asked: true; readonly prompt: Prompt }
  | { readonly asked: false; readonly reason: NotAsked };

/** What the text alone says; confidence and entry come from the evidence. */
export type TextFinding = Pick<Prompt, "class" | "choices" | "accepts"> &
  Partial<Pick<Prompt, "default" | "question" | "entry" | "multiple">> & {
    /** The form is beyond doubt: brackets, a highlight, a literal. */
    readonly explicit: boolean;
  };
