/** Output that is hard to wait for: painted over, torn apart, not ASCII, very much of it. */
import { beforeAll, expect, test } from "vitest";
import { Talk } from "../fixtures/programs/talk.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { patience } from "../../tools/suite/patience.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { soakCount } from "../support/soak.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

const fixture = (name: string) => new URL(`../fixtures/programs/${name}`, import.meta.url).pathname;
const PYTHON = "/usr/bin/python3";

test("[PRG-12] a progress bar reads as its last state, and each state can be awaited (needs python3)", async () => {
  const talk = await Talk.open(hub);
  await talk.start(`${PYTHON} ${fixture("progress.py")}`);

  await talk.says("30%");
  await talk.says(/^\[#{10}\] 100%$/);
  await talk.says("fetched");
  expect(await talk.ended()).toBe(0);

  const again = await talk.block(`${PYTHON} ${fixture("progress.py")}`);
  expect(again.output).toBe("[##########] 100%\nfetched\n");
});

test("[PRG-13] text that arrives byte by byte matches with cursors that count bytes (needs python3)", async () => {
  const talk = await Talk.open(hub);
  const run = await talk.start(`${PYTHON} ${fixture("drip.py")} 'héllo 世界 🎉 fin'`);

  const world = await talk.says("世界");
  const party = await talk.says("🎉");
  const end = await talk.says("fin");

  const at = (text: string) => run.cursor + Buffer.byteLength(text);
  expect([world.match_begin, world.cursor]).toEqual([at("héllo "), at("héllo 世界")]);
  expect([party.match_begin, party.cursor]).toEqual([at("héllo 世界 "), at("héllo 世界 🎉")]);
  expect(end.cursor).toBe(at("héllo 世界 🎉 fin"));
  expect(await talk.ended()).toBe(0);
});

test("[PRG-13] a typed line keeps its characters", async () => {
  const talk = await Talk.open(hub);
  await talk.start("read -r line; printf '%s' \"$line\" | od -An -tx1");

  await talk.asked("line", "bash");
  await talk.answer("é世🎉");
  await talk.says("c3 a9 e4 b8 96 f0 9f 8e 89");

  expect(await talk.ended()).toBe(0);
});

const MEGABYTES = soakCount(50);

test("[PRG-14] the end of many megabytes is found where it is, and the terminal is usable after it", async () => {
  const talk = await Talk.open(hub);
  const line = "0123456789".repeat(12);
  const lines = (MEGABYTES * 1_000_000) / 125;
  const run = await talk.start(`yes ${line}abc | head -n ${lines}; echo the' 'end`);

  const end = await talk.wait({ match: "the end", from_cursor: run.cursor, timeout_ms: WAIT_BUDGET_MS });

  const bytes = (line.length + "abc\r\n".length) * lines;
  expect(end).toMatchObject({ matched: true, match_begin: run.cursor + bytes, cursor: run.cursor + bytes + 7 });
  expect(await talk.ended()).toBe(0);
  expect(await talk.block("echo ok")).toMatchObject({ output: "ok\n" });
});

test("[PRG-15] a password prompt that is only printed is no question", async () => {
  const talk = await Talk.open(hub);
  await talk.start("printf '[sudo] password for x: '; sleep 1000");

  await talk.says("[sudo] password for x: ");
  const waited = await talk.wait({ conditions: [{ match: "INPUT" }, { match: "IDLE", idle_ms: 500 }] });

  expect(waited).toMatchObject({ matched: true, which: 1 });
  await talk.press("C-c");
  expect(await talk.ended()).toBe(130);
});

test("[PRG-3] a question after a long silence is told as fast as any other", async () => {
  const talk = await Talk.open(hub);
  await talk.start("sleep 1.1; read -p 'Name? ' name");
  await talk.says("Name? ");
  const saidAt = performance.now();

  await talk.asked("line", "bash");

  // Not as late as the next rung of a clock that slows down with the silence.
  expect(performance.now() - saidAt).toBeLessThan(5_000 * patience());
  await talk.answer("Ann");
  expect(await talk.ended()).toBe(0);
});

test("[PRG-21] what is typed ahead of a question answers it when it comes", async () => {
  const talk = await Talk.open(hub);
  await talk.start("echo work''ing; sleep 0.3; read -p 'Name? ' name; echo \"<$name>\"");
  await talk.says("working");

  await talk.type("Ann\r");

  await talk.says("<Ann>");
  expect(await talk.ended()).toBe(0);
});
