/**
 * The parts of a shell text: each simple command as rules judge it, with what it would run in turn. Redirections and
 * assignments are parts of their own, so that a rule for a program says nothing of them. Rules POL-2..POL-5.
 */
import type { Circumstances } from "./action.ts";
import { computesNames } from "./computed-names.ts";
import { isRiskyVariable } from "./environment.ts";
import { Findings } from "./findings.ts";
import { barePart, type Part } from "./part.ts";
import { baseName, mayGo, normal } from "./paths.ts";
import { type Stdin, study } from "./program.ts";
import { programNamed } from "./programs.ts";
import type { ParseShell } from "./shell-tree.ts";
import { CommandReader, DEPTH_MAX, type Shell, shellAt, type SimpleCommand } from "./simple-commands.ts";
import type { Effect } from "./verdict.ts";
import { literalWord, textOf, type Word } from "./words.ts";
import { unwrap, type Unwrapped } from "./wrappers.ts";

const PARTS_MAX = 2000;
/** Of all parts together: loops multiply them. */
const TOUCHES_MAX = 10_000;
const TEXT_SHOWN_MAX = 200;
/** Where programs of the system are: a path there names the program. */
const PROGRAM_DIRECTORIES = /^\/(?:usr\/(?:local\/)?)?s?bin\/[^/]+$|^\/opt\/homebrew\/bin\/[^/]+$/;
/** They give variables values that no assignment shows. */
const SETTERS: ReadonlySet<string> = new Set(
  "read readarray mapfile printf declare typeset local export readonly let getopts unset eval source .".split(" "),
);
/** They take names, and compute the index of one. */
const COMPUTES: ReadonlySet<string> = new Set(
  "test [ let read readarray mapfile declare typeset local export readonly printf unset wait getopts".split(" "),
);
const NAMES: ReadonlySet<string> = new Set(["read", "readarray", "mapfile", "getopts", "unset", "let"]);
/** They take assignments as words. */
const DECLARES: ReadonlySet<string> = new Set(["export", "declare", "typeset", "local", "readonly"]);

type Call = {
  readonly text: string;
  readonly words: readonly Word[];
  readonly stdin: Stdin;
  readonly depth: number;
};

export function shellParts(text: string, circumstances: Circumstances, parse: ParseShell): readonly Part[] {
  const first = new ShellParts(circumstances, parse, true);
  const parts = first.of(text);
  // Values of loops are known only where nothing can set them on the way.
  return first.setsVariables ? new ShellParts(circumstances, parse, false).of(text) : parts;
}

/** Without a shell: words as they are. */
export function argvParts(argv: readonly string[], circumstances: Circumstances, parse: ParseShell): readonly Part[] {
  return new ShellParts(circumstances, parse, false).ofArgv(argv);
}

class ShellParts {
  readonly #circumstances: Circumstances;
  readonly #reader: CommandReader;
  readonly #parts: Part[] = [];
  readonly #defined = new Set<string>();
  #touches = 0;
  #isFull = false;
  #isHiding = false;
  #isComputing = false;
  /** What a variable holds is read as an expression. */
  #isRead = false;
  setsVariables = false;

  constructor(circumstances: Circumstances, parse: ParseShell, knowsLoops: boolean) {
    this.#circumstances = circumstances;
    this.#reader = new CommandReader({
      circumstances,
      parse,
      knowsLoops,
      visitor: {
        command: (command, shell) => this.#command(command, shell),
        unclear: (text) => this.#push(barePart(shown(text), ["unclear"])),
        defined: (name, text) => this.#define(name, text),
        setting: (name) => {
          this.#sets(name);
          this.setsVariables = true;
          this.#isComputing = true;
        },
        computed: () => {
          this.#isRead = true;
        },
        counts: (name) => this.#sets(name),
        secret: (text) => this.#push(barePart(shown(text), ["credentials"])),
        hidden: () => {
          this.#isHiding = true;
        },
      },
    });
  }

  of(text: string): readonly Part[] {
    this.#reader.read(text, shellAt(this.#circumstances.cwd), { depth: 0 });
    return this.#finished();
  }

  ofArgv(argv: readonly string[]): readonly Part[] {
    const call: Call = { text: argv.join(" "), words: argv.map(literalWord), stdin: { kind: "none" }, depth: 0 };
    this.#call(call, shellAt(this.#circumstances.cwd));
    return this.#finished();
  }

  /** A name by which programs are found, wherever it gets its value. */
  #sets(name: string | undefined): void {
    if (name !== undefined && isRiskyVariable(name, undefined)) this.#push(barePart(name, ["environment"]));
  }

  /** What the text itself defines isn't the program of that name. */
  #finished(): readonly Part[] {
    // `x='a[$(id)]'; echo $((x))` runs id: what is computed is read again.
    if (this.#isHiding && this.#isComputing) this.#push(barePart("$((…))", ["unclear"]));
    // So does what came from a file: then it is as if that were run.
    if (this.#isRead) this.#push(barePart("$((…))", ["script"]));
    if (this.#defined.size === 0) return this.#parts;
    return this.#parts.map((part) =>
      this.#defined.has(part.program)
        ? { ...part, effects: [...new Set([...part.effects, "unknown_program" as const])] }
        : part,
    );
  }

  #push(part: Part): void {
    this.#touches += part.touches.length;
    if (this.#parts.length < PARTS_MAX && this.#touches < TOUCHES_MAX) this.#parts.push(part);
    else if (!this.#isFull) {
      this.#isFull = true;
      this.#parts.push(barePart("…", ["unclear"]));
    }
  }

  #define(name: string, text: string): void {
    this.#defined.add(name);
    // `:(){ :|:& };:` and its like: each call makes two that go on by themselves.
    const escaped = name.replaceAll(/[^\w]/g, String.raw`\$&`);
    const isBomb = new RegExp(`(?:^|[\\s;&|({])${escaped}\\s*(?:\\||&(?!&))`).test(text.slice(text.indexOf("{")));
    this.#push(barePart(shown(text), isBomb ? ["shell_state", "irreversible"] : ["shell_state"]));
  }

  #command(command: SimpleCommand, shell: Shell): void {
    if (this.#isFull) return;
    const { text, words, assignments, redirections, stdin, depth } = command;
    for (const assignment of assignments) {
      // How one line is split into words: `IFS= read -r line`.
      const isOfRead = assignment.name === "IFS" && textOf(words[0]) === "read";
      const isRisky = !isOfRead && isRiskyVariable(assignment.name, textOf(assignment.value));
      // It stays in the shell, and the next command may compute it.
      const isHidden = /[$`]/.test(textOf(assignment.value) ?? "") && /['\\]/.test(assignment.text);
      const effects: readonly Effect[] = [
        ...(isRisky ? (["environment"] as const) : []),
        ...(isHidden ? (["shell_state"] as const) : []),
      ];
      this.#push(barePart(shown(assignment.text), effects));
    }
    for (const redirection of redirections) this.#redirection(redirection, shell);
    if (words.length > 0) this.#call({ text, words, stdin, depth }, shell);
  }

  #redirection({ operator, target, text }: SimpleCommand["redirections"][number], shell: Shell): void {
    const isCopy = operator === ">&" || operator === "<&";
    if (isCopy && /^(?:\d*-?|-)$/.test(textOf(target) ?? "?")) return;
    const findings = this.#findings(shell);
    const isOfNetwork = /^\/dev\/(?:tcp|udp)\//.test(target.prefix);
    if (isOfNetwork) findings.add("push", "remote");
    findings.touch(target, operator === "<" || operator === "<&" ? "read" : "write");
    this.#push(findings.part(shown(text), ""));
  }

  #call(call: Call, shell: Shell): void {
    if (this.#isFull) return;
    const [first, ...words] = call.words;
    const isKnown =
      first?.values !== undefined && first.values.every(({ text, wildAt }) => wildAt === undefined && text !== "");
    if (first === undefined || !isKnown || call.depth > DEPTH_MAX) {
      this.#push({ ...barePart(shown(call.text), ["unclear"]), words: [undefined] });
      return;
    }
    for (const { text } of first.values ?? []) this.#program(text, { ...call, words }, shell);
  }

  #program(named: string, call: Call, shell: Shell): void {
    const name = baseName(named);
    const findings = this.#findings(shell);
    findings.words.push(name);
    findings.programs.push(named);
    if (SETTERS.has(name)) this.setsVariables = true;
    if (COMPUTES.has(name)) this.#isComputing = true;
    if (named.includes("/") && !PROGRAM_DIRECTORIES.test(named.startsWith("/") ? normal(named) : named)) {
      findings.add("script");
      findings.scripts.push(named);
      findings.touch(literalWord(named), "run");
    }
    const inner = unwrap(name, call.words, call.stdin);
    if (inner === undefined) this.#study(name, call, findings);
    else this.#wrapper(inner, call, findings);
    if (name === "alias") for (const { prefix } of call.words) this.#defined.add(prefix.split("=", 1)[0]!);
    this.#push(findings.part(shown(call.text), name));
    if (/^(?:cd|pushd|popd|chdir)$/.test(name)) this.#move(name, call.words, shell);
    if (inner !== undefined) this.#runInner(inner, call, shell);
  }

  #study(name: string, { words, stdin }: Call, findings: Findings): void {
    const program = programNamed(name);
    if (program === undefined) {
      // A file that is run by its path is a script already.
      if (!findings.has("script")) findings.add("unknown_program");
      findings.words.push(...words.filter(({ prefix }) => !prefix.startsWith("-")).map(textOf));
      findings.options.push(...words.flatMap(({ prefix }) => (prefix.startsWith("-") ? [prefix] : [])));
      if (words.some(({ values }) => values === undefined)) findings.add("unclear");
      return;
    }
    study(program, words, { findings, stdin });
    if (DECLARES.has(name)) declare(words, findings);
    if (NAMES.has(name)) for (const word of words) this.#names(word, findings);
    if (name === "let" || computesNames(name, words)) findings.add("script");
  }

  #names(word: Word, findings: Findings): void {
    if (word.values === undefined) findings.add("unclear");
    if (isRiskyVariable(/^\w*/.exec(word.prefix)![0], undefined)) findings.add("environment");
  }

  #wrapper(inner: Unwrapped, { words }: Call, findings: Findings): void {
    findings.add(...inner.effects);
    findings.options.push(...words.flatMap((word) => (word.prefix.startsWith("-") ? [word.prefix] : [])));
    for (const word of inner.reads ?? []) findings.touch(word, "read");
    for (const word of inner.writes ?? []) findings.touch(word, "write");
    for (const word of inner.deletes ?? []) findings.touch(word, "delete", { isDeep: true });
    for (const word of inner.scripts ?? []) {
      findings.touch(word, "run");
      findings.scripts.push(textOf(word) ?? word.source);
    }
  }

  #runInner(
    { commands = [], texts = [], isElsewhere = false, mayOnlyRead = false }: Unwrapped,
    call: Call,
    shell: Shell,
  ): void {
    const where: Shell = isElsewhere ? { directories: { known: [], mayBeElsewhere: true } } : shell;
    const depth = call.depth + 1;
    const begin = this.#parts.length;
    for (const words of commands) {
      const text = words.map(({ source }) => source).join(" ");
      this.#call({ text, words, stdin: call.stdin, depth }, where);
    }
    for (const text of texts) {
      if (text === undefined || depth > DEPTH_MAX) this.#push(barePart(shown(call.text), ["unclear"]));
      else this.#reader.read(text, where, { depth, stdin: call.stdin });
    }
    const changes = this.#parts.slice(begin).some(({ effects }) => !effects.every((effect) => effect === "read"));
    if (mayOnlyRead && changes) this.#push(barePart(shown(call.text), ["unclear"]));
  }

  #move(name: string, words: readonly Word[], shell: Shell): void {
    const target = words.find((word) => !/^-[LPe@]+$|^--$/.test(textOf(word) ?? ""));
    const home = this.#circumstances.home;
    if (target === undefined && name !== "popd" && name !== "pushd") {
      shell.directories = mayGo(shell.directories, home === undefined ? undefined : [home]);
      return;
    }
    const texts = target?.values?.map(({ text }) => text);
    const isPlain = target?.values?.every(({ text, wildAt }) => wildAt === undefined && !/^[-+]/.test(text)) === true;
    shell.directories = mayGo(shell.directories, isPlain && name !== "popd" ? texts : undefined);
  }

  #findings({ directories }: Shell): Findings {
    return new Findings({ circumstances: this.#circumstances, directories });
  }
}

function declare(words: readonly Word[], findings: Findings): void {
  if (words.every((word) => /^-\w*p\w*$/.test(textOf(word) ?? ""))) findings.add("credentials");
  for (const word of words) {
    const [, name, value] = /^(\w+)(?:\[.*\])?\+?=(.*)$/s.exec(word.prefix) ?? [];
    if (name !== undefined && isRiskyVariable(name, textOf(word) === undefined ? undefined : value))
      findings.add("environment");
    if (name === undefined && word.values === undefined) findings.add("unclear");
    if (/^-\w*[fin]/.test(word.prefix)) findings.add("shell_state");
  }
}

function shown(text: string): string {
  return text.length > TEXT_SHOWN_MAX * 10 ? `${text.slice(0, TEXT_SHOWN_MAX * 10)}…` : text;
}
