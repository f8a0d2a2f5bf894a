/** Programs that paint the whole screen: pagers, editors, dialogs, a terminal inside the terminal. */
import { spawnSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { Talk } from "../fixtures/programs/talk.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  // Whether agents may answer passwords is another test's business.
  await opened.person.workspace.put({ workspaceId: "default", settings: { agent_may_answer_passwords: true } });
  return opened.stop;
});

test("[PRG-9] what a program asks the terminal is answered once and types nothing (needs python3)", async () => {
  const talk = await Talk.open(hub);

  await talk.start(`/usr/bin/python3 ${new URL("../fixtures/programs/query.py", import.meta.url).pathname}`);
  expect(await talk.ended()).toBe(0);
  expect(await talk.output()).toMatch(/^b'\\x1b\[\d+;\d+R\\x1b\[\?[\d;]+c'$/m);
  expect(await talk.block("echo ok")).toMatchObject({ output: "ok\n", exit_code: 0 });
});

test("[PRG-7, PRG-8] less pages, searches and quits (needs less)", async () => {
  const talk = await Talk.open(hub);
  const lines = Array.from({ length: 500 }, (_, index) => `row ${index + 1}${index === 299 ? " needle" : ""}`);
  await writeFile(join(talk.home, "rows"), lines.join("\n"));
  await talk.start("less rows");

  await talk.asked("pager", "less");
  const first = await talk.shows("row 39");
  expect(first).toMatchObject({ alt_screen: true, rows: 40 });
  expect(first.lines[0]).toBe("row 1");
  await talk.press("PageDown");
  const second = await talk.shows("row 78");
  expect(second.lines[0]).toBe("row 40");
  await talk.asked("pager", "less");
  await talk.type("/needle\r");
  const found = await talk.shows("row 300 needle");
  expect(found.lines[0]).toBe("row 300 needle");
  await talk.press("q");

  expect(await talk.ended()).toBe(0);
  expect((await talk.screen()).alt_screen).toBe(false);
});

test("[PRG-7, PRG-9] vim inserts, shows and saves text (needs vim)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("vim -n note.txt");

  await talk.asked("editor", /^vim/);
  await talk.press("i");
  await talk.shows("-- INSERT --");
  await talk.type("Grüße, 世 🎉\rsecond line");
  const screen = await talk.shows("second line");
  expect(screen.lines.slice(0, 3)).toEqual(["Grüße, 世 🎉", "second line", "~"]);
  await talk.press("Home", "Delete", "Delete");
  await talk.shows("\ncond line");
  await talk.press("Up", "End", "Left", "Backspace");
  await talk.shows("世🎉");
  await talk.press("Escape");
  await talk.type(":wq\r");

  expect(await talk.ended()).toBe(0);
  expect(await readFile(join(talk.home, "note.txt"), "utf8")).toBe("Grüße, 世🎉\ncond line\n");
});

test("[PRG-8] a condition on the screen sees its whole width and height", async () => {
  const talk = await Talk.open(hub);
  await talk.start(String.raw`printf '\033[2J\033[1;1Htop\033[40;110Hcorner\033[1;1H'; cat`);

  const screen = await talk.shows(`${" ".repeat(100)}corner`);

  expect(screen.lines[0]).toBe("top");
  expect(screen.lines[39]).toBe(`${" ".repeat(109)}corner`);
  await talk.press("C-d");
  expect(await talk.ended()).toBe(0);
});

test("[PRG-13] Chinese characters and emoji are two columns wide on the screen", async () => {
  const talk = await Talk.open(hub);
  await talk.start(String.raw`printf '\033[2J\033[H世界🎉|'; cat`);
  await talk.asked("line", "cat");

  const screen = await talk.screen();

  expect([screen.lines[0], screen.cursor_row, screen.cursor_col]).toEqual(["世界🎉|", 0, 7]);
  await talk.press("C-d");
  expect(await talk.ended()).toBe(0);
});

test("[PRG-10] whiptail is driven by arrow keys (needs whiptail)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("whiptail --menu 'Pick a fruit' 15 40 3 a Apple b Banana c Cherry 2> picked");

  await talk.asked("tui", "whiptail");
  const screen = await talk.shows("Pick a fruit");
  expect(screen.lines.join("\n")).toMatch(/a +Apple[^]*b +Banana[^]*c +Cherry/);
  await talk.press("Down", "Down");
  await talk.asked("tui", "whiptail");
  await talk.press("Enter");

  expect(await talk.ended()).toBe(0);
  expect(await readFile(join(talk.home, "picked"), "utf8")).toBe("c");
});

test("[PRG-10] whiptail's second button is an exit code (needs whiptail)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("whiptail --yesno 'Go on?' 10 30");

  await talk.asked("tui", "whiptail");
  await talk.press("Tab", "Enter");

  expect(await talk.ended()).toBe(1);
});

test("[PRG-11] a program inside tmux asks as it does outside (needs tmux)", async () => {
  const talk = await Talk.open(hub);
  const socket = join(talk.home, "tmux");
  onTestFinished(() => void spawnSync("tmux", ["-S", socket, "kill-server"]));
  await talk.start(`tmux -f /dev/null -S ${socket} new-session 'bash --norc'`);

  // tmux paints its own line after the program inside has begun to wait.
  await talk.fillIn(
    "line_editor",
    "bash",
    "read -p 'Name? ' name; read -s -p 'Key: ' key; echo \"<$name|${key: -4}>\"",
  );
  await talk.fillIn("line", "bash", "Ann");
  await talk.fillIn("password", "bash", "some-word");
  await talk.shows("<Ann|word>");
  await talk.fillIn("line_editor", "bash", "exit");
  await talk.says("[exited]");

  expect(await talk.ended()).toBe(0);
});
