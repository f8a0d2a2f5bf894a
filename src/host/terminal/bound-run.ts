/**
 * A block that was approved, while it runs: the files that it is made of, and the one from which the shell reads it. What
 * isn't the same at its end is told, and the agent comes to no further step. Rule APR-14 in docs/spec/approvals.md.
 */
import { createHash } from "node:crypto";
import { AppError } from "../../protocol/errors.ts";
import type { Binding, BoundFile } from "../bound/binding.ts";
import { Vigil, type Violation, wayOf } from "../bound/vigil.ts";
import { walk } from "../bound/walk.ts";
import type { CommandFile } from "./shells/submission.ts";
import type { Terminal } from "./terminal.ts";

export class BoundRun {
  readonly #terminal: Terminal;
  readonly #binding: Binding;
  readonly #vigil: Vigil;
  #command: Vigil | undefined;

  /** Watches from now on. */
  constructor(terminal: Terminal, binding: Binding) {
    this.#terminal = terminal;
    this.#binding = binding;
    this.#vigil = new Vigil(rootOf(terminal), binding.files.map(watched));
  }

  /** Nothing led elsewhere between the moment it was looked up and the moment from which it is watched. */
  isSame({ digest, files }: Binding): boolean {
    const ways = (all: readonly BoundFile[]): string =>
      all.map(({ what, walked, identity }) => [what, wayOf(walked), identity].join("\n")).join("\n\n");
    return digest === this.#binding.digest && ways(files) === ways(this.#binding.files);
  }

  /** From the moment that they are written. Its text lies outside of what the session's programs see. */
  async watchCommand(files: readonly CommandFile[]): Promise<void> {
    const found = await Promise.all(
      files.map(async ({ path, text }) => {
        const walked = await walk("", path);
        if (walked === undefined) throw filesChanged();
        return { what: "command", walked, digest: createHash("sha256").update(text).digest("hex") };
      }),
    );
    this.#command = new Vigil("", found);
  }

  async end(blockId: string): Promise<void> {
    const { frames, stick } = this.#terminal;
    const changed = await this.#violations();
    if (changed.length === 0) return;
    frames.event("approval_violated", { blockId, changed: changed.map((it) => ({ ...it })) });
    stick.command({ type: "interrupt", cause: "approval_violated" });
  }

  close(): void {
    this.#vigil.close();
    this.#command?.close();
  }

  async #violations(): Promise<readonly Violation[]> {
    const [files, command = []] = await Promise.all([this.#vigil.end(rootOf(this.#terminal)), this.#command?.end("")]);
    const all = [...files, ...command.map(({ what }) => ({ what, path: "" }))];
    const keys = all.map(({ what, path }) => `${what}\0${path}`);
    return all.filter((_, index) => keys.indexOf(keys[index] ?? "") === index);
  }
}

/** A shell that has ended takes its own view with it. */
function rootOf({ shell }: Terminal): string {
  return shell.gone ? "" : `/proc/${shell.pid}/root`;
}

/** Scripts, and programs that were named by a path, are read again; of others it is enough that nobody touched them. */
function watched({ what, walked, digest }: BoundFile) {
  const isNamed = what.startsWith("script:") || what.includes("/");
  return { what, walked, digest: isNamed ? digest : undefined };
}

function filesChanged(): AppError {
  return new AppError("invalid_transition", { detail: "The shell's own files were changed; reset the terminal" });
}
