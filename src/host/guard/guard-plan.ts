/**
 * What is done to build a guard, step by step, as data: `guard.pl` only carries it out. What a path looks like inside is
 * decided here; which paths there are is looked up in guard-layout.ts. Rules GRD-6..GRD-14 in docs/spec/guard.md.
 */

/** `hidden`: an empty directory that nothing can be put into, or an empty file. `private`: empty, and the session's own. */
export type Treatment = "hidden" | "private" | "read_only";

export type GuardedPath = {
  /** Without links in it. */
  readonly path: string;
  readonly kind: "directory" | "file";
  readonly how: Treatment;
};

export type Place = Pick<GuardedPath, "path" | "kind">;

export type Access = "as_it_is" | "read_only";

export type GuardLayout = {
  /** Root's guard: what of the whole machine can be written to. Undefined: as permissions say. */
  readonly writable?: readonly string[] | undefined;
  /** Links and directories on the way to something guarded: they stay where they are. */
  readonly pinned: readonly string[];
  readonly guarded: readonly GuardedPath[];
  /** Seen although something above them is hidden, at the same path. */
  readonly shown: readonly (Place & { readonly access: Access })[];
  readonly devices: readonly Place[];
  /** What else of `/proc` is closed: by name, read-only or empty. */
  readonly proc: { readonly readOnly: readonly string[]; readonly empty: readonly string[] };
  readonly hasTerminal: boolean;
};

/** Its name and what it takes, as `guard.pl` knows it. */
export type Step = readonly string[];

export function guardSteps(layout: GuardLayout): readonly Step[] {
  const { writable, pinned, guarded, shown } = layout;
  const covers = guarded.filter((it) => it.how !== "read_only").toSorted((a, b) => a.path.length - b.path.length);
  const readOnly = guarded.filter((it) => it.how === "read_only");
  const emptied = covers.filter((it) => it.kind === "directory" && it.how === "hidden");
  return [
    ["private"],
    ...shown.map(({ path }) => clone(`shown ${path}`, path)),
    ...layout.devices.map(({ path }) => clone(path, path)),
    ...(layout.hasTerminal ? [["terminal", "console"]] : []),
    ...(writable === undefined ? [] : sealedBut(writable)),
    ...byDepth(pinned).flatMap((path) => onItself(path, "as_it_is")),
    ...byDepth(readOnly.map((it) => it.path)).flatMap((path) => onItself(path, "read_only")),
    ...covers.flatMap((it) => cover(it, [...shown, ...covers])),
    ...shown.map(({ path, access }) => place(`shown ${path}`, path, access)),
    ...emptied.map(({ path }) => ["seal", path]),
    ...devices(layout),
    ["proc", "/proc"],
    ...layout.proc.readOnly.flatMap((path) => onItself(path, "read_only")),
    ...layout.proc.empty.flatMap((path) => emptyFile(path)),
  ];
}

function clone(slot: string, path: string): Step {
  return ["clone", slot, path];
}

function place(slot: string, path: string, access: Access = "as_it_is"): Step {
  return ["place", slot, path, access];
}

function onItself(path: string, access: Access): readonly Step[] {
  return [clone(`self ${path}`, path), place(`self ${path}`, path, access)];
}

function emptyFile(path: string): readonly Step[] {
  return [clone(`no ${path}`, "/dev/null"), place(`no ${path}`, path, "read_only")];
}

/** Their clones are taken before the whole is read-only, so they stay as they were. */
function sealedBut(writable: readonly string[]): readonly Step[] {
  const paths = byDepth(writable);
  return [
    ...paths.map((path) => clone(`writable ${path}`, path)),
    ["seal_all"],
    ...paths.map((path) => place(`writable ${path}`, path)),
  ];
}

/** Directories of sockets that come and go. */
const PASSING = /^\/tmp\/[^/]+$/;

/** With the points in it at which something is placed later. */
function cover({ path, kind, how }: GuardedPath, placed: readonly Place[]): readonly Step[] {
  if (kind === "file") return emptyFile(path);
  const below = placed.filter((it) => it.path.startsWith(`${path}/`));
  const ways = new Set(below.flatMap((it) => wayTo(it.path, path)));
  return [
    [below.length === 0 && PASSING.test(path) ? "hide" : "tmpfs", path, how === "private" ? "0700" : "0755"],
    ...[...ways].map(directory),
    ...below.filter((it) => !ways.has(it.path)).map(point),
  ];
}

function directory(path: string): Step {
  return ["mkdir", path, "0755"];
}

function point({ path, kind }: Place): Step {
  return kind === "directory" ? directory(path) : ["file", path];
}

/** The directories below `base` that `path` lies in. */
function wayTo(path: string, base: string): readonly string[] {
  const names = path
    .slice(base.length + 1)
    .split("/")
    .slice(0, -1);
  return names.map((_, index) => `${base}/${names.slice(0, index + 1).join("/")}`);
}

/** Few devices, and terminals that are the session's own. */
function devices({ devices, hasTerminal }: GuardLayout): readonly Step[] {
  return [
    ["tmpfs", "/dev", "0755"],
    ...devices.flatMap((it) => [point(it), place(it.path, it.path)]),
    ...(hasTerminal ? [["file", "/dev/console"], place("console", "/dev/console")] : []),
    directory("/dev/pts"),
    ["devpts", "/dev/pts"],
    ["link", "pts/ptmx", "/dev/ptmx"],
    directory("/dev/shm"),
    ["tmpfs", "/dev/shm", "1777"],
    ["link", "/proc/self/fd", "/dev/fd"],
    ...["stdin", "stdout", "stderr"].map((name, fd) => ["link", `/proc/self/fd/${fd}`, `/dev/${name}`]),
    ["seal", "/dev"],
  ];
}

function byDepth(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].toSorted((a, b) => a.length - b.length);
}
