/**
 * Walks through a shell text and gives every simple command that it can run: its words, its assignments and
 * redirections, where its data comes from, and the directories in which it may run. Rules POL-2, POL-4, POL-5, POL-9.
 */
import type { Circumstances } from "./action.ts";
import { isStrangeNode, isStrangeWord } from "./dialects.ts";
import { holdsSecret } from "./environment.ts";
import { type Directories, inDirectory } from "./paths.ts";
import type { Stdin } from "./program.ts";
import type {
  ParseShell,
  ShellAssignment,
  ShellCommand,
  ShellCompoundList,
  ShellList,
  ShellNode,
  ShellRedirection,
  ShellScript,
} from "./shell-tree.ts";
import { computes, visitArithmetic, visitParts, visitTest, visitWord, type WordVisitor } from "./substitutions.ts";
import { namesFrom } from "./wrappers.ts";
import { oneWordOf, type Scope, type Value, type Word, wordsOf } from "./words.ts";

export type SimpleCommand = {
  readonly text: string;
  readonly words: readonly Word[];
  readonly assignments: readonly { readonly name: string; readonly value: Word; readonly text: string }[];
  readonly redirections: readonly { readonly operator: string; readonly target: Word; readonly text: string }[];
  readonly stdin: Stdin;
  readonly depth: number;
};

/** What reads a shell text tells. */
export type CommandVisitor = {
  /** May change where the shell is. */
  readonly command: (command: SimpleCommand, shell: Shell) => void;
  readonly computed: () => void;
  readonly unclear: (text: string) => void;
  readonly defined: (name: string, text: string) => void;
  readonly setting: (name?: string) => void;
  readonly counts: (name: string) => void;
  /** What a variable holds that should be a secret is put into a command. */
  readonly secret: (text: string) => void;
  /** Text in which substitutions stand that bash doesn't see yet. */
  readonly hidden: () => void;
};

/** One shell's state on the way; a subshell has its own. */
export type Shell = { directories: Directories };

type Frame = {
  readonly source: string;
  readonly shell: Shell;
  readonly variables: ReadonlyMap<string, readonly Value[]>;
  readonly stdin: Stdin;
  readonly depth: number;
};

export type Reading = {
  readonly circumstances: Circumstances;
  readonly parse: ParseShell;
  readonly visitor: CommandVisitor;
  /** Whether what a loop counts through is known in it. */
  readonly knowsLoops: boolean;
};

/** Text in text is read again for each level. */
export const DEPTH_MAX = 16;
/** Braces without an end and here-documents in hundreds cost the parser more than their length. */
const BRACES_MAX = 200;
const HERE_DOCUMENTS_MAX = 200;
/** Braces make many words of few. */
const WORDS_MAX = 40_000;
/** Each loop whose values are known is looked for in the whole text. */
const LOOPS_KNOWN = 50;
const BLANKS = /^(?:[ \t]|\\\n)*$/;
const BEHIND_MAX = 1000;
const BEHIND = /^(?:[ \t]|\\\n)*(?:$|[;&|\n)#`])/;
const HIDDEN: Readonly<Record<string, RegExp>> = {
  SingleQuoted: /`|\$(?!\w)/,
  AnsiCQuoted: /[$`\\]/,
  Literal: /\\[$`]/,
  Word: /\\[$`]/,
};
const NOTHING: Stdin = { kind: "none" };

export class CommandReader {
  readonly #reading: Reading;
  #loops = 0;

  constructor(reading: Reading) {
    this.#reading = reading;
  }

  read(
    text: string,
    shell: Shell,
    { depth, stdin = NOTHING }: { readonly depth: number; readonly stdin?: Stdin },
  ): void {
    const isCostly = runsOf(text, /\{/g, BRACES_MAX) || runsOf(text, /<</g, HERE_DOCUMENTS_MAX);
    if (isCostly) return this.#reading.visitor.unclear(text);
    this.#script(this.#reading.parse(text), { source: text, shell, variables: new Map(), stdin, depth });
  }

  #script(script: ShellScript, frame: Frame): void {
    const source = script.source ?? frame.source;
    if (script.errors !== undefined && script.errors.length > 0)
      this.#reading.visitor.unclear(source.slice(script.pos, script.end));
    this.#list(script, { ...frame, source });
  }

  #list(list: ShellList, frame: Frame): void {
    for (const statement of list.commands) this.#node(statement.command, frame);
  }

  #node(node: ShellNode | ShellCompoundList, frame: Frame): void {
    const text = textAt(frame, node);
    this.#look(node.type, text);
    switch (node.type) {
      case "Command":
        return this.#command(node, frame);
      case "CompoundList":
        return this.#list(node, frame);
      case "AndOr":
        for (const each of node.commands) this.#node(each, frame);
        return;
      case "Pipeline":
        for (const [index, each] of node.commands.entries()) {
          const before = node.commands[index - 1];
          this.#node(
            each,
            before === undefined ? frame : { ...frame, stdin: { kind: "pipe", names: this.#names(before, frame) } },
          );
        }
        return;
      case "Redirected": {
        const { redirections, stdin } = this.#redirections(node.redirects, frame);
        this.#tell({ text, words: [], assignments: [], redirections, stdin, depth: frame.depth }, frame);
        return this.#node(node.command, { ...frame, stdin });
      }
      case "Subshell":
        return this.#list(node.body, { ...frame, shell: { ...frame.shell } });
      case "BraceGroup":
        return this.#list(node.body, frame);
      case "Function":
        this.#reading.visitor.defined(node.name.value, text);
        return this.#node(node.body, { ...frame, shell: { ...frame.shell }, stdin: NOTHING });
      case "Coproc":
        return this.#node(node.body, { ...frame, shell: { ...frame.shell } });
      default:
        return this.#compound(node, frame, text);
    }
  }

  #compound(node: ShellNode, frame: Frame, text: string): void {
    const visitor = this.#visitor(frame);
    switch (node.type) {
      case "If":
        for (const list of [node.clause, node.then, ...node.elif.flatMap((each) => [each.clause, each.then])])
          this.#list(list, frame);
        if (node.else !== undefined) this.#list(node.else, frame);
        return;
      case "While":
        return this.#loop([node.clause, node.body], frame);
      case "For":
      case "Select":
        for (const word of node.wordlist ?? []) visitWord(word, visitor);
        if (node.name.value !== "") this.#reading.visitor.counts(node.name.value);
        return this.#loop([node.body], { ...frame, variables: this.#counted(node, frame) });
      case "ArithmeticFor":
        this.#reading.visitor.setting();
        for (const each of [node.initialize, node.test, node.update])
          if (each !== undefined) visitArithmetic(each, visitor, text);
        return this.#loop([node.body], frame);
      case "Case":
        visitWord(node.word, visitor);
        for (const { pattern, body } of node.items) {
          for (const word of pattern) visitWord(word, visitor);
          this.#list(body, frame);
        }
        return;
      case "TestCommand":
        return visitTest(node.expression, this.#visitor(frame, { isTest: true }));
      case "ArithmeticCommand":
        this.#reading.visitor.setting();
        return visitArithmetic(node.expression, visitor, text);
      default:
        this.#reading.visitor.unclear(text);
    }
  }

  /** The second time round the shell may be where the first one left it. */
  #loop(lists: readonly ShellList[], frame: Frame): void {
    const before = frame.shell.directories;
    for (const list of lists) this.#list(list, frame);
    if (frame.shell.directories === before) return;
    frame.shell.directories = { ...frame.shell.directories, mayBeElsewhere: true };
    for (const list of lists) this.#list(list, frame);
  }

  #counted(node: Extract<ShellNode, { type: "For" | "Select" }>, frame: Frame): Frame["variables"] {
    const name = node.name.value;
    const words = node.wordlist?.flatMap((word) => wordsOf(word, this.#scope(frame)));
    const values = words?.flatMap((word) => word.values ?? []) ?? [];
    const variables = new Map(frame.variables);
    variables.delete(name);
    const isKnown = words !== undefined && words.every((word) => word.values !== undefined) && values.length > 0;
    this.#loops += 1;
    if (this.#loops > LOOPS_KNOWN) return variables;
    if (isKnown && node.type === "For" && this.#reading.knowsLoops && isOnlyRead(name, frame.source))
      variables.set(name, values);
    return variables;
  }

  #command(node: ShellCommand, frame: Frame): void {
    const visitor = this.#visitor(frame, { isTest: /^(?:\[|test)$/.test(node.name?.text ?? "") });
    const items = [...node.prefix, ...(node.name === undefined ? [] : [node.name]), ...node.suffix];
    const scope = this.#scope(frame);
    const words: Word[] = [];
    const assignments: SimpleCommand["assignments"][number][] = [];
    const redirects: ShellRedirection[] = [];
    for (const item of items) {
      if (item.type === "Word") {
        visitWord(item, visitor);
        if (words.length <= WORDS_MAX) words.push(...wordsOf(item, scope));
      } else if (item.type === "Assignment") {
        const assignment = this.#assignment(item, scope, visitor);
        if (node.suffix.includes(item)) words.push(assigned(assignment));
        else assignments.push(assignment);
      } else redirects.push(item);
    }
    const { redirections, stdin } = this.#redirections(redirects, frame);
    const text = textAt(frame, node);
    if (words.length > WORDS_MAX) return visitor.unclear(text);
    if (!isWhole(items, node.end, frame.source)) visitor.unclear(text);
    this.#tell({ text, words, assignments, redirections, stdin, depth: frame.depth }, frame);
  }

  #names(node: ShellNode, frame: Frame): readonly Word[] | undefined {
    if (node.type !== "Command" || node.name === undefined || node.prefix.length > 0) return undefined;
    const items = [node.name, ...node.suffix].filter((item) => item.type === "Word");
    return namesFrom(items.flatMap((word) => wordsOf(word, this.#scope(frame))));
  }

  #tell(command: SimpleCommand, frame: Frame): void {
    this.#reading.visitor.command(command, frame.shell);
  }

  #assignment(item: ShellAssignment, scope: Scope, visitor: WordVisitor): SimpleCommand["assignments"][number] {
    visitWord(item.index, visitor);
    if (item.index !== undefined) this.#reading.visitor.setting();
    computes(item.index?.text, visitor);
    if (item.value.type === "Word") {
      visitWord(item.value, visitor);
      return { name: item.name, value: oneWordOf(item.value, scope), text: item.text };
    }
    visitor.node("ArrayValue", item.text);
    for (const word of item.value.elements) visitWord(word, visitor);
    return { name: item.name, value: { source: item.text, prefix: "", isOne: true }, text: item.text };
  }

  #redirections(
    redirects: readonly ShellRedirection[],
    frame: Frame,
  ): { readonly redirections: SimpleCommand["redirections"]; readonly stdin: Stdin } {
    const visitor = this.#visitor(frame);
    const redirections: SimpleCommand["redirections"][number][] = [];
    let stdin = frame.stdin;
    for (const redirect of redirects) {
      const text = textAt(frame, redirect);
      visitor.node(redirect.type, text);
      if (redirect.type === "HereDoc") {
        stdin = this.#hereDocument(redirect, visitor, text);
      } else if (redirect.target === undefined) {
        visitor.unclear(text);
      } else {
        visitWord(redirect.target, visitor);
        const target = oneWordOf(redirect.target, this.#scope(frame));
        if (redirect.type === "HereString")
          stdin = { kind: "text", text: target.values?.length === 1 ? target.values[0]!.text : undefined };
        else {
          redirections.push({ operator: redirect.operator, target, text });
          if (redirect.operator.startsWith("<")) stdin = { kind: "file" };
        }
      }
    }
    return { redirections, stdin };
  }

  #hereDocument(redirect: Extract<ShellRedirection, { type: "HereDoc" }>, visitor: WordVisitor, text: string): Stdin {
    const { delimiter, body, closing } = redirect;
    if (delimiter === undefined || closing === undefined) visitor.unclear(text);
    if (delimiter?.quoted === true) return { kind: "text", text: body.text };
    visitParts(body.parts, visitor);
    const isPlain = !/[$`\\]/.test(body.text);
    return { kind: "text", text: isPlain ? body.text : undefined };
  }

  #scope({ shell, variables }: Frame): Scope {
    return { home: this.#reading.circumstances.home, directories: shell.directories, variables };
  }

  /** `isTest`: what is compared is shown to nobody. */
  #visitor(frame: Frame, { isTest = false }: { readonly isTest?: boolean } = {}): WordVisitor {
    const { visitor } = this.#reading;
    return {
      script: (script, text) => {
        if (script === undefined || frame.depth >= DEPTH_MAX) return visitor.unclear(text);
        this.#script(script, { ...frame, shell: { ...frame.shell }, stdin: NOTHING, depth: frame.depth + 1 });
      },
      node: (type, text) => {
        this.#look(type, text);
        const name = isTest ? undefined : shownVariable(type, text);
        if (name !== undefined && holdsSecret(name) && !frame.variables.has(name)) visitor.secret(text);
      },
      unclear: visitor.unclear,
      setting: visitor.setting,
      computed: visitor.computed,
    };
  }

  #look(type: string, text: string): void {
    const { dialect } = this.#reading.circumstances;
    if (HIDDEN[type]?.test(text) === true) this.#reading.visitor.hidden();
    const isStrange = isStrangeNode(dialect, type) || (type === "Word" && isStrangeWord(dialect, text));
    if (isStrange) this.#reading.visitor.unclear(text);
  }
}

/** The variable whose value stands there: not that of `${#x}`, its length, nor of `${x:+set}`, whether it has one. */
function shownVariable(type: string, text: string): string | undefined {
  if (type !== "SimpleExpansion" && type !== "ParameterExpansion") return undefined;
  return /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)(?!\w|:?\+))/
    .exec(text)
    ?.slice(1)
    .find((it) => it !== undefined);
}

export function shellAt(cwd: string | undefined): Shell {
  return { directories: inDirectory(cwd) };
}

function runsOf(text: string, pattern: RegExp, most: number): boolean {
  if (text.length <= most) return false;
  const isBrace = pattern.source === "\\{";
  const pieces = isBrace ? text.split(/\s+/) : [text];
  return pieces.some((piece) => (piece.match(pattern)?.length ?? 0) > most);
}

function textAt({ source }: Frame, { pos, end }: { readonly pos: number; readonly end: number }): string {
  return source.slice(pos, end);
}

/**
 * Nothing stands between its words or behind them that the tree doesn't show: the parser passes over some tokens
 * without an error (`rm (`).
 */
function isWhole(
  items: readonly { readonly pos: number; readonly end: number }[],
  end: number,
  source: string,
): boolean {
  let at = items[0]?.pos ?? end;
  for (const item of items) {
    if (!BLANKS.test(source.slice(at, item.pos))) return false;
    at = item.end;
  }
  return BLANKS.test(source.slice(at, end)) && BEHIND.test(source.slice(end, end + BEHIND_MAX));
}

/** As the word that a program gets: `dd of=x`. */
function assigned({ name, value, text }: SimpleCommand["assignments"][number]): Word {
  const values = value.values?.map(({ text: each }): Value => ({ text: `${name}=${each}` }));
  return { source: text, values, prefix: `${name}=${value.prefix}`, isOne: value.isOne };
}

/** The name stands nowhere but in its loop and where it is read: nothing else gives it a value. */
function isOnlyRead(name: string, source: string): boolean {
  if (!/^\w+$/.test(name)) return false;
  const all = source.match(new RegExp(`(?<!\\w)${name}(?!\\w)`, "g"))?.length ?? 0;
  const read = source.match(new RegExp(`\\$${name}(?!\\w)|\\$\\{${name}\\}`, "g"))?.length ?? 0;
  return all - read === 1;
}
