/** How an answer of each class is carried out. The table is frozen: a plan is looked up, never made or changed. */
import type { PromptClass } from "./prompt.ts";

export type ButtonLayout = "yes_no" | "enter" | "choices" | "text" | "secret_link" | "trust" | "none";

export type ExecutionPlan = {
  readonly class: PromptClass;
  readonly appendCr: true;
  /** The value stands in no feedback, event or log. */
  readonly suppressValue: boolean;
  readonly maxRetries: 0 | 1;
  readonly retryDelayMs: number;
  readonly verifyAdvance: boolean;
  readonly advanceTimeoutMs: number;
  readonly escalateOnExhaustion: boolean;
  readonly displayTemplate: string;
  readonly retryTemplate: string;
  readonly escalationTemplate: string;
  readonly buttonLayout: ButtonLayout;
};

const COMMON = {
  appendCr: true,
  suppressValue: false,
  maxRetries: 1,
  retryDelayMs: 2_000,
  verifyAdvance: true,
  advanceTimeoutMs: 5_000,
  escalateOnExhaustion: true,
  displayTemplate: 'Sent: "{value}" + Enter',
  retryTemplate: 'CLI did not respond to "{value}", retrying...',
  escalationTemplate: 'CLI did not respond to "{value}" after retries. Please respond locally.',
} as const;

const ROWS: Readonly<Record<PromptClass, Omit<ExecutionPlan, "class">>> = {
  YES_NO: { ...COMMON, displayTemplate: "Sent: {value} + Enter", buttonLayout: "yes_no" },
  CONFIRM_ENTER: {
    ...COMMON,
    // `Enter`, or a pager's key, which may need none.
    displayTemplate: "Sent: {value}",
    retryTemplate: "CLI did not respond to {value}, retrying...",
    escalationTemplate: "CLI did not respond to {value} after retries. Please respond locally.",
    buttonLayout: "enter",
  },
  NUMBERED_CHOICE: {
    ...COMMON,
    displayTemplate: "Sent: option {value} + Enter",
    retryTemplate: "CLI did not respond to option {value}, retrying...",
    escalationTemplate: "CLI did not respond to option {value} after retries. Please respond locally.",
    buttonLayout: "choices",
  },
  FREE_TEXT: { ...COMMON, buttonLayout: "text" },
  PASSWORD_INPUT: {
    ...COMMON,
    suppressValue: true,
    maxRetries: 0,
    displayTemplate: "Sent: [REDACTED] + Enter",
    retryTemplate: "",
    escalationTemplate: "CLI did not respond to the credential. It was not sent again. Please respond locally.",
    buttonLayout: "secret_link",
  },
  CHAT_INPUT: {
    ...COMMON,
    maxRetries: 0,
    verifyAdvance: false,
    escalateOnExhaustion: false,
    displayTemplate: 'Sent: "{value}"',
    retryTemplate: "",
    escalationTemplate: "",
    buttonLayout: "none",
  },
  FOLDER_TRUST: {
    ...COMMON,
    escalationTemplate: 'The trust question did not respond to "{value}" after retries. Please respond locally.',
    buttonLayout: "trust",
  },
  RAW_TERMINAL: {
    ...COMMON,
    maxRetries: 0,
    displayTemplate: "",
    retryTemplate: "",
    escalationTemplate: "This question can't be answered from here. Please respond locally.",
    buttonLayout: "none",
  },
};

const PLANS = Object.freeze(
  Object.fromEntries(
    Object.entries(ROWS).map(([name, row]) => [name, Object.freeze({ class: name as PromptClass, ...row })]),
  ),
) as Readonly<Record<PromptClass, ExecutionPlan>>;

export function buildPlan(promptClass: PromptClass): ExecutionPlan {
  return PLANS[promptClass];
}
