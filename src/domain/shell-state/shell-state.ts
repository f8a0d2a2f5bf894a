/**
 * What a shell told of itself (src/host/terminal/shells/state), as named things that can be compared. The text is a
 * stranger's: whatever it says, reading it ends, and what can't be read is kept as it is. Rules GRD-28, GRD-29 in
 * docs/spec/guard.md.
 */
import { quotedLines, unquoted } from "./shell-words.ts";

export const CHANGE_KINDS = [
  "function",
  "alias",
  "trap",
  "path",
  "prompt",
  "option",
  "binding",
  "hash",
  "environment",
] as const;
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export type ToldShell = "bash" | "zsh" | "fish" | "dash";

export type ShellThing = { readonly kind: ChangeKind; readonly name: string; readonly value: string };

export type ShellState = {
  /** It came to its end; else what was told is true as far as it goes. */
  readonly complete: boolean;
  readonly things: readonly ShellThing[];
  /** As the shell looks for programs. */
  readonly path: string;
  /** Where it would start a program without looking. */
  readonly hashed: readonly { readonly name: string; readonly path: string }[];
  /** Those that aren't disabled; told only by a shell that is asked. */
  readonly builtins: ReadonlySet<string>;
};

export function readShellState(shell: ToldShell, text: string): ShellState {
  const [before = "", ...parts] = text.split("\0");
  const sections = new Map<string, string>();
  for (let at = 0; at + 1 < parts.length; at += 2) sections.set(parts[at] ?? "", parts[at + 1] ?? "");
  const section: Section = (name) => sections.get(name) ?? "";
  const path = shell === "fish" ? (pairs(section("path"), decoded)[0]?.value ?? "") : section("path");
  return {
    complete: sections.has("end"),
    things: READERS[shell](section, before),
    path,
    hashed: HASHED[shell]?.(section("hash")) ?? [],
    builtins: shell === "dash" ? DASH_BUILTINS : new Set(section("known").split("\n").filter(Boolean)),
  };
}

/** It can't list them, nor disable one. */
const DASH_BUILTINS: ReadonlySet<string> = new Set(
  (
    ". : [ alias bg break cd chdir command continue echo eval exec exit export false fg getopts hash jobs kill local " +
    "printf pwd read readonly return set shift test times trap true type ulimit umask unalias unset wait"
  ).split(" "),
);

type Section = (name: string) => string;
type Named = { readonly name: string; readonly value: string };

const READERS: Readonly<Record<ToldShell, (section: Section, before: string) => readonly ShellThing[]>> = {
  bash: (section, before) => [
    ...all("function", standIns(before)),
    ...all("function", bashFunctions(section("names"), section("functions"))),
    ...all("alias", defined(section("aliases"), ALIAS)),
    ...all("trap", traps(section("traps"))),
    ...all("path", pathOf(section("path"))),
    ...all("prompt", defined(section("prompt"), DECLARED).map(withoutMarks)),
    ...all("option", section("options").split(":").filter(Boolean).map(on)),
    ...all("option", defined(section("builtins"), /^enable -n (?<name>.+)(?<value>)$/).map(disabled)),
    ...all("binding", defined(section("macros"), KEY)),
    ...all("binding", defined(section("keys"), KEY).filter(isOddKey)),
    ...all("environment", environment(section)),
  ],
  zsh: (section) => [
    ...pairs(section("functions"), unquoted).map(zshFunction),
    ...all("alias", pairs(section("aliases"), unquoted)),
    ...all("alias", pairs(section("galiases"), unquoted).map(prefixed("-g "))),
    ...all("alias", pairs(section("saliases"), unquoted).map(prefixed("-s "))),
    ...all("trap", traps(section("traps"))),
    ...all("path", pathOf(section("path"))),
    ...all("prompt", pairs(section("prompt"), unquoted)),
    ...all("option", pairs(section("options"), unquoted).filter(isOn)),
    ...all("option", section("builtins").split("\n").filter(Boolean).map(on).map(disabled)),
    ...all("binding", defined(section("macros"), ZSH_BINDING)),
    ...all("environment", environment(section)),
  ],
  fish: (section) => [
    ...pairs(section("functions"), decoded).map(fishFunction),
    ...all("alias", section("abbreviations").split("\n").filter(Boolean).map(decoded).map(abbreviation)),
    ...handlers(section("handlers")),
    ...all("path", pairs(section("path"), decoded)),
    ...all("binding", section("macros").split("\n").filter(Boolean).map(decoded).map(fishBinding)),
    ...all("environment", pairs(section("environment"), decoded).filter(isOwn)),
  ],
  dash: (section, before) => [
    ...all("alias", defined(section("aliases"), ALIAS)),
    ...all("trap", traps(before)),
    ...all("path", pathOf(section("path"))),
    ...all(
      "prompt",
      ["PS1", "PS2", "PS4"].map((name) => withoutMarks({ name, value: section(name) })),
    ),
    ...all("option", defined(section("options"), /^(?<name>\S+) +(?<value>on|off)$/).filter(isOn)),
    ...all("environment", environment(section)),
  ],
};

const HASHED: Readonly<Partial<Record<ToldShell, (text: string) => ShellState["hashed"]>>> = {
  bash: (text) => matched(text, /^builtin hash -p (?<value>.+) (?<name>\S+)$/).map(hashedPath),
  zsh: (text) => matched(text, /^(?<name>[^=]+)=(?<value>.+)$/).map(hashedPath),
};

const ALIAS = /^(?:alias (?:-- )?)?(?<name>[^=]+)=(?<value>[^]*)$/;
const DECLARED = /^(?:declare|export|typeset)(?: -\S+)* (?<name>\w+)(?: \w+)?(?:=(?<value>[^]*))?$/;
const TRAP = /^trap -- (?<value>[^]*) (?:SIG)?(?<name>\S+)$/;
const KEY = /^(?<name>"(?:[^"\\]|\\.)*"):? (?<value>.*)$/;
const ZSH_BINDING =
  /^(?<name>(?:bindkey(?: -\S+)*|zle -\S+) (?:"(?:[^"\\]|\\.)*"(?:-"(?:[^"\\]|\\.)*")?|\S+))(?: (?<value>.*))?$/;

function all(kind: ChangeKind, things: readonly Named[]): readonly ShellThing[] {
  return things.map(({ name, value }) => ({ kind, name, value }));
}

/** What is no such line is a thing of its own, so that it can't hide. */
function defined(text: string, pattern: RegExp): readonly Named[] {
  return quotedLines(text).map((line) => {
    const { name, value } = pattern.exec(line)?.groups ?? {};
    return name === undefined ? { name: line, value: "" } : { name: unquoted(name), value: unquoted(value ?? "") };
  });
}

function matched(text: string, pattern: RegExp): readonly Named[] {
  return quotedLines(text).flatMap((line) => {
    const { name, value } = pattern.exec(line)?.groups ?? {};
    return name === undefined ? [] : [{ name: unquoted(name), value: unquoted(value ?? "") }];
  });
}

function pathOf(value: string): readonly Named[] {
  return value === "" ? [] : [{ name: "PATH", value }];
}

/** A line with the name, a line with the value. */
function pairs(text: string, read: (line: string) => string): readonly Named[] {
  const lines = text.replace(/\n$/, "").split("\n");
  const names = lines.filter((_, index) => index % 2 === 0);
  return names
    .map((name, index) => ({ name: read(name), value: read(lines[index * 2 + 1] ?? "") }))
    .filter(({ name }) => name !== "");
}

/** Those that stand in the place of what a report is made by; only their names are known. */
function standIns(text: string): readonly Named[] {
  const named = text.matchAll(/^(?:export -f|declare -\S+) (builtin|command_not_found_handle)$/gm);
  return [...named].map(([, name = ""]) => ({ name, value: "a function" }));
}

/** The names are told apart from the bodies: a body may hold whatever looks like a beginning. */
function bashFunctions(names: string, bodies: string): readonly Named[] {
  const known = [...names.matchAll(/^declare -\S+ (.+)$/gm)].map(([, name = ""]) => name);
  let from = 0;
  const starts = known.map((name) => {
    const start = ["", "function "].map((word) => `\n${bodies}`.indexOf(`\n${word}${name} () \n`, from));
    const at = Math.min(...start.filter((it) => it >= 0));
    if (at !== Infinity) from = at + 1;
    return at === Infinity ? from : at;
  });
  return known.map((name, index) => ({ name, value: bodies.slice(starts[index], starts[index + 1]).trimEnd() }));
}

function zshFunction({ name, value }: Named): ShellThing {
  const kind = /^TRAP[A-Z]/.test(name) ? "trap" : "function";
  return { kind, name: kind === "trap" ? name.slice("TRAP".length) : name, value };
}

const FISH_PROMPTS: ReadonlySet<string> = new Set([
  "fish_prompt",
  "fish_right_prompt",
  "fish_mode_prompt",
  "fish_title",
  "fish_greeting",
]);

function fishFunction({ name, value }: Named): ShellThing {
  if (FISH_PROMPTS.has(name)) return { kind: "prompt", name, value };
  // How its `alias` makes them.
  return { kind: /^function .*--description '?alias /m.test(value) ? "alias" : "function", name, value };
}

function abbreviation(line: string): Named {
  const { name = line, value = "" } = /^abbr -a (?:.*?)-- (?<name>\S+) (?<value>[^]*)$/.exec(line)?.groups ?? {};
  return { name, value };
}

function fishBinding(line: string): Named {
  const { name = line, value = "" } =
    /^(?<name>bind(?: --?\S+)* (?:\\.|'[^']*'|\S)+) (?<value>[^]*)$/.exec(line)?.groups ?? {};
  return { name, value };
}

/** Those of variables belong to functions that fish loads as it needs them. */
function handlers(text: string): readonly ShellThing[] {
  let event = "";
  const things: ShellThing[] = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const [, begun] = /^Event (\S+)$/.exec(line) ?? [];
    event = begun ?? event;
    if (begun !== undefined || event === "variable") continue;
    const kind = event === "signal" ? "trap" : "prompt";
    const [name = "", ...rest] = line.replace(/^SIG/, "").split(" ");
    things.push({ kind, name: `${name} ${rest.join(" ")}`.trim(), value: event });
  }
  return things;
}

function traps(text: string): readonly Named[] {
  return matched(text, TRAP);
}

function environment(section: Section): readonly Named[] {
  return defined(section("environment"), DECLARED).filter(isOwn);
}

/** What every command changes, and what is told as the path. */
const USUAL: ReadonlySet<string> = new Set(["_", "PWD", "OLDPWD", "SHLVL", "LINES", "COLUMNS", "PATH", "path"]);

function isOwn({ name }: Named): boolean {
  return !USUAL.has(name);
}

/** Where no start is known to compare with: plain characters that aren't typed, an Enter that doesn't enter. */
function isOddKey({ name, value }: Named): boolean {
  if (/^[ -~]$/.test(name)) return value !== "self-insert" && value !== "magic-space";
  return (name === String.raw`\C-m` || name === String.raw`\C-j`) && value !== "accept-line";
}

/** Ours, by which prompts are found. */
function withoutMarks({ name, value }: Named): Named {
  return { name, value: value.replaceAll(MARK, "") };
}

// oxlint-disable-next-line no-control-regex -- marks are made of them
const MARK = /(?:\\\[)?(?:\\e|\u001B)\]7717;\$\{__ss_k-\};[A-D](?:;\$\?)?(?:\\a|\u0007)(?:\\\])?/g;

const isOn = ({ value }: Named): boolean => value === "on";
const on = (name: string): Named => ({ name, value: "on" });
const disabled = ({ name }: Named): Named => ({ name: `builtin ${name}`, value: "disabled" });
const prefixed =
  (prefix: string) =>
  ({ name, value }: Named): Named => ({ name: prefix + name, value });
const hashedPath = ({ name, value }: Named) => ({ name, path: value });

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // not UTF-8
  }
}
