/**
 * What a guard of this machine looks like now: finds the places that there are, follows links to what they mean, and
 * notes all on the way that could be renamed. Rules GRD-8..GRD-14 in docs/spec/guard.md.
 */
import { accessSync, constants, lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { GuardTerms } from "../../protocol/link.ts";
import { sourcedIn } from "./guard-home.ts";
import type { GuardedPath, GuardLayout, Place, Treatment } from "./guard-plan.ts";
import {
  CREDENTIALS,
  DEVICES,
  PROC_EMPTY,
  PROC_READ_ONLY,
  SHOWN_IN_RUN,
  SOCKETS_IN_HOME,
  SOCKETS_IN_TMP,
  SOCKETS_IN_VAR,
  SSH,
  START_UP,
  SYSTEM,
  USUAL_PATH,
} from "./guard-places.ts";

export type GuardSubject = {
  readonly home: string;
  readonly uid: number;
  /** As after the login. */
  readonly env: Readonly<Record<string, string>>;
  /** Sidestick's own places, hidden. */
  readonly ours: readonly string[];
  /** Sidestick's programs, read-only. */
  readonly install: readonly string[];
  /** Of `ours`, what the session itself needs. */
  readonly shown: readonly string[];
  /** Of `ours`, what the session may read and nothing inside may change. */
  readonly fixed: readonly string[];
  readonly terms: GuardTerms;
  readonly hasTerminal: boolean;
};

export function guardLayout(subject: GuardSubject): GuardLayout {
  const { home, uid, env, terms, hasTerminal } = subject;
  const isRoot = uid === 0;
  const expand = (paths: readonly string[]): readonly string[] => paths.map((it) => it.replace(/^~(?=\/|$)/, home));
  const writable = isRoot ? writableForRoot(home, expand(terms.writable ?? [])) : undefined;
  const finder = new Finder(writable);
  const mayBeShown = (path: string): boolean => !subject.ours.some((own) => overlap(path, own));
  const shownAgain = new Set(
    matching(expand(terms.shown ?? []))
      .filter(mayBeShown)
      .map(withoutLinksAbove),
  );
  const hide = (paths: readonly string[], how: Treatment = "hidden"): void => {
    for (const path of matching(expand(paths))) if (!shownAgain.has(withoutLinksAbove(path))) finder.guard(path, how);
  };
  const fix = (paths: readonly string[]): void => {
    for (const path of matching(expand(paths))) finder.guard(path, "read_only");
  };
  hide(subject.ours);
  hide(CREDENTIALS);
  hide([SSH], "private");
  hide(socketsIn("/tmp"), "private");
  hide([...SOCKETS_IN_HOME, ...SOCKETS_IN_VAR, ...socketsOf(env), ...(terms.hidden ?? [])]);
  const named = expand(terms.writable ?? []);
  const isClosed = (it: string): boolean =>
    isWithin(it, home) ||
    (it.startsWith("/") && finder.canWriteTo(realPath(it)) && !named.some((top) => isWithin(it, top)));
  const path = (env["PATH"] ?? "").split(":").filter(isClosed);
  fix([...START_UP, ...sourcedIn(home), ...USUAL_PATH, ...path, ...subject.install, ...(terms.read_only ?? [])]);
  finder.guard("/run", "hidden");
  const own = [`/run/user/${uid}`, ...(isRoot ? ["/run/sudo"] : [])];
  for (const it of own) finder.add({ path: it, kind: "directory", how: "private" });
  return {
    writable,
    pinned: finder.pinned,
    guarded: finder.guarded,
    shown: [
      ...matching(subject.shown).map((path) => ({ ...placeOf(path), access: "as_it_is" as const })),
      ...matching(subject.fixed).map((path) => ({ ...placeOf(path), access: "read_only" as const })),
      ...finder.uncovered([...matching(SHOWN_IN_RUN), ...shownAgain]),
    ],
    devices: matching(DEVICES.map((it) => `/dev/${it}`)).map(placeOf),
    proc: isRoot ? procRules() : { readOnly: [], empty: [] },
    hasTerminal,
  };
}

/** What is ours is never shown, nor anything around it. */
export function overlap(one: string, other: string): boolean {
  const [a, b] = [one, other].map((it) => `${realPath(it).replace(/\/$/, "")}/`) as [string, string];
  return a.startsWith(b) || b.startsWith(a);
}

/** As covers are named; of a link the link itself. */
function withoutLinksAbove(path: string): string {
  const absolute = resolve(path);
  return join(realPath(dirname(absolute)), basename(absolute));
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/** Each is a mount, and an agent can make any number: of too many, the directory itself. */
export function socketsIn(directory: string): readonly string[] {
  const found = matching(SOCKETS_IN_TMP.map((it) => `${directory}/${it}`));
  return found.length > SOCKETS_MAX ? [directory] : found;
}

/** A person has a few, a server with many users some dozens. */
const SOCKETS_MAX = 200;

/** Sockets that the login named. */
function socketsOf(env: Readonly<Record<string, string>>): readonly string[] {
  const named = [env["SSH_AUTH_SOCK"], env["TMUX"]?.split(",")[0], env["XAUTHORITY"]];
  return named.filter((it): it is string => it?.startsWith("/") === true);
}

function writableForRoot(home: string, named: readonly string[]): readonly string[] {
  const top = readdirSync("/", { withFileTypes: true }).filter((it) => it.isDirectory() && !SYSTEM.has(it.name));
  const paths = [...top.map((it) => `/${it.name}`), "/var/tmp", home, ...named];
  return [...new Set(paths)].filter(isDirectory);
}

function procRules(): GuardLayout["proc"] {
  const there = (names: readonly string[]): readonly string[] =>
    names.map((name) => `/proc/${name}`).filter((path) => statOf(path) !== undefined);
  return { readOnly: there(PROC_READ_ONLY), empty: there(PROC_EMPTY) };
}

/** As far as a kernel follows. */
const LINKS_MAX = 40;

class Finder {
  readonly #writable: readonly string[] | undefined;
  readonly #pinned = new Set<string>();
  readonly #guarded = new Map<string, GuardedPath>();

  /** `writable`: nothing else is. Undefined: what permissions say. */
  constructor(writable: readonly string[] | undefined) {
    this.#writable = writable;
  }

  get pinned(): readonly string[] {
    return [...this.#pinned].filter((it) => !this.#guarded.has(it));
  }

  get guarded(): readonly GuardedPath[] {
    const all = [...this.#guarded.values()];
    const hidden = all.filter((it) => it.how === "hidden" && it.kind === "directory");
    // What is below something hidden is hidden; only what is one's own there is made.
    return all.filter((it) => it.how === "private" || !hidden.some(({ path }) => it.path.startsWith(`${path}/`)));
  }

  /** Those that would be hidden with what is above them; no more can be done to them than without that. */
  uncovered(paths: readonly string[]): GuardLayout["shown"] {
    const all = [...this.#guarded.values()];
    const [fixed, covers] = [all.filter((it) => it.how === "read_only"), all.filter((it) => it.how !== "read_only")];
    const isFixed = (path: string): boolean =>
      this.#isSealed(path) || fixed.some((it) => isWithin(path, it.path) || isWithin(it.path, path));
    return paths
      .filter((path) => covers.some((it) => path !== it.path && isWithin(path, it.path)))
      .map((path) => ({ ...placeOf(path), access: isFixed(path) ? "read_only" : "as_it_is" }));
  }

  add(guarded: GuardedPath): void {
    this.#guarded.set(guarded.path, guarded);
  }

  /** What it means, and the way there. Nothing if there is no such thing. */
  guard(path: string, how: Treatment): void {
    const way: string[] = [];
    let names = resolve(path).split("/").slice(1);
    let at = "/";
    for (let links = 0; names.length > 0;) {
      const next = join(at, names.shift()!);
      const stat = statOf(next);
      if (stat === undefined) return;
      if (this.canWriteTo(at)) way.push(next);
      if (!stat.isSymbolicLink()) at = next;
      else if ((links += 1) > LINKS_MAX) return;
      else {
        const target = resolve(at, readlinkSync(next));
        names = [
          ...target
            .split("/")
            .slice(1)
            .filter((it) => it !== ""),
          ...names,
        ];
        at = "/";
      }
    }
    if (at === "/") return;
    for (const it of way) if (it !== at) this.#pinned.add(it);
    const before = this.#guarded.get(at);
    if (before === undefined || before.how === "read_only") this.add({ path: at, kind: kindOf(at), how });
  }

  #isSealed(path: string): boolean {
    return this.#writable?.some((it) => isWithin(path, it)) === false;
  }

  /** So what lies in this directory could be renamed. */
  canWriteTo(directory: string): boolean {
    if (this.#writable !== undefined) return !this.#isSealed(directory);
    try {
      accessSync(directory, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }
}

function isWithin(path: string, directory: string): boolean {
  return `${path}/`.startsWith(`${directory}/`);
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined; // what we may not look at, nobody inside may
  }
}

function kindOf(path: string): GuardedPath["kind"] {
  return isDirectory(path) ? "directory" : "file";
}

function placeOf(path: string): Place {
  return { path, kind: kindOf(path) };
}

function isDirectory(path: string): boolean {
  return statOf(path)?.isDirectory() === true;
}

/** Each itself, or what fits a name that has a `*`. A directory is read once: it may hold thousands. */
function matching(paths: readonly string[]): readonly string[] {
  const listed = new Map<string, readonly string[]>();
  return paths.flatMap((path) => {
    const [before, after] = basename(path).split("*");
    if (before === undefined || after === undefined) return statOf(path) === undefined ? [] : [path];
    const directory = dirname(path);
    const names = listed.get(directory) ?? namesIn(directory);
    listed.set(directory, names);
    return names.filter((it) => it.startsWith(before) && it.endsWith(after)).map((it) => join(directory, it));
  });
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
