/** What came of an approval, in words that every place shows alike. */
import { isTyped, type ShownApproval } from "./approval-words.ts";

export type CameOf = { readonly outcome: "run" | "not_run" | "unknown"; readonly words: string };

type Decided = ShownApproval & { readonly result?: Readonly<Record<string, unknown>> | undefined };

/** Undefined: nothing follows by itself, or not yet. */
export function whatCameOf(approval: Decided): CameOf | undefined {
  const { outcome, code, changed, violated } = approval.result ?? {};
  switch (outcome) {
    case "unknown":
      return { outcome, words: "whether it ran can't be known: look at the terminal" };
    case "not_run": {
      const why = Array.isArray(changed) ? `${changedWords(changed)} changed since it was asked` : String(code);
      return { outcome, words: `nothing was run: ${why}` };
    }
    case "run": {
      const touched = Array.isArray(violated) ? `, and ${violatedWords(violated)} was touched while it ran` : "";
      return { outcome, words: isTyped(approval) ? "it was typed" : `it was started${touched}` };
    }
    default:
      return undefined;
  }
}

/** Parts of what was bound, as they are named on the wire: `script:./x`, `cwd`. */
export function changedWords(changed: readonly unknown[]): string {
  return changed.map((it) => String(it).replace(/^(program|script):/, "$1 ")).join(", ");
}

function violatedWords(violated: readonly { readonly what: string }[]): string {
  return changedWords(violated.map(({ what }) => what));
}
