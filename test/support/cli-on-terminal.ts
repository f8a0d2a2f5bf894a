/** The real command line in a terminal of its own, for those that type. */
import { spawn as spawnPty } from "@lydell/node-pty";
import { stripVTControlCharacters } from "node:util";
import { onTestFinished } from "vitest";
import { CLI } from "./run-cli.ts";
import { NO_HOME } from "./no-home.ts";

export type CliOnTerminal = {
  readonly screen: () => string;
  readonly type: (keys: string) => void;
  readonly resize: (cols: number, rows: number) => void;
  readonly exited: Promise<{ exitCode: number; signal?: number }>;
};

/** 90×30, below a shell that shows before and afterwards how it finds its terminal. */
export function startOnTerminal(args: readonly string[]): CliOnTerminal {
  const words = [process.execPath, CLI, ...args].map((it) => `'${it.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const pty = spawnPty("/bin/sh", ["-c", `stty -g; ${words}; code=$?; stty -g; exit $code`], {
    cols: 90,
    rows: 30,
    env: { PATH: process.env.PATH ?? "", HOME: NO_HOME, TERM: "xterm-256color" },
  });
  onTestFinished(() => {
    try {
      pty.kill("SIGKILL");
    } catch {
      // It is over.
    }
  });
  let seen = "";
  pty.onData((data) => (seen += data));
  const exited = new Promise<{ exitCode: number; signal?: number }>((resolve) => void pty.onExit(resolve));
  return {
    screen: () => seen,
    type: (keys) => pty.write(keys),
    resize: (cols, rows) => pty.resize(cols, rows),
    exited,
  };
}

/** As `stty -g` tells them, in order. */
export function modesOf(screen: string): string[] {
  return stripVTControlCharacters(screen.replaceAll(RESTORED, "")).match(/[\da-f]+(?::[\da-f]+){10,}/g) ?? [];
}

const RESTORED = "\u001b8";
