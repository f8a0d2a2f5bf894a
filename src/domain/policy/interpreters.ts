/** Programs that run code which isn't shell's: from a file, from the command line, or from what they are given. */
import type { Findings } from "./findings.ts";
import type { Given, OptionMeaning, Program } from "./program.ts";
import { textOf } from "./words.ts";

const INLINE: OptionMeaning = { takes: ["inline_code"] };
/** All that most say of themselves; `-v` is a wordy run in some. */
const SHOWS = /^(?:--version|-h|--help)$/;
/** Modules of Python that check, build or show. */
const MODULES =
  /^(?:pytest|unittest|doctest|mypy|ruff|black|isort|flake8|pylint|pyright|coverage|tox|nox|build|compileall|py_compile|json\.tool|venv|tabnanny|tokenize|sphinx|mkdocs|pip_audit|this)$/;

function interpreter(options: Readonly<Record<string, OptionMeaning>>, shows = SHOWS): Program {
  return {
    effects: [],
    options,
    more: (given, findings) => (isShowing(given, shows) ? findings.add("read") : runs(given, findings)),
  };
}

/** It only speaks of itself. With data it may run that all the same, and with other options what they name. */
function isShowing({ options, operands, stdin }: Given, shows: RegExp): boolean {
  return options.length === 1 && shows.test(options[0]!.name) && operands.length === 0 && stdin.kind === "none";
}

/** A script and its arguments, or what comes in. */
function runs({ options, operands, stdin }: Given, findings: Findings): void {
  const module = options.find(({ name }) => name === "-m" || name === "--module");
  if (module !== undefined) {
    runsModule(textOf(module.value), findings);
    for (const word of operands) if (word.values !== undefined) findings.touch(word, "run");
    return findings.touchesOutside ? findings.add("script") : undefined;
  }
  if (options.some(({ value }) => /^(?:data|https?):/.test(value?.prefix ?? ""))) findings.add("inline_code");
  if (findings.has("inline_code")) return;
  const [script] = operands;
  if (script !== undefined && textOf(script) !== "-") {
    const isPiped = /^<\(|^\/dev\/(?:stdin|fd\/)/.test(script.source);
    findings.add(isPiped ? "pipe_to_shell" : "script");
    findings.touch(script, "run");
    findings.scripts.push(textOf(script) ?? script.source);
    return;
  }
  if (stdin.kind === "pipe" || stdin.kind === "file") findings.add("pipe_to_shell");
  else findings.add(stdin.kind === "text" ? "inline_code" : "script");
}

function runsModule(name: string | undefined, findings: Findings): void {
  if (name === "pip" || name === "ensurepip") findings.add("package");
  else if (name !== undefined && MODULES.test(name)) findings.add("build");
  else findings.add("unknown_program");
}

const PYTHON = interpreter(
  { "-c": INLINE, "-m": "value", "-W -X --check-hash-based-pycs": "value" },
  /^(?:-V|--version|-h|-\?|--help)$/,
);
const SHOWS_BY_V = /^(?:-v|--version|-h|--help)$/;
const NODE = interpreter(
  {
    "-e --eval -p --print": INLINE,
    "-r --require --import --loader --experimental-loader --env-file": "run",
    "--test --check -c": ["build"],
    "-C --conditions --test-name-pattern --test-reporter": "value",
    "--inspect --inspect-brk": ["system"],
  },
  SHOWS_BY_V,
);
const RUBY = interpreter({ "-e": INLINE, "-r -I": "run", "-C": { takes: ["unclear"] } }, SHOWS_BY_V);
const PERL = interpreter(
  { "-e -E": INLINE, "-M -m -I": { takes: ["inline_code"] }, "-i": ["inline_code"] },
  SHOWS_BY_V,
);

function fetchesCode({ operands }: Given, findings: Findings): void {
  if (operands.some(({ prefix }) => /^(?:https?|npm|jsr|data):/.test(prefix))) findings.add("package");
}

/** `system`, pipes, files: all that an awk text can do beside reading. A line that goes on may part any two of its words. */
const AWK_DOES = /\bsystem\b|\\\r?\n|(?:^|[^|])\|(?:[^|]|$)|\bgetline\b|@/;
const AWK_OPTIONS =
  /^(?:-v|-F|--assign|--field-separator|-f|--file|-E|--exec|-i|--include|-l|--load|-V|--version|--posix|--csv)$/;

/** A `>` behind a `print` may be a file's, whatever stands between: strings hold any letter. */
function awkDoes(program: string): boolean {
  const at = program.indexOf("print");
  return AWK_DOES.test(program) || (at >= 0 && program.includes(">", at));
}

function awk({ options, operands }: Given, findings: Findings): void {
  // Others take the program from elsewhere, or write files.
  if (options.some(({ name }) => !AWK_OPTIONS.test(name))) findings.add("inline_code");
  if (options.some(({ name }) => /^(?:-f|--file|-E|--exec|-i|--include|-l|--load)$/.test(name))) {
    findings.add("script");
    for (const { name, value } of options)
      if (/^(?:-f|--file|-E|--exec)$/.test(name) && value) findings.touch(value, "run");
    for (const word of operands) if (!/^\w+=/.test(word.prefix)) findings.touch(word, "read");
    return;
  }
  const [text, ...files] = operands;
  const program = textOf(text);
  if (program === undefined && text !== undefined) findings.add("unclear");
  if (program !== undefined && awkDoes(program)) findings.add("inline_code");
  // The environment, and names of files that stand in no word.
  if (program !== undefined && /\b(?:ENVIRON|ARGV|ARGC|SYMTAB|PROCINFO)\b/.test(program)) findings.add("credentials");
  for (const word of files) if (!/^\w+=/.test(word.prefix)) findings.touch(word, "read");
}

const AWK: Program = {
  options: { "-v -F --assign --field-separator": "value", "-f --file -E --exec -i --include -l --load": "value" },
  more: awk,
};

/** One command of sed that only changes what is shown. */
const SED_ADDRESS = String.raw`(?:\d+|\$|\/(?:[^\/\\\n]|\\.)*\/I?)`;
const SED_COMMAND = new RegExp(
  String.raw`^\s*(?:${SED_ADDRESS}(?:\s*[,~]\s*[+~]?${SED_ADDRESS})?)?\s*!?\s*(?:[pdqQDGgHhNnPxl=]|[aic]\\?\s?[^\n]*|s([\/|#,:@!%_+])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiIM0-9]*|y([\/|#,])(?:(?!\2)[^\\\n]|\\.)*\2(?:(?!\2)[^\\\n]|\\.)*\2)?\s*(?:[;\n}]\s*|\{\s*|$)`,
);
const SED_LENGTH_MAX = 2000;

export function isPlainSed(script: string): boolean {
  if (script.length > SED_LENGTH_MAX) return false;
  let rest = script;
  while (rest !== "") {
    const matched = SED_COMMAND.exec(rest)?.[0];
    if (matched === undefined || matched === "") return false;
    rest = rest.slice(matched.length);
  }
  return true;
}

function sed({ options, operands }: Given, findings: Findings): void {
  const inPlace = options.filter(({ name }) => name === "-i" || name === "--in-place");
  const isInPlace = inPlace.length > 0;
  if (isInPlace) findings.add("write");
  // A suffix with a directory in it says where the old file goes.
  if (inPlace.some(({ value }) => value !== undefined && textOf(value)?.includes("/") !== false))
    findings.add("unclear");
  const given = options.filter(({ name }) => name === "-e" || name === "--expression").map(({ value }) => value);
  const files = options.filter(({ name }) => name === "-f" || name === "--file");
  const hasScript = given.length > 0 || files.length > 0;
  const scripts = hasScript ? given : operands.slice(0, 1);
  for (const script of scripts) {
    const text = textOf(script);
    if (text === undefined) findings.add("unclear");
    else if (!isPlainSed(text)) findings.add("inline_code");
  }
  if (files.length > 0) findings.add("script");
  for (const word of hasScript ? operands : operands.slice(1)) findings.touch(word, isInPlace ? "write" : "read");
}

const SED: Program = {
  options: {
    "-e --expression -f --file -l --line-length": "value",
    "-i --in-place": { attached: "value" },
    "--quiet --silent --regexp-extended --separate --unbuffered --null-data --posix --sandbox --debug": [],
    "--follow-symlinks --binary": [],
  },
  more: sed,
};

/** Editors change what they are given; their command options run anything. */
const EDITOR: Program = {
  effects: [],
  operands: "write",
  options: {
    "-c --cmd -S -s -u -U -W": { takes: ["inline_code"] },
    "--eval -f --funcall -l --load": { takes: ["inline_code"] },
  },
  more: ({ operands, stdin }, findings) => {
    const isCommanded = operands.some(({ prefix }) => /^[+!]/.test(prefix)) || stdin.kind !== "none";
    if (isCommanded) findings.add("inline_code");
  },
};

export const INTERPRETERS: Readonly<Record<string, Program>> = {
  "python|python2|python3|pypy|pypy3": PYTHON,
  "node|nodejs|tsx|ts-node": NODE,
  "ruby|irb": RUBY,
  perl: PERL,
  php: interpreter(
    {
      "-r -R -B -E": INLINE,
      "-f -F": "run",
      "-d -c": { takes: ["environment"] },
      "-S -t": { takes: ["system"] },
    },
    SHOWS_BY_V,
  ),
  "lua|luajit": interpreter({ "-e": INLINE, "-l": "run" }, SHOWS_BY_V),
  "Rscript|R": interpreter({ "-e": INLINE, "-f": "run" }),
  "osascript|tclsh|expect|guile|elixir|erl|ghci|scala|swipl|octave|julia|groovy": interpreter({ "-e -c -E": INLINE }),
  deno: {
    effects: ["script"],
    subcommands: {
      "test|check|lint|fmt|task|bench": { effects: ["build"], operands: "run", more: fetchesCode },
      eval: { effects: ["inline_code"] },
      "install|add|upgrade": { effects: ["package"] },
      run: { effects: ["script"], operands: "run", more: fetchesCode },
    },
  },
  "sqlite3|psql|mysql|mongosh|redis-cli": { effects: ["remote", "inline_code"] },
  "awk|gawk|mawk|nawk": AWK,
  "sed|gsed": SED,
  "vim|vi|nvim|view|ex|emacs|nano|pico|ed|micro|helix|hx": EDITOR,
  "gdb|lldb": { effects: ["process", "inline_code"] },
};
