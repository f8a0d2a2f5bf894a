/**
 * What a command would meet, as digests: what the shell says of itself, the directory, and every file that it is known to
 * run. Two bindings with the same digest would do the same, as far as `unbound` is empty. Rule APR-11 in
 * docs/spec/approvals.md.
 */
import { createHash } from "node:crypto";
import { redactText } from "../../domain/redaction/redact-text.ts";
import type { Bindings } from "../../protocol/link.ts";
import { digestOf, type Known, type UnreadReason } from "./file-digest.ts";
import { type Files, type Lookup, lookUpProgram, lookUpScript, type Shell } from "./lookup.ts";
import { walk, type Walked } from "./walk.ts";

/** Where a command would run. */
export type Surroundings = {
  /** What is `/` for its programs. */
  readonly root: string;
  readonly shell: Shell;
  /** As the shell would enter it. */
  readonly directory: string;
  /** Of the shell itself, by name. */
  readonly told: Readonly<Record<string, string>>;
  readonly untold: readonly Unbound[];
  /** Files that were read a moment ago. */
  readonly known?: Known;
};

export type Unbound = { readonly what: string; readonly reason: string };

export type BoundFile = {
  /** The part that it belongs to. */
  readonly what: string;
  readonly walked: Walked;
  /** Undefined: it could not be read. */
  readonly digest?: string | undefined;
  readonly identity?: string | undefined;
};

export type Binding = {
  readonly digest: string;
  readonly cwd: string;
  readonly parts: Readonly<Record<string, string>>;
  readonly resolved: Readonly<Record<string, string>>;
  readonly unbound: readonly Unbound[];
  readonly files: readonly BoundFile[];
};

export async function bind(surroundings: Surroundings, wanted: Bindings): Promise<Binding> {
  const { shell, directory, root } = surroundings;
  const things = [
    ...wanted.programs.map((name) => ({ what: `program:${name}`, lookup: lookUpProgram(shell, name, directory) })),
    ...wanted.scripts.map((name) => ({ what: `script:${name}`, lookup: lookUpScript(shell, name, directory) })),
  ];
  const found = await Promise.all(things.map(({ what, lookup }) => boundThing(surroundings, what, lookup)));
  const place = await walk(root, directory);
  const cwd = place?.path ?? directory;
  const isPlace = place?.status.isDirectory() === true;
  const parts = {
    ...surroundings.told,
    cwd: hashed([cwd, isPlace ? `${place.status.dev}:${place.status.ino}` : "none"]),
    ...Object.fromEntries(found.map(({ what, part }) => [what, part])),
  };
  return {
    digest: digestOfParts(parts),
    cwd,
    parts,
    resolved: Object.fromEntries(found.map(({ what, meaning }) => [what, meaning])),
    unbound: [
      ...surroundings.untold,
      ...(isPlace ? [] : [{ what: "cwd", reason: "no_directory" }]),
      ...found.flatMap(({ unbound }) => unbound),
    ],
    files: found.flatMap(({ files }) => files),
  };
}

/** Names of parts that one has and the other has not, or has otherwise. */
export function differences(before: Binding["parts"], after: Binding["parts"]): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => before[name] !== after[name]).toSorted();
}

export function hashed(texts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const text of texts) hash.update(`${Buffer.byteLength(text)}:${text}`);
  return hash.digest("hex");
}

function digestOfParts(parts: Binding["parts"]): string {
  return hashed(Object.entries(parts).toSorted(byName).flat());
}

function byName([one]: readonly [string, string], [other]: readonly [string, string]): number {
  return one < other ? -1 : 1;
}

type BoundThing = {
  readonly what: string;
  readonly part: string;
  /** For people. */
  readonly meaning: string;
  readonly unbound: readonly Unbound[];
  readonly files: readonly BoundFile[];
};

async function boundThing(at: Surroundings, what: string, lookup: Lookup): Promise<BoundThing> {
  const starts = await Promise.all(lookup.files.map((it) => firstOf(at.root, it)));
  const chains = await Promise.all(starts.filter(isThere).map((it) => fileChain(at, what, it)));
  const all = chains.flat();
  const isMissing = lookup.by.length === 0 && all.length === 0;
  const reasons = all.flatMap(({ reason }) => reason ?? []);
  return {
    what,
    part: hashed([...lookup.by, ...all.flatMap(({ file }) => [file.walked.path, contentOf(file)])]),
    meaning: meaningOf(lookup, all),
    unbound: [...(isMissing ? ["not_found"] : []), ...reasons].map((reason) => ({ what, reason })),
    files: all.map(({ file }) => file),
  };
}

/** The first line of what is text, without secrets. */
function meaningOf({ by }: Lookup, links: readonly Link[]): string {
  const texts = by.map((it) => redactText(it.split("\n", 1)[0] ?? "").slice(0, MEANING_MAX));
  return [...texts, ...links.map(({ file }) => file.walked.path)].join(" → ");
}

const MEANING_MAX = 200;

const isThere = <T>(it: T | undefined): it is T => it !== undefined;

/** What can't be read is at least that file. */
function contentOf({ digest, walked: { status } }: BoundFile): string {
  return digest ?? [status.dev, status.ino, status.size, status.mtimeNs].join(":");
}

async function firstOf(root: string, files: Files): Promise<Walked | undefined> {
  for (const { path, isProgram } of files) {
    const walked = await walk(root, path);
    if (walked === undefined || walked.status.isDirectory()) continue;
    if (!isProgram || (walked.status.mode & 0o111n) !== 0n) return walked;
  }
  return undefined;
}

type Link = { readonly file: BoundFile; readonly reason?: UnreadReason };

/** A file that names its interpreter runs that. */
async function fileChain(at: Surroundings, what: string, walked: Walked): Promise<readonly Link[]> {
  const links: Link[] = [];
  const wanted = [walked];
  for (let next = wanted.shift(); next !== undefined && links.length < CHAIN_MAX; next = wanted.shift()) {
    const read = await digestOf(at.root, next, at.known);
    const { digest, identity } = read.ok ? read : {};
    links.push({ file: { what, walked: next, digest, identity }, ...(read.ok ? {} : { reason: read.reason }) });
    if (read.ok) wanted.push(...(await interpretersOf(at, read.head)));
  }
  return links;
}

/** As many as a kernel follows, and what `env` looks for. */
const CHAIN_MAX = 6;

async function interpretersOf(at: Surroundings, head: string): Promise<readonly Walked[]> {
  const [, path, rest = ""] = /^#![ \t]*(\S+)[ \t]*(.*)/.exec(head) ?? [];
  if (path === undefined) return [];
  const name = path.endsWith("/env") ? rest.split(/\s+/).find((it) => /^[^-=]+$/.test(it)) : undefined;
  const first = await walk(at.root, path);
  if (name === undefined) return [first].filter(isThere);
  const plain = { ...at.shell, state: at.shell.state && { ...at.shell.state, ...NOTHING_ELSE } };
  const files = lookUpProgram(plain, name, at.directory).files.at(-1) ?? [];
  return [first, await firstOf(at.root, files)].filter(isThere);
}

/** `env` knows PATH alone. */
const NOTHING_ELSE = { things: [], hashed: [], builtins: new Set<string>() };
