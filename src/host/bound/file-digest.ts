/**
 * What is in a file that somebody else may change meanwhile: read once from one descriptor, which must be the file that
 * was found and stay as it is while it is read. Rule APR-11 in docs/spec/approvals.md.
 */
import { createHash } from "node:crypto";
import { type BigIntStats, constants, statSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Walked } from "./walk.ts";

export type FileDigest =
  | { readonly ok: true; readonly digest: string; readonly head: string; readonly identity: string }
  | { readonly ok: false; readonly reason: UnreadReason };

export type UnreadReason = "no_file" | "too_large" | "unreadable" | "changing";

export const FILE_MAX = 256n * 1024n * 1024n;
const PIECE = 1024 * 1024;
/** All that a kernel looks at to find an interpreter. */
const HEAD = 256;
/** A pipe would hold us up, a link lead elsewhere, a terminal become ours. */
export const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** By what `identityOf` says of it. */
export type Known = Map<string, FileDigest & { readonly ok: true }>;

/** `known`: what was read a moment ago need not be read again. */
export async function digestOf(root: string, walked: Walked, known?: Known): Promise<FileDigest> {
  const identity = identityOf(walked.status);
  const before = known?.get(identity) ?? (isFixed(walked.status, root) ? cache.get(identity) : undefined);
  if (before !== undefined) return before;
  let file: FileHandle;
  try {
    file = await open(root + walked.path, OPEN_FLAGS);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return { ok: false, reason: code === "EACCES" || code === "EPERM" ? "unreadable" : "changing" };
  }
  try {
    const found = await read(file, walked);
    if (!found.ok || !isSettled(walked.status)) return found;
    known?.set(found.identity, found);
    if (isFixed(walked.status, root)) remember(found);
    return found;
  } finally {
    await file.close();
  }
}

async function read(file: FileHandle, { status }: Walked): Promise<FileDigest> {
  const before = await file.stat({ bigint: true });
  if (identityOf(before) !== identityOf(status)) return { ok: false, reason: "changing" };
  if (!before.isFile()) return { ok: false, reason: "no_file" };
  if (before.size > FILE_MAX) return { ok: false, reason: "too_large" };
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(Math.min(PIECE, Number(before.size) + 1));
  let head = "";
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(piece, 0, piece.length, at);
    if (bytesRead === 0) break;
    if (at === 0) head = piece.toString("latin1", 0, Math.min(HEAD, bytesRead));
    hash.update(piece.subarray(0, bytesRead));
    at += bytesRead;
    if (at > before.size) return { ok: false, reason: "changing" };
  }
  const after = await file.stat({ bigint: true });
  if (identityOf(after) !== identityOf(before)) return { ok: false, reason: "changing" };
  return { ok: true, digest: hash.digest("hex"), head, identity: identityOf(after) };
}

/** Whatever is written to a file or done to its name changes one of these, a mapping that stays open aside. */
export function identityOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(":");
}

const cache: Known = new Map();
const KEPT_MAX = 1_000;

function remember(found: FileDigest & { readonly ok: true }): void {
  cache.set(found.identity, found);
  const oldest = cache.keys().next();
  if (cache.size > KEPT_MAX && oldest.done === false) cache.delete(oldest.value);
}

/** What is written from now on has another time: the clock of files ticks every few milliseconds. */
function isSettled({ ctimeMs }: BigIntStats): boolean {
  return Date.now() - Number(ctimeMs) > TICK_MS;
}

/**
 * The session's user can't change it: it is root's, they aren't, and it lies on the system's own disk; a file system of
 * theirs could say anything.
 */
function isFixed({ uid, mode, dev }: BigIntStats, root: string): boolean {
  return uid === 0n && (mode & 0o022n) === 0n && systemDisks().has(dev) && ownerOf(root) !== 0;
}

const TICK_MS = 2_000;

/** Of the process whose root it is. */
function ownerOf(root: string): number {
  return statSync(root.replace(/\/root$/, ""), { throwIfNoEntry: false })?.uid ?? 0;
}

let disks: ReadonlySet<bigint> | undefined;

function systemDisks(): ReadonlySet<bigint> {
  disks ??= new Set(["/", "/usr"].map((it) => statSync(it, { bigint: true }).dev));
  return disks;
}
