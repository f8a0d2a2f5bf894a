/** What bash's grammar reads otherwise than the shell that would get the text. Rule POL-9 in docs/spec/policy.md. */
import type { ShellDialect } from "./action.ts";

type Strange = { readonly nodes: ReadonlySet<string>; readonly text?: RegExp };

const BASH_ONLY =
  "TestCommand ArithmeticCommand ArithmeticFor Coproc Select HereString ProcessSubstitution ArrayValue AnsiCQuoted LocaleString ExtendedGlob";
const COMPOUND =
  "If For While Subshell BraceGroup Case Function Redirected HereDoc ParameterExpansion ArithmeticExpansion";
const OF_ZSH = "ExtendedGlob Coproc Select LocaleString";

const STRANGE: Readonly<Record<Exclude<ShellDialect, "bash">, Strange>> = {
  dash: { nodes: new Set(BASH_ONLY.split(" ")) },
  // `=cmd` is a path there.
  zsh: { nodes: new Set(OF_ZSH.split(" ")), text: /^=|^(?:noglob|nocorrect|repeat|foreach|-)$/ },
  // A backslash before a letter is another letter there, and in single quotes it quotes.
  fish: {
    nodes: new Set([...BASH_ONLY.split(" "), ...COMPOUND.split(" ")]),
    text: /\\[a-zA-Z0-9]|'[^']*\\|^(?:and|or|not|begin|end|if|while|for|switch|function|set|builtin)$|`/,
  },
  other: { nodes: new Set([...BASH_ONLY.split(" "), ...COMPOUND.split(" ")]), text: /\\[a-zA-Z0-9]|'[^']*\\|^=|`/ },
};

export function isStrangeNode(dialect: ShellDialect, type: string): boolean {
  return dialect !== "bash" && STRANGE[dialect].nodes.has(type);
}

export function isStrangeWord(dialect: ShellDialect, text: string): boolean {
  return dialect !== "bash" && STRANGE[dialect].text?.test(text) === true;
}
