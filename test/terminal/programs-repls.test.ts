/** Interpreters, databases and debuggers, driven as an agent drives them. */
import { beforeAll, expect, test } from "vitest";
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

test("[PRG-1, PRG-2] python's prompt, its input() and its getpass() are questions one after the other (needs python3)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("/usr/bin/python3 -q");

  await talk.asked("line_editor", "python3");
  await talk.answer("6 * 7");
  await talk.says("\n42\n");
  await talk.asked("line_editor", "python3");
  await talk.answer("name = input('Name? ')");
  await talk.says("Name? ");
  await talk.asked("line_editor", "python3");
  await talk.answer("Ann");
  await talk.asked("line_editor", "python3");
  await talk.answer("import getpass; secret = getpass.getpass('Key: ')");
  await talk.says("Key: ");
  await talk.asked("password", "python3");
  await talk.answer("drow-terces");
  await talk.asked("line_editor", "python3");
  await talk.answer("print(name, secret[::-1])");
  await talk.says("\nAnn secret-word\n");
  await talk.asked("line_editor", "python3");
  await talk.press("C-d");

  expect(await talk.ended()).toBe(0);
  expect(await talk.output()).not.toContain("drow-terces");
});

test("[PRG-2] a program's input() is a line (needs python3)", async () => {
  const talk = await Talk.open(hub);
  await talk.start(`/usr/bin/python3 -c 'n = input("Name? "); print("Hello", n)'`);

  await talk.says("Name? ");
  await talk.asked("line", "python3");
  await talk.answer("Zoë");
  await talk.says("\nHello Zoë\n");

  expect(await talk.ended()).toBe(0);
});

test("[PRG-3] a program that computes between two questions waits for nothing meanwhile (needs python3)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("/usr/bin/python3 -q");
  await talk.asked("line_editor", "python3");
  await talk.answer("import time; time.sleep(1000)");

  const waited = await talk.wait({ conditions: [{ match: "INPUT" }, { match: "IDLE", idle_ms: 500 }] });
  expect(waited).toMatchObject({ matched: true, which: 1 });
  await talk.press("C-c");
  await talk.says("KeyboardInterrupt");
  await talk.asked("line_editor", "python3");
  await talk.answer("exit(3)");

  expect(await talk.ended()).toBe(3);
});

test("[PRG-1] node's prompt takes line after line", async () => {
  const talk = await Talk.open(hub);
  await talk.start("NODE_REPL_HISTORY= node");

  await talk.asked("line_editor", "node");
  await talk.answer("const word = 'a'.repeat(3)");
  await talk.asked("line_editor", "node");
  await talk.answer("console.log(`<${word}>`)");
  await talk.says("\n<aaa>\n");
  await talk.asked("line_editor", "node");
  await talk.answer(".exit");

  expect(await talk.ended()).toBe(0);
});

test("[PRG-1] sqlite3 takes a statement over several lines (needs sqlite3)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("sqlite3 fruit.db");

  await talk.asked("line_editor", "sqlite3");
  await talk.answer("create table fruit (");
  await talk.says("   ...> ");
  await talk.asked("line_editor", "sqlite3");
  await talk.answer("name text);");
  await talk.asked("line_editor", "sqlite3");
  await talk.answer("insert into fruit values ('fig'), ('plum');");
  await talk.asked("line_editor", "sqlite3");
  await talk.answer("select upper(name) from fruit;");
  await talk.says("FIG\nPLUM\n");
  await talk.asked("line_editor", "sqlite3");
  await talk.answer(".quit");

  expect(await talk.ended()).toBe(0);
});

test("[PRG-1] bc computes (needs bc)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("bc -q");

  await talk.asked("line_editor", "bc");
  await talk.answer("2^64");
  await talk.says("18446744073709551616");
  await talk.asked("line_editor", "bc");
  await talk.press("C-d");

  expect(await talk.ended()).toBe(0);
});

test("[PRG-1, PRG-2] gdb runs a program step by step, and its own question is asked before it quits (needs gdb)", async () => {
  const talk = await Talk.open(hub);
  await talk.start("gdb -q -nx -ex 'set debuginfod enabled off' /bin/true");

  await talk.asked("line_editor", "gdb");
  await talk.answer("starti");
  await talk.says("Program stopped.");
  await talk.asked("line_editor", "gdb");
  await talk.answer("print 6*7");
  await talk.says("$1 = 42");
  await talk.asked("line_editor", "gdb");
  await talk.answer("quit");
  await talk.says("Quit anyway? (y or n) ");
  await talk.asked("line_editor", "gdb");
  await talk.answer("y");

  expect(await talk.ended()).toBe(0);
});
