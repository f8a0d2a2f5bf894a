/**
 * The classifier's word and an optional ML classifier's, made one by the seed's six rules. Only the deterministic
 * classifier says what is typed; ML can take trust away, never add any. Rules PMT-30..PMT-36 in docs/spec/prompts.md.
 */
import type { Prompt, PromptClass, PromptConfidence } from "./prompt.ts";

export type MLVerdict = PromptClass | "UNKNOWN";

/** No model comes with Sidestick; whoever has one implements this. */
export type MLClassifier = {
  classify(text: string, given: PromptClass): MLVerdict | undefined;
};

export const nullMLClassifier: MLClassifier = { classify: () => undefined };

export type Fused = {
  /** As the deterministic classifier gave it: choices, literals and entry are never ML's. */
  readonly prompt: Prompt;
  /** How it is shown. */
  readonly class: PromptClass;
  readonly confidence: PromptConfidence;
  readonly source: "deterministic" | "fused" | "ml";
  readonly disagreement: boolean;
  /** A person has to look at the terminal itself. */
  readonly escalate: boolean;
  /** `literal`: a person's text as it is, because the class is only ML's. */
  readonly typing: "by_class" | "literal" | "none";
};

export function fuse(prompt: Prompt, verdict: MLVerdict | undefined): Fused {
  const alone: Fused = {
    prompt,
    class: prompt.class,
    confidence: prompt.confidence,
    source: "deterministic",
    disagreement: false,
    escalate: false,
    typing: "by_class",
  };
  if (verdict === undefined || verdict === "UNKNOWN") return alone;
  // Rule 1 is before rule 6: a HIGH class stays also against what only ML knows.
  if (prompt.confidence === "HIGH") return alone;
  if (prompt.class === "PASSWORD_INPUT" && verdict !== "PASSWORD_INPUT") return disagreed(alone, prompt.class);
  if (isMLOnly(verdict)) return byML(alone, verdict);
  if (prompt.confidence === "LOW") return byML(alone, verdict);
  if (verdict === prompt.class) return { ...alone, confidence: "HIGH", source: "fused" };
  return disagreed(alone, verdict === "PASSWORD_INPUT" ? verdict : prompt.class);
}

function isMLOnly(verdict: MLVerdict): boolean {
  return verdict === "FOLDER_TRUST" || verdict === "RAW_TERMINAL";
}

function byML(fused: Fused, verdict: PromptClass): Fused {
  const raw = verdict === "RAW_TERMINAL";
  return { ...fused, class: verdict, source: "ml", escalate: raw, typing: raw ? "none" : "literal" };
}

function disagreed(fused: Fused, shown: PromptClass): Fused {
  return { ...fused, class: shown, disagreement: true, escalate: true, typing: "literal" };
}
