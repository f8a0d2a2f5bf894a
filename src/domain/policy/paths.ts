/** Paths as text, and the directories that a shell may be in. Nothing is looked up: links stay unknown. */

/** Where the shell may be by now. */
export type Directories = { readonly known: readonly string[]; readonly mayBeElsewhere: boolean };

/** More than so many are one that nobody knows. */
const DIRECTORIES_MAX = 8;

export function inDirectory(path: string | undefined): Directories {
  return path === undefined ? { known: [], mayBeElsewhere: true } : { known: [path], mayBeElsewhere: false };
}

/** It may have gone there or, where that failed, have stayed. */
export function mayGo(from: Directories, to: readonly string[] | undefined): Directories {
  if (to === undefined) return { ...from, mayBeElsewhere: true };
  const reached = to.flatMap((path) => (path.startsWith("/") ? [path] : from.known.map((base) => joined(base, path))));
  const known = [...new Set([...from.known, ...reached.map((path) => normal(path))])];
  return known.length > DIRECTORIES_MAX
    ? { known: known.slice(0, DIRECTORIES_MAX), mayBeElsewhere: true }
    : { known, mayBeElsewhere: from.mayBeElsewhere };
}

export function joined(base: string, path: string): string {
  return path.startsWith("/") ? path : `${base}/${path}`;
}

/** A leading `~` is the home, where that is known. */
export function atHome(path: string, home: string | undefined): string {
  return home !== undefined && (path === "~" || path.startsWith("~/")) ? home + path.slice(1) : path;
}

/** Without `.`, `..` and double slashes; absolute paths only. */
export function normal(path: string): string {
  const segments: string[] = [];
  for (const segment of path.split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return `/${segments.join("/")}`;
}

export function isWithin(path: string, directory: string): boolean {
  return path === directory || path.startsWith(directory === "/" ? "/" : `${directory}/`);
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
