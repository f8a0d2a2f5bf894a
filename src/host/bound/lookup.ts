/**
 * What a shell would run by a name: an alias, a function, a builtin, a path that it remembers, the first in PATH, or the
 * path itself. Answers files to be looked for, in the order in which the shell looks. Rule APR-11 in docs/spec/approvals.md.
 */
import { join } from "node:path";
import type { ShellState, ToldShell } from "../../domain/shell-state/shell-state.ts";

export type Shell = {
  readonly family: ToldShell | "other";
  /** Undefined: it could not be asked. */
  readonly state: ShellState | undefined;
  /** Where PATH is looked up if the shell can't be asked. */
  readonly path: string;
  readonly home: string;
};

/** Of each list the first file that is there counts. */
export type Files = readonly { readonly path: string; readonly isProgram: boolean }[];

export type Lookup = {
  /** What else decides what it means, as text. */
  readonly by: readonly string[];
  readonly files: readonly Files[];
};

/** `directory`: where the command will run. */
export function lookUpProgram(shell: Shell, name: string, directory: string): Lookup {
  return lookUp(shell, { name, directory, seen: [] });
}

/** A name without a slash may be looked for in PATH (`. x`, `bash x`): what is there counts too. */
export function lookUpScript(shell: Shell, name: string, directory: string): Lookup {
  const here = [{ path: pathOf(shell, name, directory), isProgram: false }];
  if (name.includes("/")) return { by: [], files: [here] };
  return { by: [], files: [here, inPath(shell, name, directory).map(({ path }) => ({ path, isProgram: false }))] };
}

type Wanted = { readonly name: string; readonly directory: string; readonly seen: readonly string[] };

function lookUp(shell: Shell, { name, directory, seen }: Wanted): Lookup {
  const { state } = shell;
  const thing = (kind: string): string | undefined =>
    state?.things.find((it) => it.kind === kind && it.name === name)?.value;
  const alias = shell.family === "fish" || seen.includes(name) ? undefined : thing("alias");
  if (alias !== undefined) return throughAlias(shell, alias, { name, directory, seen: [...seen, name] });
  const own = thing("function") ?? (shell.family === "fish" ? (thing("alias") ?? thing("prompt")) : undefined);
  if (own !== undefined) return { by: [`function ${own}`], files: [] };
  const file = (path: string): Lookup => ({
    by: [],
    files: [[{ path: pathOf(shell, path, directory), isProgram: true }]],
  });
  if (name.includes("/")) return file(name);
  const loaded = shell.family === "fish" ? [loadable(state, name)] : [];
  if (state?.builtins.has(name) === true) return { by: ["builtin"], files: loaded };
  const hashed = state?.hashed.find((it) => it.name === name)?.path;
  if (hashed !== undefined) return file(hashed);
  return { by: [], files: [...loaded, inPath(shell, name, directory)] };
}

/** Only a plain first word is followed; whatever else an alias says is bound as its text. */
function throughAlias(shell: Shell, alias: string, { name, directory, seen }: Wanted): Lookup {
  const by = [`alias ${name}=${alias}`];
  const [first] = /^[\w./+~@%:-]+(?=\s|$)/.exec(alias.trimStart()) ?? [];
  if (first === undefined || seen.length > ALIASES_MAX) return { by, files: [] };
  const found = lookUp(shell, { name: first, directory, seen });
  return { ...found, by: [...by, ...found.by] };
}

const ALIASES_MAX = 20;

/** fish reads a function from a file of its name when it is first called, even where a builtin has the name. */
function loadable(state: ShellState | undefined, name: string): Files {
  const folders = state?.things.find((it) => it.kind === "path" && it.name === "fish_function_path")?.value ?? "";
  return folders
    .split(" ")
    .filter(Boolean)
    .map((it) => ({ path: join(it, `${name}.fish`), isProgram: false }));
}

function inPath({ state, path }: Shell, name: string, directory: string): Files {
  const folders = (state?.path ?? path).split(":").map((it) => (it.startsWith("/") ? it : `${directory}/${it}`));
  return folders.map((it) => ({ path: `${it}/${name}`, isProgram: true }));
}

/** Not normalised: `..` after a link is what the link leads to. */
function pathOf({ home }: Shell, name: string, directory: string): string {
  if (name.startsWith("~/")) return `${home}/${name.slice(2)}`;
  return name.startsWith("/") ? name : `${directory}/${name}`;
}
