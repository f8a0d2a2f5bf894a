/**
 * The tree of a shell text, as far as policy reads it: the structural subset of what the parser gives. The parser is a
 * package and is passed in; TypeScript checks where that is done that its tree fits this one.
 */
export type ParseShell = (text: string) => ShellScript;

type Placed = { readonly pos: number; readonly end: number };

export type ShellScript = Placed & {
  readonly type: "Script";
  readonly commands: readonly ShellStatement[];
  /** Of scripts in escaped backticks: positions below count in it. */
  readonly source?: string;
  readonly errors?: readonly unknown[] | undefined;
};

export type ShellStatement = Placed & { readonly command: ShellNode };
export type ShellList = { readonly commands: readonly ShellStatement[] };

export type ShellWord = Placed & {
  readonly type: "Word";
  readonly text: string;
  readonly value: string;
  readonly parts?: readonly ShellWordPart[] | undefined;
};

export type ShellWordPart =
  | { readonly type: "Literal" | "SingleQuoted" | "AnsiCQuoted"; readonly value: string; readonly text: string }
  | { readonly type: "Glob"; readonly text: string; readonly parts?: readonly ShellWordPart[] | undefined }
  | { readonly type: "DoubleQuoted" | "LocaleString"; readonly text: string; readonly parts: readonly ShellWordPart[] }
  | { readonly type: "SimpleExpansion"; readonly text: string }
  | ShellParameter
  | { readonly type: "CommandExpansion"; readonly text: string; readonly script: ShellScript | undefined }
  | { readonly type: "ArithmeticExpansion"; readonly text: string; readonly expression: ShellArithmetic | undefined }
  | { readonly type: "ProcessSubstitution"; readonly text: string; readonly script: ShellScript | undefined }
  | {
      readonly type: "ExtendedGlob" | "BraceExpansion";
      readonly text: string;
      readonly parts?: readonly ShellWordPart[] | undefined;
    };

export type ShellParameter = {
  readonly type: "ParameterExpansion";
  readonly text: string;
  readonly parameter: string;
  readonly prefix: "!" | "#" | undefined;
  readonly index: ShellWord | undefined;
  readonly operation: ShellOperation | undefined;
};

export type ShellOperation =
  | { readonly type: "Default" | "Remove" | "Transform"; readonly operator: string; readonly operand: ShellWord }
  | { readonly type: "CaseModification"; readonly operand: ShellWord | undefined }
  | { readonly type: "Replace"; readonly pattern: ShellWord; readonly replacement: ShellWord }
  | { readonly type: "Slice"; readonly offset: ShellWord; readonly length: ShellWord | undefined }
  | { readonly type: "Names" | "Unknown" };

export type ShellArithmetic =
  | { readonly type: "ArithmeticBinary"; readonly left: ShellArithmetic; readonly right: ShellArithmetic }
  | { readonly type: "ArithmeticUnary"; readonly operand: ShellArithmetic }
  | {
      readonly type: "ArithmeticTernary";
      readonly test: ShellArithmetic;
      readonly consequent: ShellArithmetic;
      readonly alternate: ShellArithmetic;
    }
  | { readonly type: "ArithmeticGroup"; readonly expression: ShellArithmetic }
  | { readonly type: "ArithmeticWord"; readonly value: string; readonly parts?: readonly ShellWordPart[] | undefined }
  | { readonly type: "ArithmeticCommandExpansion"; readonly script: ShellScript | undefined };

export type ShellTest =
  | { readonly type: "TestUnary"; readonly operator: string; readonly operand: ShellWord }
  | { readonly type: "TestBinary"; readonly operator: string; readonly left: ShellWord; readonly right: ShellWord }
  | { readonly type: "TestLogical"; readonly operands: readonly ShellTest[] }
  | { readonly type: "TestNot"; readonly operand: ShellTest }
  | { readonly type: "TestGroup"; readonly expression: ShellTest };

export type ShellAssignment = Placed & {
  readonly type: "Assignment";
  readonly text: string;
  readonly name: string;
  readonly value: ShellWord | { readonly type: "ArrayValue"; readonly elements: readonly ShellWord[] };
  readonly index: ShellWord | undefined;
};

export type ShellRedirection = Placed &
  (
    | { readonly type: "Redirect"; readonly operator: string; readonly target: ShellWord | undefined }
    | { readonly type: "HereString"; readonly target: ShellWord | undefined }
    | {
        readonly type: "HereDoc";
        readonly delimiter: { readonly quoted: boolean } | undefined;
        readonly body: { readonly text: string; readonly parts: readonly ShellWordPart[] | undefined };
        readonly closing: Placed | undefined;
      }
  );

export type ShellCommand = Placed & {
  readonly type: "Command";
  readonly name: ShellWord | undefined;
  readonly prefix: readonly (ShellAssignment | ShellRedirection)[];
  readonly suffix: readonly (ShellWord | ShellAssignment | ShellRedirection)[];
};

export type ShellNode = Placed &
  (
    | ShellCommand
    | { readonly type: "Pipeline"; readonly commands: readonly ShellNode[] }
    | { readonly type: "AndOr"; readonly commands: readonly ShellNode[] }
    | { readonly type: "Redirected"; readonly command: ShellNode; readonly redirects: readonly ShellRedirection[] }
    | {
        readonly type: "If";
        readonly clause: ShellList;
        readonly then: ShellList;
        readonly elif: readonly { readonly clause: ShellList; readonly then: ShellList }[];
        readonly else: ShellList | undefined;
      }
    | {
        readonly type: "For" | "Select";
        readonly name: ShellWord;
        readonly wordlist: readonly ShellWord[] | undefined;
        readonly body: ShellList;
      }
    | {
        readonly type: "ArithmeticFor";
        readonly initialize: ShellArithmetic | undefined;
        readonly test: ShellArithmetic | undefined;
        readonly update: ShellArithmetic | undefined;
        readonly body: ShellList;
      }
    | { readonly type: "While"; readonly clause: ShellList; readonly body: ShellList }
    | { readonly type: "Subshell" | "BraceGroup"; readonly body: ShellList }
    | {
        readonly type: "Case";
        readonly word: ShellWord;
        readonly items: readonly { readonly pattern: readonly ShellWord[]; readonly body: ShellList }[];
      }
    | { readonly type: "Function"; readonly name: ShellWord; readonly body: ShellNode | ShellCompoundList }
    | { readonly type: "Coproc"; readonly body: ShellNode | ShellCompoundList }
    | { readonly type: "TestCommand"; readonly expression: ShellTest }
    | { readonly type: "ArithmeticCommand"; readonly expression: ShellArithmetic | undefined }
  );

export type ShellCompoundList = Placed & ShellList & { readonly type: "CompoundList" };
