/** A client of tmux's control mode (`tmux -C`): lines in, `%output` lines out. Its server is private and dies with it. */
import type { ChildProcess } from "node:child_process";
import { writeFileSync } from "node:fs";
import { PROMPT, type Stage } from "./stage.ts";

const KEPT = 4096;

export function tmuxArguments(stage: Stage, server: string): readonly string[] {
  const config = stage.path("tmux.conf");
  const settings = ["default-terminal xterm-256color", `default-command ${stage.shell}`, "escape-time 0", "status off"];
  writeFileSync(config, settings.map((it) => `set -g ${it}\n`).join(""));
  // The socket is in our own directory: nothing of it is left, and nobody else's server is met.
  const given = ["-S", stage.path(server), "-f", config];
  stage.defer(() => stage.run("tmux", [...given, "kill-server"]));
  return given;
}

export class ControlMode implements AsyncDisposable {
  readonly #stage: Stage;
  readonly #server: readonly string[];
  readonly #child: ChildProcess;
  #rest = "";
  #output = "";
  #awaited: { readonly text: string; readonly told: (at: bigint) => void } | undefined;

  private constructor(stage: Stage, server: readonly string[]) {
    this.#stage = stage;
    this.#server = server;
    this.#child = stage.start("tmux", [...server, "-C", "new-session", "-x", "120", "-y", "40"]);
    this.#child.stdout?.setEncoding("latin1").on("data", (chunk: string) => this.#take(chunk));
  }

  static async open(stage: Stage, name: string): Promise<ControlMode> {
    const client = new ControlMode(stage, tmuxArguments(stage, name));
    await client.until(PROMPT);
    return client;
  }

  type(line: string): void {
    this.#child.stdin?.write(`send-keys '${line.replaceAll("'", `'\\''`)}' Enter\n`);
  }

  /** When (CLOCK_MONOTONIC, in nanoseconds) the text was there. Nothing in it may need an escape. */
  until(text: string): Promise<bigint> {
    return new Promise((told) => {
      this.#awaited = { text, told };
      this.#look();
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stage.run("tmux", [...this.#server, "kill-server"]).catch(() => undefined);
    await this.#stage.end(this.#child);
  }

  #take(chunk: string): void {
    const lines = (this.#rest + chunk).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("%output ")) this.#output += line.slice(line.indexOf(" ", "%output ".length) + 1);
    }
    this.#look();
  }

  #look(): void {
    const at = this.#awaited === undefined ? -1 : this.#output.indexOf(this.#awaited.text);
    if (at < 0 || this.#awaited === undefined) {
      this.#output = this.#output.slice(-KEPT);
      return;
    }
    const { text, told } = this.#awaited;
    this.#awaited = undefined;
    this.#output = this.#output.slice(at + text.length);
    told(process.hrtime.bigint());
  }
}
