/** Shells inside the session's shell, and the keys that interrupt and stop what runs. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Talk } from "../fixtures/programs/talk.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

test.each([
  { shell: "bash", command: "bash --norc", status: "$?" },
  { shell: "zsh", command: "zsh -f", status: "$?" },
  { shell: "fish", command: "fish --no-config", status: "$status" },
])(
  "[PRG-4] $shell inside the shell is driven line by line and tells its exit code (needs $shell)",
  async ({ shell, command, status }) => {
    const talk = await Talk.open(hub);
    await talk.start(command);

    await talk.asked("line_editor", shell);
    await talk.answer("cd /usr; false");
    await talk.asked("line_editor", shell);
    await talk.answer(`echo "code=${status} in=$PWD"`);
    await talk.says("code=1 in=/usr");
    await talk.asked("line_editor", shell);
    await talk.answer("head -n 1 > $HOME/typed");
    await talk.asked("line", "head");
    await talk.answer("a line");
    await talk.asked("line_editor", shell);
    await talk.answer("exit 7");

    expect(await talk.ended()).toBe(7);
    expect(await readFile(join(talk.home, "typed"), "utf8")).toBe("a line\n");
  },
);

test.each([
  { shell: "bash", command: "bash --norc" },
  { shell: "zsh", command: "zsh -f" },
  { shell: "fish", command: "fish --no-config" },
])("[PRG-5] Ctrl+C inside $shell ends its job and not the shell (needs $shell)", async ({ shell, command }) => {
  const talk = await Talk.open(hub);
  await talk.start(command);
  await talk.asked("line_editor", shell);
  // Said by the job itself: a shell that has just made one may lose a Ctrl+C that comes before the job is in front.
  await talk.answer(`sh -c "echo be''gun; exec sleep 1000"`);
  await talk.says("begun");

  await talk.press("C-c");
  await talk.asked("line_editor", shell);
  await talk.answer("echo still' 'here");
  await talk.says("still here");
  await talk.asked("line_editor", shell);
  await talk.answer("exit 0");

  expect(await talk.ended()).toBe(0);
});

test("[PRG-5] Ctrl+C ends a run with 130", async () => {
  const talk = await Talk.open(hub);
  // It says so itself: a shell that is just starting a program may miss the signal.
  await talk.start(`sh -c 'echo be""gun; exec sleep 1000'; echo not' 'reached`);
  await talk.says("begun");

  await talk.press("C-c");

  expect(await talk.ended()).toBe(130);
  expect(await talk.output()).not.toContain("not reached");
});

test("[PRG-6] Ctrl+Z gives the prompt back with 148, and fg goes on with the program", async () => {
  const talk = await Talk.open(hub);
  await talk.start("cat");
  await talk.asked("line", "cat");
  await talk.answer("before");
  await talk.asked("line", "cat");
  await talk.press("C-z");
  expect(await talk.ended()).toBe(148);

  const jobs = await talk.block("jobs");
  expect(jobs.output).toMatch(/Stopped +cat/);
  await talk.start("fg");
  await talk.asked("line", "cat");
  await talk.answer("after");
  await talk.says("after\nafter\n");
  await talk.asked("line", "cat");
  await talk.press("C-d");

  expect(await talk.ended()).toBe(0);
});

test("[PRG-6] a stopped editor comes back as it was (needs vim)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("vim -u NONE -n note");
  await talk.asked("editor", "vim");
  await talk.type("ihalf a");
  await talk.shows("half a");
  await talk.press("Escape", "C-z");
  expect(await talk.ended()).toBe(148);

  await talk.start("fg");
  await talk.shows("half a");
  await talk.asked("editor", "vim");
  await talk.type("a word");
  await talk.shows("half a word");
  await talk.press("Escape");
  await talk.type(":wq\r");

  expect(await talk.ended()).toBe(0);
  expect(await readFile(join(talk.home, "note"), "utf8")).toBe("half a word\n");
});
