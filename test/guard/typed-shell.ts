/** An interactive bash of a person's at a terminal, for what only job control shows. */
import { spawn } from "@lydell/node-pty";
import { expect, onTestFinished } from "vitest";
import { eventually } from "../support/eventually.ts";

const PROMPT = "at-prompt> ";

export class TypedShell {
  readonly #pty;
  #seen = "";
  #from = 0;

  /** `as`: a program and arguments that run it as somebody else. */
  constructor(env: Readonly<Record<string, string>>, cwd: string, as: readonly string[]) {
    const [file, ...args] = [...as, "/bin/bash", "--norc", "--noprofile", "-i"];
    this.#pty = spawn(file, args, {
      cols: 200,
      rows: 30,
      cwd,
      env: { PATH: "/usr/bin:/bin", TERM: "dumb", PS1: PROMPT, ...env },
    });
    this.#pty.onData((data) => (this.#seen += data));
    onTestFinished(() => this.#pty.kill("SIGKILL"));
  }

  type(keys: string): void {
    this.#from = this.#seen.length;
    this.#pty.write(keys);
  }

  /** Since the last keys. */
  async shows(text: string): Promise<string> {
    await eventually(() => expect(this.#seen.slice(this.#from)).toContain(text));
    return this.#seen.slice(this.#from);
  }

  /** As `stty -g` tells them. */
  async modes(): Promise<string> {
    return /[\da-f]+(?::[\da-f]+){10,}/.exec(await this.run("stty -g"))?.[0] ?? "";
  }

  /** What a command says until the next prompt. */
  async run(command: string): Promise<string> {
    this.type(`${command}\r`);
    return this.prompt();
  }

  prompt(): Promise<string> {
    return this.shows(`\n${PROMPT}`);
  }
}
