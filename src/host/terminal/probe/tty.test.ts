import { closeSync, openSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { descendants } from "./probe.ts";
import { childrenByScan } from "./processes.ts";
import { closeProbe, inShell, kill, lookUntil, ProgramOnPty } from "./program-on-pty.contract.ts";
import { shellAtPrompt } from "./shell-at-prompt.ts";
import { deliverInput, flushInput, foregroundGroup, readTtyModes, unreadInput } from "./tty.ts";

afterAll(closeProbe);

test.each([
  { settings: "sane", modes: { echo: true, canonical: true, signals: true } },
  { settings: "-echo", modes: { echo: false, canonical: true, signals: true } },
  { settings: "-icanon", modes: { echo: true, canonical: false, signals: true } },
  { settings: "raw -echo", modes: { echo: false, canonical: false, signals: false } },
])("[PRB-23] after `stty $settings` the master shows it", async ({ settings, modes }) => {
  const program = inShell(`stty ${settings}; exec sleep 1000`);
  await program.running("sleep");

  expect(readTtyModes(program.fd)).toEqual(modes);
});

test("[PRB-23] the foreground group is that of the job, then the shell's again", async () => {
  const shell = new ProgramOnPty("bash", ["--norc", "-i"]);
  await lookUntil(shell, { kind: "shell" });
  expect(foregroundGroup(shell.fd)).toBe(shell.pid);

  shell.type("sleep 1000\r");
  const job = await shell.running("sleep");
  await eventually(() => expect(foregroundGroup(shell.fd)).toBe(job));

  kill(job, "SIGINT");
  await eventually(() => expect(foregroundGroup(shell.fd)).toBe(shell.pid));
});

test("[PRB-23] what was typed and not read is counted, and flushed it never runs", async () => {
  const directory = await temporaryDirectory();
  const shell = new ProgramOnPty("bash", ["--norc", "-i"]);
  await lookUntil(shell, { kind: "shell" });
  shell.type("sleep 1000\r");
  const job = await shell.running("sleep");
  const queued = `touch ${join(directory, "ran")}\r`;

  shell.type(queued);
  await eventually(() => expect(unreadInput(shell.slavePath)).toBe(queued.length));
  expect(flushInput(shell.slavePath)).toBe(true);
  expect(unreadInput(shell.slavePath)).toBe(0);

  kill(job, "SIGINT");
  await lookUntil(shell, { kind: "shell" });
  shell.type("echo d''one\r");
  await eventually(() => expect(shell.output).toContain("done"));
  expect(await readdir(directory)).toEqual([]);
});

test("[PRB-25] what was typed has reached its reader before that is looked at", async () => {
  const program = inShell("stty -echo; exec sleep 1000");
  await program.running("sleep");
  const unread: (number | undefined)[] = [];

  for (let line = 0; line < 500; line += 1) {
    program.type("x\n");
    deliverInput(program.fd);
    unread.push(unreadInput(program.slavePath));
    flushInput(program.slavePath);
  }

  expect(unread).toEqual(unread.map(() => 2));
});

test("[PRB-23] what is no terminal answers nothing", async () => {
  const fd = openSync("/dev/null", "r");

  const answers = [readTtyModes(fd), foregroundGroup(fd), unreadInput("/dev/null"), flushInput("/dev/pts/999999")];

  closeSync(fd);
  expect(answers).toEqual([undefined, undefined, undefined, false]);
  expect(readTtyModes(fd)).toBeUndefined();
});

test.each([
  { file: "bash", args: ["--norc", "-i"] },
  { file: "zsh", args: ["-f", "-i"] },
  { file: "fish", args: ["--no-config", "-i"] },
  { file: "dash", args: ["-i"] },
])(
  "[PRB-20] $file is at its prompt, not while a job runs, and again after it (needs $file)",
  async ({ file, args }) => {
    const shell = new ProgramOnPty(file, args);
    const atPrompt = (): boolean => shellAtPrompt({ fd: shell.fd, shellPid: shell.pid });
    await eventually(() => expect(atPrompt()).toBe(true));

    shell.type("sleep 1000\r");
    const job = await shell.running("sleep");
    await eventually(() => expect(atPrompt()).toBe(false));
    shell.type("cat\r");
    expect(atPrompt()).toBe(false);

    kill(job, "SIGINT");
    await shell.running("cat");
    expect(atPrompt()).toBe(false);
  },
);

test("[PRB-20] a shell that is busy itself, or another shell, is not at its prompt", async () => {
  const [busy, other] = [new ProgramOnPty("bash", ["--norc", "-i"]), new ProgramOnPty("bash", ["--norc", "-i"])];
  await eventually(() => expect(shellAtPrompt({ fd: busy.fd, shellPid: busy.pid })).toBe(true));

  busy.type("echo b''egin; while :; do :; done\r");
  await eventually(() => expect(busy.output).toContain("begin"));

  expect(shellAtPrompt({ fd: busy.fd, shellPid: busy.pid })).toBe(false);
  expect(shellAtPrompt({ fd: other.fd, shellPid: busy.pid })).toBe(false);
  expect(shellAtPrompt({ fd: busy.fd, shellPid: 2 ** 22 + 1 })).toBe(false);
});

test("[PRB-24] every descendant is found, also by the slower way, parents first", async () => {
  const tree = inShell("setsid sleep 1001 & (sleep 1002; :) & bash -c 'sleep 1003 & exec sleep 1004' & wait");
  await eventually(() => expect(descendants(tree.pid)).toHaveLength(5));

  const [found, childrenOf] = [descendants(tree.pid), childrenByScan()];

  const scanned = [...childrenOf(tree.pid)];
  for (const pid of scanned) scanned.push(...childrenOf(pid));
  expect(new Set(found)).toEqual(new Set(scanned));
  expect(found.slice(0, 3)).toEqual(childrenOf(tree.pid));
});
