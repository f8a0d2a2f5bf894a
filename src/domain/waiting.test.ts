import { expect, test } from "vitest";
import { judgeByModes, judgeWaiting, kindOf, type Member, type Observation, type TtyWait } from "./waiting.ts";

const COOKED = { echo: true, canonical: true, signals: true };
const SECRET = { echo: false, canonical: true, signals: true };
const RAW = { echo: false, canonical: false, signals: false };
const PLAIN = { altScreen: false, bracketedPaste: false, mouse: false };

const wait = (over: Partial<TtyWait> = {}): TtyWait => ({
  thread: 7,
  call: "read",
  fd: 0,
  sole: true,
  timed: false,
  ...over,
});
const member = (over: Partial<Member> = {}): Member => ({
  pid: 7,
  program: "thing",
  shell: false,
  hidden: false,
  asleep: true,
  masters: [],
  ...over,
});
const seen = (over: Partial<Observation> = {}): Observation => ({ tty: COOKED, screen: PLAIN, members: [], ...over });

test.each([
  { tty: COOKED, call: "read", sole: true, verdict: "waiting" },
  { tty: COOKED, call: "poll", sole: true, verdict: "waiting" },
  { tty: COOKED, call: "epoll", sole: false, verdict: "not_waiting" },
  { tty: SECRET, call: "select", sole: true, verdict: "waiting" },
  { tty: RAW, call: "epoll", sole: false, verdict: "waiting" },
] as const)("[PRB-1, PRB-8] $call in mode $tty, alone: $sole, is $verdict", ({ tty, call, sole, verdict }) => {
  const members = [member({ wait: wait({ call, sole }) })];

  expect(judgeWaiting(seen({ tty, members }))).toMatchObject({ verdict });
});

test.each([
  { program: "vim", kind: "editor" },
  { program: "vim.basic", kind: "editor" },
  { program: "less", kind: "pager" },
  { program: "ssh", kind: "opaque" },
  { program: "pinentry-curses", kind: "password" },
  { program: "thing", kind: "tui" },
])("[PRB-5, PRB-6, PRB-9] raw $program on the alternate screen is $kind", ({ program, kind }) => {
  const screen = { ...PLAIN, altScreen: true };

  expect(kindOf(member({ program }), { tty: RAW, screen })).toBe(kind);
  expect(kindOf(member({ program }), { tty: SECRET, screen })).toBe("password");
});

test("[PRB-3] the reader is a child before the shell, and the newer one of two", () => {
  const shell = member({ pid: 9, shell: true, wait: wait() });
  const [older, newer] = [member({ pid: 3, wait: wait() }), member({ pid: 4, wait: wait() })];

  expect(judgeWaiting(seen({ members: [shell, older, newer] }))).toMatchObject({ member: newer });
  expect(judgeWaiting(seen({ members: [shell] }))).toMatchObject({ member: shell });
});

test.each([
  { what: "a plain select", screen: PLAIN, call: "select", verdict: "not_waiting" },
  { what: "a line editor's select", screen: { ...PLAIN, bracketedPaste: true }, call: "select", verdict: "waiting" },
  { what: "an event loop", screen: PLAIN, call: "epoll", verdict: "waiting" },
  {
    what: "an event loop on the whole screen",
    screen: { ...PLAIN, mouse: true },
    call: "epoll",
    verdict: "not_waiting",
  },
] as const)("[PRB-6] $what with a timeout is $verdict", ({ screen, call, verdict }) => {
  const members = [member({ wait: wait({ call, timed: true }) })];

  expect(judgeWaiting(seen({ tty: RAW, screen, members }))).toMatchObject({ verdict, confidence: "medium" });
});

test("[PRB-10] a raw relay is descended into, an editor with terminals inside is not, nor a cooked program", () => {
  const relay = member({ wait: wait({ sole: false, call: "poll" }), masters: [4] });
  const editor = { ...relay, program: "nvim" };

  expect(judgeWaiting(seen({ tty: RAW, members: [relay] }))).toEqual({ verdict: "descend", relay });
  expect(judgeWaiting(seen({ tty: RAW, members: [editor] }))).toMatchObject({ verdict: "waiting", kind: "editor" });
  expect(judgeWaiting(seen({ tty: COOKED, members: [relay] }))).toMatchObject({ verdict: "not_waiting" });
});

test.each([
  { tty: COOKED, verdict: "not_waiting" },
  { tty: SECRET, verdict: "find_holders" },
  { tty: RAW, verdict: "find_holders" },
])("[PRB-13] with nobody reading in mode $tty the next step is $verdict", ({ tty, verdict }) => {
  const idle = seen({ tty, members: [member()] });

  expect(judgeWaiting(idle)).toMatchObject({ verdict });
  expect(judgeWaiting({ ...idle, holders: [] })).toMatchObject({ verdict: "not_waiting", confidence: "high" });
});

test.each([
  { tty: COOKED, program: "passwd", bracketedPaste: false, expected: { verdict: "not_waiting", confidence: "low" } },
  { tty: SECRET, program: "passwd", bracketedPaste: false, expected: { kind: "password", confidence: "medium" } },
  { tty: RAW, program: "bash", bracketedPaste: true, expected: { kind: "line_editor", confidence: "low" } },
  { tty: RAW, program: "sudo", bracketedPaste: false, expected: { kind: "opaque", confidence: "low" } },
  { tty: RAW, program: "vim", bracketedPaste: true, expected: { kind: "editor", confidence: "low" } },
])("[PRB-14] a hidden $program in mode $tty is $expected", ({ tty, program, bracketedPaste, expected }) => {
  const members = [member({ program, hidden: true })];
  const observation = seen({ tty, members, screen: { ...PLAIN, bracketedPaste }, innermost: true });

  expect(judgeWaiting(observation)).toMatchObject(expected);
});

test("[PRB-14] a hidden program that runs does not wait, and a raw one may be a relay", () => {
  const running = [member({ hidden: true, asleep: false })];
  const sleeping = member({ hidden: true });

  expect(judgeWaiting(seen({ tty: SECRET, members: running }))).toMatchObject({ verdict: "not_waiting" });
  expect(judgeWaiting(seen({ tty: RAW, members: [sleeping] }))).toEqual({ verdict: "descend", relay: sleeping });
});

test("[PRB-15] without processes the confidence is low", () => {
  expect(judgeByModes(SECRET)).toMatchObject({ verdict: "waiting", kind: "password", confidence: "low" });
  expect(judgeByModes(RAW)).toMatchObject({ verdict: "not_waiting", confidence: "low" });
  expect(judgeWaiting(seen())).toMatchObject({ verdict: "not_waiting", confidence: "low" });
});
