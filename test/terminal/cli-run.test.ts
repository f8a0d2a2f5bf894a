/** `sidestick run` as a terminal for a person, and fed by a file or pipe: a real hub, host and shell. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { modesOf, startOnTerminal } from "../support/cli-on-terminal.ts";
import { eventually } from "../support/eventually.ts";
import { type ProductHub, startProductHub } from "../support/product-hub.ts";
import { type CliResult, runCli, runCliHere, startCli } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";

let hub: ProductHub;
beforeAll(async () => {
  hub = await startProductHub();
  return hub.end;
});

let made = 0;
const conversation = (): string => `run-test-${(made += 1)}`;

const onTerminal = (name: string, ...command: string[]) =>
  startOnTerminal(["run", "--conversation", name, "--data-dir", hub.dataDir, "--", ...command]);

const fed = (stdin: string | undefined, name: string, ...args: string[]): Promise<CliResult> =>
  runCliHere(["run", "--conversation", name, "--data-dir", hub.dataDir, ...args], stdin === undefined ? {} : { stdin });

const commandsOf = async (name: string): Promise<string[]> =>
  (await hub.person.pty.blocks({ conversation_id: name })).blocks.map(({ command }) => command);

/** Everything that happened in the log since the beginning, as text. */
const everything = async (): Promise<string> => JSON.stringify(await hub.person.event.list({ limit: 5000 }));

test("[TCL-25] at a terminal keys go to the program, its size and modes are those of the terminal, its exit code ours", async () => {
  const name = conversation();
  const program =
    "stty size; read -p 'name? ' n; stty -icanon -echo; echo key?; k=$(head -c 1); stty size; echo $n:$k; exit 7";
  const { screen, type, resize, exited } = onTerminal(name, "bash", "-c", program);

  await eventually(() => expect(screen()).toContain("30 90\r\nname? "));
  type("ann\r");
  resize(70, 20);
  await eventually(async () =>
    expect(await hub.person.pty.status({ conversation_id: name })).toMatchObject({ cols: 70, rows: 20 }),
  );
  // Before that it would be echoed.
  await eventually(() => expect(screen()).toContain("key?\r\n"));
  type("x");

  expect((await exited).exitCode).toBe(7);
  expect(screen()).toContain("name? ann\r\nkey?\r\n20 70\r\nann:x\r\n");
  const [before, after] = modesOf(screen());
  expect(after).toBe(before);
});

test("[TCL-25] Ctrl+C is the program's: it may go on; interrupted, it ends with 130", async () => {
  const trapping = onTerminal(conversation(), "bash", "-c", "trap 'echo caught' INT; echo on; read x; read x; echo $x");
  await eventually(() => expect(trapping.screen()).toContain("on\r\n"));
  trapping.type("\u0003");
  await eventually(() => expect(trapping.screen()).toContain("caught\r\n"));
  trapping.type("\u0003");
  await eventually(() => expect(trapping.screen().split("caught\r\n")).toHaveLength(3));
  trapping.type("a\rb\r");
  expect((await trapping.exited).exitCode).toBe(0);

  const plain = onTerminal(conversation(), "bash", "-c", "echo on; sleep 100");
  await eventually(() => expect(plain.screen()).toContain("on\r\n"));
  plain.type("\u0003");
  expect((await plain.exited).exitCode).toBe(130);
});

test("[TCL-25] a password is neither echoed nor stored", async () => {
  const { screen, type, exited } = onTerminal(conversation(), "read -s -p 'Password: ' p; echo; echo ${#p}");
  await eventually(() => expect(screen()).toContain("Password: "));

  type("tr0ub4dor&3\r");

  expect((await exited).exitCode).toBe(0);
  expect(screen()).toContain("\r\n11\r\n");
  expect(screen()).not.toContain("tr0ub4dor");
  expect(await everything()).not.toContain("tr0ub4dor");
});

test("[TCL-25] the detach key leaves it running with 130, and only its output was shown", async () => {
  const name = conversation();
  const { screen, type, exited } = onTerminal(name, "bash", "-c", "echo on; read x; echo $x");
  await eventually(() => expect(screen()).toContain("on\r\n"));

  type("abc\u001drest");

  expect((await exited).exitCode).toBe(130);
  expect(screen()).toContain(`It runs on: sidestick wait ${name} --prompt`);
  expect(screen()).not.toContain("$ ");
  expect((await hub.person.pty.status({ conversation_id: name })).mode).toBe("block_running");
  await hub.person.pty.send({ conversation_id: name, data: "\r" });
  await hub.person.pty.wait_for({ conversation_id: name, match: "PROMPT" });
  const { data } = await hub.person.pty.read_output({ conversation_id: name });
  expect(data).toMatch(/^on\nabc\nabc\n/);
});

test("[TCL-25] a full-screen program draws, takes keys, and leaves the terminal as it was (needs vim)", async () => {
  const file = join(await temporaryDirectory(), "note");
  const { screen, type, exited } = onTerminal(conversation(), "vim", "-u", "NONE", file);
  await eventually(() => expect(screen()).toContain("\u001b[?1049h"));
  await eventually(() => expect(screen()).toContain("~"));

  type("ihello\u001b");
  await eventually(() => expect(screen()).toContain("hello"));
  type(":wq\r");

  expect((await exited).exitCode).toBe(0);
  expect(await readFile(file, "utf8")).toBe("hello\n");
  expect(screen().lastIndexOf("\u001b[?1049l")).toBeGreaterThan(screen().lastIndexOf("\u001b[?1049h"));
  const [before, after] = modesOf(screen());
  expect(after).toBe(before);
});

test.each([
  { what: "answers", stdin: "y\nno\n", command: "read a; read b; echo $a-$b", stdout: "y\nno\ny-no\n", code: 0 },
  { what: "the end of stdin", stdin: "a\nb", command: "stty -echo; cat", stdout: "a\nb", code: 0 },
  { what: "an empty stdin", stdin: "", command: "wc -c", stdout: "0\n", code: 0 },
  { what: "an end in the middle", stdin: "a\n", command: "read a; read b; echo $? $a", stdout: "a\n1 a\n", code: 0 },
  {
    what: "a program that reads keys (needs python3)",
    stdin: "print(6*7)\n",
    command: "python3 -q",
    stdout: />>> print\(6\*7\)\n42\n>>> /,
    code: 0,
  },
  { what: "a password", stdin: "hush-hush\n", command: "read -s p; echo ${#p}", stdout: "9\n", code: 0 },
])("[TCL-26] a program is fed what comes on stdin: $what", async ({ stdin, command, stdout, code }) => {
  const ran = await fed(stdin, conversation(), command);

  const expected: unknown = typeof stdout === "string" ? stdout : expect.stringMatching(stdout);
  expect(ran).toEqual({ code, stdout: expected, stderr: "" });
});

test("[TCL-26] what a program does not read is run by nobody, and left on stdin", async () => {
  const name = conversation();
  const trace = join(await temporaryDirectory(), "trace");

  const unasked = await fed(`touch ${trace}\n`, name, "true");
  const partly = await fed(`one\ntouch ${trace}\n`, name, "head -n 1");
  const after = await fed(undefined, name, "echo after");

  expect([unasked.code, partly.code, partly.stdout, after.stdout]).toEqual([0, 0, "one\none\n", "after\n"]);
  expect(existsSync(trace)).toBe(false);
  expect(await commandsOf(name)).toEqual(["true", "head -n 1", "echo after"]);
});

test("[TCL-26] megabytes arrive whole, with long lines, control characters and without a final newline", async () => {
  const line = "0123456789 äöü ✓\r\u0003\u0004\u0016\u007f end\n";
  const stdin = line.repeat(30_000) + "x".repeat(100_000) + "\n" + "y".repeat(4_000);
  const file = join(await temporaryDirectory(), "taken");

  const ran = await fed(stdin, conversation(), "--", "tee", file);

  expect(ran.code).toBe(0);
  const digest = (bytes: Uint8Array | string): string => createHash("sha256").update(bytes).digest("hex");
  expect(digest(await readFile(file))).toBe(digest(stdin));
});

test("[TCL-11, TCL-26] with nothing left on stdin it ends with 123 and says what is asked", async () => {
  const name = conversation();
  const told = (asked: string): string =>
    `sidestick: bash waits for input ("${asked}"), and nothing is left on stdin. It runs on. Answer it: sidestick answer ${name}, or: sidestick attach ${name}, or: sidestick send ${name} --text TEXT --enter\n`;
  const endings = [
    await fed(undefined, name, "read -p 'name? ' n"),
    await runCliHere(["end", name, "--data-dir", hub.dataDir]),
    await fed("never read\n", name, "--no-stdin", "read -p 'age? ' n"),
    await runCliHere(["end", name, "--data-dir", hub.dataDir]),
    await fed("a\n", name, "until read -p 'again? ' x && [ $x = b ]; do echo; done"),
  ];

  expect(endings.map(({ code }) => code)).toEqual([123, 0, 123, 0, 123]);
  expect(endings[0]).toEqual({ code: 123, stdout: "name? ", stderr: told("name?") });
  expect(endings[2]?.stderr).toBe(told("age?"));
  expect(endings[4]?.stderr).toBe(told("again?"));
});

test("[TCL-26] /dev/null feeds nothing; a pipe that stays open is waited for, unless --json is said", async () => {
  const [first, second] = [conversation(), conversation()];
  const start = (name: string, ...more: string[]) =>
    startCli(["run", "--conversation", name, ...more, "--data-dir", hub.dataDir, "read x; echo got $x"]);
  const none = await runCli(["run", "--conversation", conversation(), "--data-dir", hub.dataDir, "cat"], {
    stdinFile: "/dev/null",
  });
  const open = start(first);
  const json = start(second, "--json");
  const codes = [open, json].map((it) => new Promise((resolve) => it.once("exit", resolve)));

  expect(none.code).toBe(123);
  expect(await codes[1]).toBe(123);
  open.stdin?.write("late\n");
  expect(await codes[0]).toBe(0);
});

test("[TCL-26] with --json a program is fed too, and the answer is that of exec_block", async () => {
  const name = conversation();

  const answered = await fed("ann\n", name, "--json", "read -p 'name? ' n; echo $n");
  const asking = await fed("ann\n", name, "--json", "until read -p 'more? ' n && [ $n = b ]; do echo; done");

  expect([answered.code, asking.code]).toEqual([0, 123]);
  expect(JSON.parse(answered.stdout)).toMatchObject({ exit_code: 0, output: "name? ann\nann\n" });
  expect(JSON.parse(asking.stdout)).toMatchObject({ waiting: { kind: "line", program: "bash" } });
});
