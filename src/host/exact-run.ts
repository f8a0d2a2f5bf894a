/**
 * Runs one approved argv, without a shell: each bound file is opened, hashed and run from that very descriptor, never by
 * its path again, so nothing that is put in its place meanwhile runs. Rules APR-31, APR-32 in docs/spec/approvals.md.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { setTimeout as later } from "node:timers/promises";
import { AppError } from "../protocol/errors.ts";
import { ExactFile } from "./bound/exact-file.ts";
import { walk } from "./bound/walk.ts";
import { startedByHost } from "./orphans.ts";

/** A file and the digest of what was approved. */
export type ApprovedFile = { readonly path: string; readonly digest: string };

export type ExactCommand = {
  /** The first is only what the program sees as its name. */
  readonly argv: readonly [string, ...string[]];
  readonly program: ApprovedFile;
  /** Of a program that names an interpreter: what runs it, `env` aside. */
  readonly interpreter?: ApprovedFile | undefined;
  /** Arguments that are scripts, by their place in `argv`. */
  readonly scripts: readonly (ApprovedFile & { readonly argument: number })[];
  /** With its device and inode. */
  readonly cwd: { readonly path: string; readonly identity: string };
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly as?: { readonly uid: number; readonly gid: number } | undefined;
};

export type ExactResult = {
  readonly exitCode?: number;
  readonly signal?: string;
  readonly timedOut: boolean;
  readonly stdout: Uint8Array;
  readonly stderr: Uint8Array;
  /** More was written than is kept. */
  readonly truncated: boolean;
};

/** Throws `approval_stale` with what changed, and has run nothing then. */
export async function runExactly(command: ExactCommand): Promise<ExactResult> {
  using files = new DisposableStack();
  const uid = command.as?.uid ?? process.getuid?.() ?? 0;
  const program = files.use(await opened("program", command.program, uid));
  const scripts = new Map<number, ExactFile>();
  for (const script of command.scripts) {
    scripts.set(script.argument, files.use(await opened(`script:${script.path}`, script, uid)));
  }
  const isScript = program.head.startsWith("#!");
  if (isScript && command.interpreter === undefined) throw new AppError("approval_stale", { changed: ["interpreter"] });
  const interpreter = isScript ? files.use(await opened("interpreter", command.interpreter!, uid)) : undefined;
  const directory = enter(command.cwd);
  files.defer(() => closeSync(directory));
  return await ran(command, { program, scripts, interpreter, directory });
}

async function opened(what: string, { path, digest }: ApprovedFile, uid: number): Promise<ExactFile> {
  const walked = await walk("", path);
  const file = walked && (await ExactFile.open(walked, uid));
  if (file?.digest === digest) return file;
  file?.[Symbol.dispose]();
  throw new AppError("approval_stale", { changed: [what] });
}

function enter({ path, identity }: ExactCommand["cwd"]): number {
  const stale = new AppError("approval_stale", { changed: ["cwd"] });
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  } catch {
    throw stale;
  }
  const { dev, ino } = fstatSync(fd, { bigint: true });
  if (`${dev}:${ino}` === identity) return fd;
  closeSync(fd);
  throw stale;
}

type Opened = {
  readonly program: ExactFile;
  readonly scripts: ReadonlyMap<number, ExactFile>;
  readonly interpreter: ExactFile | undefined;
  readonly directory: number;
};

/** Standard input, output and error come before. */
const FIRST_FD = 3;

async function ran(command: ExactCommand, opened: Opened): Promise<ExactResult> {
  const { program, scripts, interpreter, directory } = opened;
  const files = [...(interpreter === undefined ? [] : [interpreter]), program, ...scripts.values()];
  const named = (file: ExactFile): string => `/proc/self/fd/${FIRST_FD + files.indexOf(file)}`;
  const [name, ...rest] = command.argv.map((it, index) => {
    const script = scripts.get(index);
    return script === undefined ? it : named(script);
  });
  const isInterpreted = interpreter !== undefined;
  const child = spawn(
    named(interpreter ?? program),
    isInterpreted ? [...interpreterArguments(program.head), named(program), ...rest] : rest,
    {
      argv0: isInterpreted ? command.interpreter!.path : name,
      // Not by its path again, and before it has the rights of somebody else.
      cwd: `/proc/${process.pid}/fd/${directory}`,
      env: command.env,
      ...command.as,
      detached: true,
      stdio: ["ignore", "pipe", "pipe", ...files.map(({ fd }) => fd)],
    },
  );
  return outcomeOf(child, command.timeoutMs);
}

/** As a kernel would, for which the rest of the line is one argument; after `env` its program is what runs. */
function interpreterArguments(head: string): readonly string[] {
  const [, path = "", rest = ""] = /^#![ \t]*(\S+)[ \t]*([^\n]*)/.exec(head) ?? [];
  if (!path.endsWith("/env")) return rest.trim() === "" ? [] : [rest.trim()];
  const words = rest.trim().split(/\s+/);
  return words.slice(words.findIndex((it) => /^[^-=]+$/.test(it)) + 1);
}

const OUTPUT_MAX = 1024 * 1024;
/** What left the group may hold the output open. */
const CLOSING_MS = 1_000;

async function outcomeOf(child: ChildProcess, timeoutMs: number): Promise<ExactResult> {
  const [stdout, stderr] = [gathered(child.stdout!), gathered(child.stderr!)];
  if (child.pid === undefined) {
    const [error] = (await once(child, "error")) as [Error];
    throw new AppError("invalid_request", { detail: "The program could not be started" }, { cause: error });
  }
  using _own = startedByHost(child.pid);
  const closed = once(child, "close");
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid!);
  }, timeoutMs);
  const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
  clearTimeout(timer);
  killGroup(child.pid);
  await Promise.race([closed, later(CLOSING_MS, undefined, { ref: false })]);
  child.stdout!.destroy();
  child.stderr!.destroy();
  return {
    ...(code === null ? {} : { exitCode: code }),
    ...(signal === null ? {} : { signal }),
    timedOut,
    stdout: Buffer.concat(stdout.pieces),
    stderr: Buffer.concat(stderr.pieces),
    truncated: stdout.bytes > OUTPUT_MAX || stderr.bytes > OUTPUT_MAX,
  };
}

function gathered(stream: NodeJS.ReadableStream): { readonly pieces: Buffer[]; readonly bytes: number } {
  const all = { pieces: [] as Buffer[], bytes: 0 };
  stream.on("data", (piece: Buffer) => {
    const room = OUTPUT_MAX - all.bytes;
    if (room > 0) all.pieces.push(piece.subarray(0, room));
    all.bytes += piece.length;
  });
  return all;
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {} // nobody is left
}
