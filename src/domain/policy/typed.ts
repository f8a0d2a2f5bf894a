/**
 * What kind of action it is to type something into a program: a shell that is known to wait with an empty line runs what is
 * entered; whatever else a shell, a REPL or a way to one is given can't be read as a command, nor can what may outlast the
 * program that it was typed for. Rule POL-8.
 */
import type { Action } from "./action.ts";

export type Reader = {
  /** Of the foreground group, its first one first; none: nobody knows. */
  readonly programs: readonly string[];
  /** It waits for a line, and nothing of one has been typed. */
  readonly atEmptyPrompt: boolean;
  /** What it is seen to wait for, with all that was typed before read. */
  readonly waitsFor?: "line" | "key" | undefined;
};

/** `text` is absent where it isn't text; `keys`: how many have been named instead. */
export type Typed = { readonly text?: string | undefined; readonly keys?: number | undefined };

const SHELLS: ReadonlySet<string> = new Set("sh bash dash zsh ksh mksh fish ash busybox".split(" "));

/** Programs that run what is typed as code, or lead to one that does. */
const INTERPRETERS: ReadonlySet<string> = new Set(
  [
    "python python2 python3 ipython node deno bun ruby irb perl php lua R julia ghci scala jshell tclsh erl iex gdb lldb",
    "psql mysql mariadb sqlite3 redis-cli mongosh mongo sqlplus bc dc awk ed vi vim nvim emacs nano less more man",
    "ssh mosh telnet nc ncat socat sudo su doas pkexec docker podman kubectl lxc nsenter chroot tmux screen script expect",
    "adb virsh machinectl systemd-run env nice timeout",
  ].flatMap((it) => it.split(" ")),
);

export function typedAction(typed: Typed, reader: Reader): Action {
  const { text = "" } = typed;
  const names = reader.programs.map(nameOf);
  const isOther = names.length > 0 && names.every((name) => !SHELLS.has(name) && !INTERPRETERS.has(name));
  if (isOther) return { kind: isForItAlone(typed, reader) ? "send" : "opaque_send", text };
  const line = typed.text === undefined ? undefined : enteredLine(typed.text);
  const isShell = names.length === 1 && SHELLS.has(names[0] ?? "");
  return line !== undefined && reader.atEmptyPrompt && isShell
    ? { kind: "exec", text: line }
    : { kind: "opaque_send", text };
}

/** All that could come out of `typedAction` for it: what is judged before anybody asks the host who reads. */
export function possibleActions({ text = "" }: Typed): readonly Action[] {
  const line = enteredLine(text);
  const actions: Action[] = [
    { kind: "opaque_send", text },
    { kind: "send", text },
  ];
  return line === undefined ? actions : [...actions, { kind: "exec", text: line }];
}

/**
 * Whether nothing of it can be left for the shell behind the program: what a program doesn't read, the shell does, as a
 * line or as the beginning of the next one.
 */
function isForItAlone({ text, keys }: Typed, { waitsFor }: Reader): boolean {
  if (waitsFor === undefined) return false;
  if (keys !== undefined) return keys === 1;
  if (text === undefined) return false;
  if (waitsFor === "key") return Array.from(text).length === 1;
  return /^[^\p{C}\p{Zl}\p{Zp}]*[\r\n]$/u.test(text) || /^\p{Cc}$/u.test(text);
}

/** Printable text and one Enter, if the shell runs just that. */
function enteredLine(text: string): string | undefined {
  const [, line] = /^([^\p{C}\p{Zl}\p{Zp}]+)[\r\n]$/u.exec(text) ?? [];
  return line === undefined || isRewritten(line) ? undefined : line;
}

/** At a prompt `!…` and `^a^b` stand for what was typed before, and after a last `\\` the line goes on. */
function isRewritten(line: string): boolean {
  return /![^\s=]/u.test(line) || line.startsWith("^") || /(?<!\\)(?:\\\\)*\\$/u.test(line);
}

/** `python3.11` is python3, `-bash` a login shell. */
function nameOf(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1).replace(/^-/, "");
  return SHELLS.has(name) || INTERPRETERS.has(name) ? name : name.replace(/[\d.]+$/, "") || name;
}
