/** Scripts that stand in words, and what in words can't be read at all. */
import { isPlainName } from "./computed-names.ts";
import type {
  ShellArithmetic,
  ShellOperation,
  ShellScript,
  ShellTest,
  ShellWord,
  ShellWordPart,
} from "./shell-tree.ts";

/** What is told while words are walked through. */
export type WordVisitor = {
  readonly script: (script: ShellScript | undefined, text: string) => void;
  readonly node: (type: string, text: string) => void;
  /** Something in it can't be read. */
  readonly unclear: (text: string) => void;
  /** This name may be given a value here, or a number be computed from texts. */
  readonly setting: (name?: string) => void;
  /** What a name or an expansion stands for is computed: the shell reads it again, substitutions and all. */
  readonly computed: () => void;
};

/** Their values are the shell's own. */
const NUMBERS = /^(?:[-+]?\d\w*|0x[\da-f]+|RANDOM|SECONDS|LINENO|EPOCHSECONDS|\$?[#?]|\$?\{#\w+\}|[@*])$/i;

export function computes(text: string | undefined, visitor: WordVisitor): void {
  if (text !== undefined && !NUMBERS.test(text.trim())) visitor.computed();
}

export function visitWord(word: ShellWord | undefined, visitor: WordVisitor): void {
  if (word === undefined) return;
  visitor.node("Word", word.text);
  visitParts(word.parts, visitor);
}

export function visitParts(parts: readonly ShellWordPart[] | undefined, visitor: WordVisitor): void {
  for (const part of parts ?? []) visitPart(part, visitor);
}

function visitPart(part: ShellWordPart, visitor: WordVisitor): void {
  visitor.node(part.type, part.text);
  switch (part.type) {
    case "Literal":
    case "SingleQuoted":
    case "AnsiCQuoted":
    case "SimpleExpansion":
      return;
    case "Glob":
    case "ExtendedGlob":
    case "BraceExpansion":
    case "DoubleQuoted":
    case "LocaleString":
      return visitParts(part.parts, visitor);
    case "CommandExpansion":
    case "ProcessSubstitution":
      return visitor.script(part.script, part.text);
    case "ArithmeticExpansion":
      visitor.setting();
      return visitArithmetic(part.expression, visitor, part.text);
    case "ParameterExpansion":
      if (part.prefix === "!" || part.index !== undefined) visitor.setting();
      // `${!x}` reads the index that stands in x; `${!x*}` and `${!x[@]}` only list.
      if (part.prefix === "!" && part.index === undefined && part.operation?.type !== "Names") visitor.computed();
      computes(part.index?.text, visitor);
      visitWord(part.index, visitor);
      if (part.operation?.type === "Default" && part.operation.operator.endsWith("=")) visitor.setting(part.parameter);
      return visitOperation(part.operation, visitor, part.text);
    default:
      visitor.unclear((part as { readonly text: string }).text);
  }
}

function visitOperation(operation: ShellOperation | undefined, visitor: WordVisitor, text: string): void {
  switch (operation?.type) {
    case undefined:
    case "Names":
      return;
    case "Default":
    case "Remove":
      return visitWord(operation.operand, visitor);
    case "CaseModification":
      return visitWord(operation.operand, visitor);
    case "Replace":
      visitWord(operation.pattern, visitor);
      return visitWord(operation.replacement, visitor);
    case "Slice":
      visitor.setting();
      computes(operation.offset?.text, visitor);
      computes(operation.length?.text, visitor);
      visitWord(operation.offset, visitor);
      return visitWord(operation.length, visitor);
    default:
      // `${x@P}` runs what stands in x; others aren't bash's.
      visitor.unclear(text);
  }
}

export function visitArithmetic(expression: ShellArithmetic | undefined, visitor: WordVisitor, text: string): void {
  switch (expression?.type) {
    case undefined:
      return visitor.unclear(text);
    case "ArithmeticBinary":
      visitArithmetic(expression.left, visitor, text);
      return visitArithmetic(expression.right, visitor, text);
    case "ArithmeticUnary":
      return visitArithmetic(expression.operand, visitor, text);
    case "ArithmeticTernary":
      visitArithmetic(expression.test, visitor, text);
      visitArithmetic(expression.consequent, visitor, text);
      return visitArithmetic(expression.alternate, visitor, text);
    case "ArithmeticGroup":
      return visitArithmetic(expression.expression, visitor, text);
    case "ArithmeticWord":
      // An index is computed anew, and may be a substitution by then.
      if (/[[\]]/.test(expression.value)) visitor.unclear(text);
      visitor.setting(expression.value);
      computes(expression.value, visitor);
      return visitParts(expression.parts, visitor);
    case "ArithmeticCommandExpansion":
      visitor.computed();
      return visitor.script(expression.script, text);
    default:
      visitor.unclear(text);
  }
}

export function visitTest(test: ShellTest, visitor: WordVisitor): void {
  switch (test.type) {
    case "TestUnary":
      if (test.operator === "-v" || test.operator === "-R") {
        visitor.setting();
        if (!isPlainName(test.operand.text)) visitor.computed();
      }
      return visitWord(test.operand, visitor);
    case "TestBinary":
      if (/^-(?:eq|ne|lt|le|gt|ge)$/.test(test.operator)) {
        visitor.setting();
        computes(test.left.text, visitor);
        computes(test.right.text, visitor);
      }
      visitWord(test.left, visitor);
      return visitWord(test.right, visitor);
    case "TestLogical":
      for (const operand of test.operands) visitTest(operand, visitor);
      return;
    case "TestNot":
      return visitTest(test.operand, visitor);
    case "TestGroup":
      return visitTest(test.expression, visitor);
    default:
      visitor.unclear("[[");
  }
}
