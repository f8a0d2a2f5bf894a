/**
 * One file's content, opened so that what was hashed is what runs: a descriptor of a file that nobody of the session's can
 * change, else a sealed copy in memory. The path is never opened again. Rule APR-31 in docs/spec/approvals.md.
 */
import { createHash } from "node:crypto";
import { closeSync, lstatSync, writeSync } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { dirname } from "node:path";
import koffi from "koffi";
import { FILE_MAX, identityOf, OPEN_FLAGS } from "./file-digest.ts";
import type { Walked } from "./walk.ts";

export class ExactFile implements Disposable {
  readonly fd: number;
  /** SHA-256 of its content, hex. */
  readonly digest: string;
  /** Its beginning: as far as an interpreter may be named in it. */
  readonly head: string;

  private constructor(fd: number, digest: string, head: string) {
    this.fd = fd;
    this.digest = digest;
    this.head = head;
  }

  /** `uid`: whose program it will be. Undefined: it is no file that can be read, or another one by now. */
  static async open(walked: Walked, uid: number): Promise<ExactFile | undefined> {
    const source = await open(walked.path, OPEN_FLAGS).catch(() => undefined);
    if (source === undefined) return undefined;
    using kept = new DisposableStack();
    try {
      const before = await source.stat({ bigint: true });
      if (!before.isFile() || before.size > FILE_MAX || before.ino !== walked.status.ino) return undefined;
      const isSteady = isFixed(walked, uid);
      const fd = isSteady ? duplicate(source.fd) : memoryFile();
      kept.defer(() => closeSync(fd));
      const content = await contentOf(source, isSteady ? undefined : fd);
      if (content === undefined) return undefined;
      if (!isSteady) seal(fd);
      else if (identityOf(await source.stat({ bigint: true })) !== identityOf(before)) return undefined;
      kept.move();
      return new ExactFile(fd, content.digest, content.head);
    } finally {
      await source.close();
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.fd);
  }
}

const PIECE = 1024 * 1024;
const HEAD = 256;

/** Undefined: it grew beyond what is taken. */
async function contentOf(
  source: FileHandle,
  copy: number | undefined,
): Promise<{ readonly digest: string; readonly head: string } | undefined> {
  const hash = createHash("sha256");
  const piece = Buffer.allocUnsafe(PIECE);
  let head = "";
  for (let at = 0; at <= FILE_MAX;) {
    const { bytesRead } = await source.read(piece, 0, PIECE, at);
    if (bytesRead === 0) return { digest: hash.digest("hex"), head };
    const bytes = piece.subarray(0, bytesRead);
    if (at === 0) head = bytes.toString("latin1", 0, HEAD);
    hash.update(bytes);
    if (copy !== undefined) writeWhole(copy, bytes);
    at += bytesRead;
  }
  return undefined;
}

/** Only root can change it, or put another in its place, and root isn't who runs it. */
function isFixed({ path, status }: Walked, uid: number): boolean {
  if (uid === 0 || status.uid !== 0n || (status.mode & 0o022n) !== 0n) return false;
  for (let directory = dirname(path); ; directory = dirname(directory)) {
    const above = lstatSync(directory, { throwIfNoEntry: false });
    if (above === undefined || above.uid !== 0 || (above.mode & 0o022) !== 0) return false;
    if (directory === "/") return true;
  }
}

function writeWhole(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(fd, bytes, at);
}

/** Where the kernel knows no other memory files than those that can be run, it doesn't know the flag. */
function memoryFile(): number {
  const flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  const fd = [flags | MFD_EXEC, flags].map((it) => memfd_create("sidestick", it)).find((it) => it >= 0);
  if (fd === undefined) throw new Error("No file in memory could be made");
  return fd;
}

function seal(fd: number): void {
  if (fcntl(fd, F_ADD_SEALS, "int", ALL_SEALS) !== 0) throw new Error("A file in memory could not be sealed");
}

function duplicate(fd: number): number {
  const copy = fcntl(fd, F_DUPFD_CLOEXEC, "int", 3);
  if (copy < 0) throw new Error("A descriptor could not be kept");
  return copy;
}

const MFD_CLOEXEC = 1;
const MFD_ALLOW_SEALING = 2;
const MFD_EXEC = 16;
const F_ADD_SEALS = 1033;
const F_DUPFD_CLOEXEC = 1030;
/** Further seals, shrinking, growing, writing. */
const ALL_SEALS = 1 | 2 | 4 | 8;

const libc = koffi.load(null);
const memfd_create = libc.func("int memfd_create(const char *name, uint flags)") as (
  name: string,
  flags: number,
) => number;
const fcntl = libc.func("int fcntl(int fd, int command, ...)") as (
  fd: number,
  command: number,
  type: string,
  value: number,
) => number;
