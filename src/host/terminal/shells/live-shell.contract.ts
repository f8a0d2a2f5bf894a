/** A real shell on a real PTY with our integration, for tests: what it printed, with the marks in their places. */
import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { type IPty, spawn } from "@lydell/node-pty";
import { onTestFinished } from "vitest";
import { spareFish } from "../../../../test/support/empty-home.ts";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { EchoFilter } from "../../../domain/echo-filter.ts";
import { type Mark, MarkFilter } from "../../../domain/marks.ts";
import { prepareShell, type ShellLaunch, type Submission, submissionOf } from "./shell.ts";

export type Ran = {
  /** Kinds of the marks, from the submission to the next prompt. */
  readonly marks: string;
  readonly exitCode: number | undefined;
  readonly cwd: string | undefined;
  /** Between start and end. */
  readonly output: string;
  /** All of it, as a person sees it. */
  readonly screen: string;
};

export type LiveOptions = {
  readonly home?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly cols?: number;
};

export const BYTE_SEARCH = {
  indexOf: (bytes: Uint8Array, needle: Uint8Array | number, from: number): number =>
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(needle, from),
};

/** Starts it and waits for its first prompt. */
export async function liveShell(shell: string, options: LiveOptions = {}): Promise<LiveShell> {
  const home = await temporaryDirectory();
  await spareFish(home);
  for (const [path, text] of Object.entries(options.home ?? {})) {
    await mkdir(dirname(join(home, path)), { recursive: true });
    await writeFile(join(home, path), text);
  }
  const directory = join(await temporaryDirectory(), "shell");
  await mkdir(directory);
  const nonce = randomBytes(16).toString("hex");
  const env = { HOME: home, PATH: "/usr/bin:/bin", LANG: "C.UTF-8", TERM: "xterm-256color", ...options.env };
  const launch = await prepareShell({ shell, directory, nonce, env });
  const live = new LiveShell({ launch, directory, nonce, home }, options);
  onTestFinished(() => live.end());
  if (launch.integrated) await live.until((shell) => shell.prompts > 0);
  return live;
}

type Place = {
  readonly launch: ShellLaunch;
  readonly directory: string;
  readonly nonce: string;
  readonly home: string;
};

export class LiveShell {
  readonly place: Place;
  /** Everything so far. */
  readonly items: (Uint8Array | Mark)[] = [];
  prompts = 0;
  exit: { readonly exitCode: number; readonly signal?: number | undefined } | undefined;
  raw = Buffer.alloc(0);
  readonly #pty: IPty;
  readonly #marks: MarkFilter;
  readonly #echo = new EchoFilter();
  readonly #waiting = new Set<() => void>();
  #seq = 0;

  constructor(place: Place, { args = [], cols = 120 }: LiveOptions) {
    this.place = place;
    this.#marks = new MarkFilter(place.nonce, BYTE_SEARCH);
    this.#pty = spawn(place.launch.file, [...args, ...place.launch.args], {
      encoding: null,
      env: place.launch.env,
      cwd: place.home,
      cols,
      rows: 40,
    });
    this.#pty.onData((data) => this.#read(data as unknown as Buffer));
    this.#pty.onExit((exit) => {
      this.exit = exit;
      this.#wake();
    });
  }

  get pid(): number {
    return this.#pty.pid;
  }

  /** What was printed since `from`, without marks. */
  text(from = 0): string {
    return Buffer.concat(this.items.slice(from).filter((item) => item instanceof Uint8Array)).toString("latin1");
  }

  write(text: string | Uint8Array): void {
    this.#pty.write(Buffer.from(text) as unknown as string);
  }

  /** Submits, and waits for the prompt or the end. */
  async run(text: string, cwd?: string): Promise<Ran> {
    const from = this.items.length;
    await this.submit(text, cwd);
    return this.finished(from);
  }

  async submit(text: string, cwd?: string): Promise<Submission> {
    const { launch, directory } = this.place;
    const command = { text, cwd, seq: (this.#seq += 1) };
    const submission = await submissionOf(launch.family, command, {
      directory,
      shell: launch.file,
      bracketedPaste: false,
      integrated: launch.integrated,
    });
    this.#echo.expect(submission.echo, submission.shown);
    this.write(submission.typed);
    return submission;
  }

  /** Waits until a command that was typed after `from` is over and the shell prompts. */
  async finished(from: number): Promise<Ran> {
    await this.until(() => this.exit !== undefined || /command_done.*prompt_end/.test(this.#kinds(from)));
    return this.#ran(from);
  }

  until(condition: (shell: LiveShell) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition(this)) return;
        this.#waiting.delete(check);
        resolve();
      };
      this.#waiting.add(check);
      check();
    });
  }

  async end(): Promise<void> {
    if (this.exit === undefined) this.#pty.kill("SIGKILL");
    await this.until((shell) => shell.exit !== undefined);
  }

  #read(data: Buffer): void {
    this.raw = Buffer.concat([this.raw, data]);
    for (const item of this.#marks.push(data)) this.#take(item);
    this.#wake();
  }

  #take(item: Uint8Array | Mark): void {
    if (item instanceof Uint8Array) return this.#print(this.#echo.push(item));
    this.#print(item.kind === "command_start" ? this.#echo.cancel() : this.#echo.release());
    if (item.kind === "prompt_end") this.prompts += 1;
    this.items.push(item);
  }

  #print(bytes: Uint8Array): void {
    if (bytes.length > 0) this.items.push(bytes);
  }

  #wake(): void {
    for (const check of this.#waiting) check();
  }

  #kinds(from: number): string {
    return this.items
      .slice(from)
      .flatMap((item) => (item instanceof Uint8Array ? [] : [item.kind]))
      .join(" ");
  }

  #ran(from: number): Ran {
    const start = this.items.findIndex((item, index) => index >= from && kindOf(item) === "command_start");
    const end = this.items.findIndex((item, index) => index >= from && kindOf(item) === "command_done");
    const done = this.items[end];
    const inside = this.items.slice(start, end < 0 ? undefined : end);
    return {
      marks: this.#kinds(from),
      exitCode: done === undefined || done instanceof Uint8Array ? undefined : done.exitCode,
      cwd: done === undefined || done instanceof Uint8Array ? undefined : done.cwd,
      output: Buffer.concat(inside.filter((item) => item instanceof Uint8Array)).toString("latin1"),
      screen: this.text(from),
    };
  }
}

function kindOf(item: Uint8Array | Mark): string {
  return item instanceof Uint8Array ? "bytes" : item.kind;
}
