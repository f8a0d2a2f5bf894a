/**
 * The policy files of a hub: one for all, one for each workspace that has its own. Nobody but the hub's user and root may
 * be able to write them, so links and files that others can change are refused. Rules POL-10, POL-11, POL-14, POL-15.
 */
import { isUtf8 } from "node:buffer";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { PolicyDocument, PolicyFiles, PolicyProblem } from "../../hub/ports.ts";
import { WorkspaceId } from "../../protocol/workspaces.ts";
import type { Source } from "./yaml-document.ts";

const BYTES_MAX = 256 * 1024;

export type PolicyPlaces = {
  /** The global file. */
  readonly file: string;
  /** Somebody named it, so it has to be there. */
  readonly isNamed: boolean;
  /** Where the workspaces' files are; it may not be there. */
  readonly directory: string;
};

type Place = { readonly path: string; readonly workspaceId?: string; readonly isNeeded?: boolean };

export class PolicyDirectory implements PolicyFiles {
  readonly #places: PolicyPlaces;
  readonly #everyMs: number;
  /** How the files stood when they were read. */
  #known = "";

  constructor(places: PolicyPlaces, everyMs = LOOK_EVERY_MS) {
    this.#places = places;
    this.#everyMs = everyMs;
  }

  async read(): Promise<readonly PolicyDocument[]> {
    const { file, isNamed, directory } = this.#places;
    // Before it is read: what changes meanwhile is a change.
    this.#known = await this.#fingerprint();
    const names = (await namesIn(directory)).filter((it) => /^[^.].*\.ya?ml$/i.test(it)).toSorted();
    const documents = await Promise.all([
      readPolicyFile({ path: file, isNeeded: isNamed }),
      ...names.map((name) => this.#workspaceFile(join(directory, name), name)),
    ]);
    return documents.filter((it) => it !== undefined);
  }

  /**
   * By looking, not by the kernel's notices: the store writes into the same directory all the time, and file systems of a
   * network send none.
   */
  watch(onChange: () => void): Disposable {
    let before: string | undefined;
    let isLooking = false;
    const look = async (): Promise<void> => {
      if (isLooking) return;
      isLooking = true;
      const now = await this.#fingerprint();
      isLooking = false;
      // Twice the same: an editor may be in the midst of it.
      if (now === before && now !== this.#known) onChange();
      before = now;
    };
    const timer = setInterval(() => void look(), this.#everyMs);
    timer.unref();
    return { [Symbol.dispose]: () => clearInterval(timer) };
  }

  async #workspaceFile(path: string, name: string): Promise<PolicyDocument | undefined> {
    const workspaceId = name.replace(/\.yaml$/, "");
    if (WorkspaceId.safeParse(workspaceId).success && name.endsWith(".yaml")) {
      return readPolicyFile({ path, workspaceId });
    }
    return refused(path, "names no workspace", "Call it <workspaceId>.yaml, or move it elsewhere.");
  }

  async #fingerprint(): Promise<string> {
    const { file, directory } = this.#places;
    const names = (await namesIn(directory)).toSorted();
    const marks = [file, ...names.map((it) => join(directory, it))].map(markOf);
    return (await Promise.all([...marks, accessOf(dirname(file)), accessOf(directory)])).join("\n");
  }
}

const LOOK_EVERY_MS = 1000;

/** Undefined where there is none and needs to be none. */
async function readPolicyFile({ path, workspaceId, isNeeded = false }: Place): Promise<PolicyDocument | undefined> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const unsafe = unsafeFile(path, await file.stat()) ?? (await unsafeAbove(path));
    if (unsafe !== undefined) return refused(path, unsafe.message, unsafe.remedy);
    const text = await textOf(file);
    return await (text === undefined ? refused(path, ...NO_TEXT) : parsed({ path, workspaceId, text }));
  } catch (error) {
    const { code = "unknown" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && !isNeeded) return undefined;
    if (code === "ELOOP")
      return refused(path, "is a link, and no guard hides where it leads", "Put the file itself there.");
    return refused(path, ...unreadable(code));
  }
}

/** One that somebody named to look at it: whose it is doesn't matter. */
export async function readAnyFile(path: string): Promise<PolicyDocument> {
  try {
    await using file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const text = await textOf(file);
    return await (text === undefined ? refused(path, ...NO_TEXT) : parsed({ path, text }));
  } catch (error) {
    return refused(path, ...unreadable((error as NodeJS.ErrnoException).code ?? "unknown"));
  }
}

/** Most hubs have no file: they don't load the package. */
async function parsed(source: Source): Promise<PolicyDocument> {
  const { readYaml } = await import("./yaml-document.ts");
  return readYaml(source);
}

const NO_TEXT = [
  `is larger than ${BYTES_MAX / 1024} KiB or isn't UTF-8 text`,
  "Say it in fewer rules, in UTF-8.",
] as const;

function unreadable(code: string): readonly [string, string] {
  return [`can't be read (${code})`, "See that it is there and that it may be read."];
}

/** Undefined: too much, or no text. */
async function textOf(file: FileHandle): Promise<string | undefined> {
  if (!(await file.stat()).isFile()) return undefined;
  const buffer = Buffer.alloc(BYTES_MAX + 1);
  const { bytesRead } = await file.read(buffer, 0, buffer.length, 0);
  const bytes = buffer.subarray(0, bytesRead);
  return bytesRead > BYTES_MAX || !isUtf8(bytes) ? undefined : bytes.toString();
}

type Unsafe = { readonly message: string; readonly remedy: string } | undefined;

function unsafeFile(path: string, { uid, mode }: Stats): Unsafe {
  if (!isTrusted(uid)) return { message: "belongs to somebody else", remedy: `chown ${process.geteuid?.()} ${path}` };
  if ((mode & 0o022) === 0) return undefined;
  return { message: "can be written by others", remedy: `chmod go-w ${path}` };
}

/** Whoever may write to its directory can put another file in its place. */
async function unsafeAbove(path: string): Promise<Unsafe> {
  const directory = dirname(path);
  const { uid, mode } = await stat(directory);
  if (isTrusted(uid) && (mode & 0o022) === 0) return undefined;
  return {
    message: `lies in ${directory}, where others may put another file in its place`,
    remedy: isTrusted(uid) ? `chmod go-w ${directory}` : "Put it into a directory of your own.",
  };
}

function isTrusted(uid: number): boolean {
  return uid === 0 || uid === process.geteuid?.();
}

function refused(path: string, message: string, remedy: string): PolicyDocument {
  const problem: PolicyProblem = { file: path, message: `The file ${message}`, remedy };
  return { path, problems: [problem], locate: () => ({ line: 1, column: 1 }) };
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch {
    return [];
  }
}

/** What of a file changes with its content, or with who may change it. */
async function markOf(path: string): Promise<string> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await lstat(path, { bigint: true });
    return [path, ino, size, mtimeNs, ctimeNs].join(" ");
  } catch {
    return `${path} -`;
  }
}

async function accessOf(directory: string): Promise<string> {
  try {
    const { mode, uid } = await stat(directory);
    return `${mode} ${uid}`;
  } catch {
    return "-";
  }
}
