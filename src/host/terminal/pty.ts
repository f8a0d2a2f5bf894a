/**
 * One program on one pseudo-terminal: raw bytes out, an end that is told once. The end comes after the wait status
 * and the end of the master, so the last byte is always before it. Rules PTY-1..PTY-5 in docs/spec/terminal.md.
 */
import { readSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { ReadStream } from "node:tty";
import type { Size } from "../../domain/session-frame.ts";
import { startedByHost } from "../orphans.ts";
import { closeOnExec } from "./probe/tty.ts";

export type PtyOptions = {
  readonly file: string;
  readonly args: readonly string[];
  /** The whole environment of the program. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly size: Size;
};

export type PtyExit = { readonly exitCode?: number; readonly signal?: string };

export type PtyListener = {
  /** The bytes are the listener's to keep. */
  data(bytes: Buffer): void;
  /** Once; no byte follows. */
  exit(exit: PtyExit): void;
};

export class Pty {
  readonly pid: number;
  /** Of the master; only while `open`. */
  readonly fd: number;
  readonly slavePath: string;
  readonly #stream: ReadStream;
  readonly #listener: PtyListener;
  readonly #ours: Disposable;
  #exit: PtyExit | undefined;
  #ended = false;
  #told = false;
  #paused = false;
  #closing: NodeJS.Timeout | undefined;

  constructor(options: PtyOptions, listener: PtyListener) {
    const child = withUsersMask(() =>
      native().fork(
        options.file,
        [...options.args],
        Object.entries(options.env).map(([name, value]) => `${name}=${value}`),
        options.cwd,
        options.size.cols,
        options.size.rows,
        -1,
        -1,
        false,
        "",
        (code, signal) => this.#waited(code, signal),
      ),
    );
    this.#ours = startedByHost(child.pid);
    // Else every later shell could read and write this terminal, past its gate.
    closeOnExec(child.fd);
    this.pid = child.pid;
    this.fd = child.fd;
    this.slavePath = child.pty;
    this.#listener = listener;
    // A buffer of our own instead of a stream's: an EIO destroys a stream together with what it holds.
    this.#stream = new ReadStream(child.fd, {
      onread: { buffer: READ_BUFFER, callback: (count) => this.#read(count) },
    });
    this.#stream.on("error", () => this.#masterEnded());
    this.#stream.on("close", () => this.#masterEnded());
    this.#stream.resume();
  }

  get open(): boolean {
    return !this.#ended && !this.#stream.destroyed;
  }

  resize(size: Size): void {
    if (this.open) native().resize(this.fd, size.cols, size.rows);
  }

  /** The program blocks when the kernel's buffer is full. */
  pause(): void {
    this.#paused = true;
    this.#stream.pause();
    clearTimeout(this.#closing);
  }

  resume(): void {
    this.#paused = false;
    this.#stream.resume();
    this.#closeWhenQuiet();
  }

  /**
   * Ends the reading without waiting for whoever still holds the slave: the kernel tells its session and the job in front
   * that the terminal is gone, whoever they run as. What lies in its queue is taken first, for nobody could read it later.
   */
  close(): void {
    this.#take();
    this.#stream.destroy();
  }

  /** The program can't be ended and is waited for no longer: its end is told without how it was. */
  leave(): void {
    this.#exit ??= {};
    this.#masterEnded();
    this.#finish();
  }

  /** Takes what was written and lies in the kernel's queue, which no poll shows: a read that finds nothing has emptied it. */
  readNow(): void {
    if (!this.#paused) this.#take();
  }

  #take(): void {
    const count = this.open ? this.#readMore(0) : 0;
    if (count > 0) this.#read(count);
  }

  /** A terminal gives about 4 KB at a time; when it gave so much, there is more, and a turn of the loop for each costs. */
  #read(count: number): boolean {
    let size = count;
    for (let last = count; last >= FULL_READ && size + FULL_READ <= READ_BUFFER.length; size += last) {
      last = this.#readMore(size);
    }
    this.#listener.data(Buffer.from(READ_BUFFER.subarray(0, size)));
    if (this.#exit !== undefined) this.#closeWhenQuiet();
    return !this.#paused;
  }

  #readMore(from: number): number {
    try {
      return readSync(this.fd, READ_BUFFER, from, READ_BUFFER.length - from, null);
    } catch {
      return 0; // nothing for now, or the end, which the stream meets too
    }
  }

  #waited(code: number, signal: number): void {
    const name = signal === 0 ? undefined : SIGNAL_NAMES.get(signal);
    this.#exit ??= name === undefined ? { exitCode: code } : { signal: name };
    this.#closeWhenQuiet();
    this.#finish();
  }

  /** A background child may hold the slave for ever; the kernel has hung it up, so nothing more can come from it. */
  #closeWhenQuiet(): void {
    clearTimeout(this.#closing);
    if (this.#exit === undefined || this.#ended || this.#paused) return;
    this.#closing = setTimeout(() => this.#stream.destroy(), EOF_QUIET_MS);
  }

  #masterEnded(): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#closing);
    this.#stream.destroy();
    this.#finish();
  }

  #finish(): void {
    if (!this.#ended || this.#exit === undefined || this.#told) return;
    this.#told = true;
    this.#ours[Symbol.dispose]();
    this.#listener.exit(this.#exit);
  }
}

const EOF_QUIET_MS = 200;
/** What the kernel keeps for a reader, less one. */
const FULL_READ = 4_095;

/** What a login gives. The host's own files are for their owner alone; a person's and an agent's are as usual. */
const USERS_MASK = 0o022;

function withUsersMask<T>(spawn: () => T): T {
  const ours = process.umask(USERS_MASK);
  try {
    return spawn();
  } finally {
    process.umask(ours);
  }
}

/** Filled by one read at a time and copied before the next, whatever terminal it belongs to. */
const READ_BUFFER = Buffer.allocUnsafeSlow(65_536);

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants.signals).map(([name, value]) => [value, name]),
);

type Native = {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    uid: number,
    gid: number,
    utf8: boolean,
    helper: string,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
};

let loaded: Native | undefined;

/**
 * node-pty's own binding: its `spawn` destroys the reader 200 ms after the wait status, also while it is paused, and
 * what the kernel still holds is lost (microsoft/node-pty#72, #85).
 */
function native(): Native {
  loaded ??= (createRequire(import.meta.url)("@lydell/node-pty/requireBinary.js") as Binaries).requireBinary(
    "pty.node",
  );
  return loaded;
}

type Binaries = { requireBinary(file: "pty.node"): Native };
