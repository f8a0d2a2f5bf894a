/** The command line at real terminals: a real hub, host and shell. */
import { once } from "node:events";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { type CliResult, runCli, runCliHere, startCli } from "../support/run-cli.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { type ProductHub, startProductHub } from "../support/product-hub.ts";

let hub: ProductHub;
beforeAll(async () => {
  hub = await startProductHub();
  return hub.end;
});

let made = 0;
const conversation = (): string => `cli-test-${(made += 1)}`;

const cli = (...args: string[]): Promise<CliResult> => {
  const end = args.indexOf("--");
  const at = end === -1 ? args.length : end;
  return runCliHere([...args.slice(0, at), "--data-dir", hub.dataDir, ...args.slice(at)]);
};

test.each([
  { words: ["echo hello"], code: 0, stdout: "hello\n" },
  { words: ["printf 'no newline'; (exit 7)"], code: 7, stdout: "no newline" },
  { words: ["kill -9 $$"], code: 137, stdout: "" },
  { words: ["echo a; exit 3"], code: 3, stdout: "a\nexit\n" },
  { words: ["sh -c 'kill -TERM $$'"], code: 143, stdout: expect.any(String) as string },
])("[TCL-8] run $words ends with $code and its output alone", async ({ words, code, stdout }) => {
  const ran = await cli("run", "--conversation", conversation(), ...words);

  expect(ran).toEqual({ code, stdout, stderr: "" });
});

test("[TCL-8] a command that could not be run ends with 125, whatever the reason", async () => {
  const name = conversation();
  await hub.person.pty.exec_block({ conversation_id: name, command: "sleep 100" });

  const busy = await cli("run", "--conversation", name, "true");
  const away = await runCliHere(["run", "--data-dir", join(hub.dataDir, "nowhere"), "true"]);

  expect([busy.code, away.code]).toEqual([125, 125]);
  expect(busy.stderr).toContain("A command is running");
});

test("[TCL-8] output comes while the command runs", async () => {
  const name = conversation();
  const child = startCli([
    "run",
    "--conversation",
    name,
    "--data-dir",
    hub.dataDir,
    "--",
    "sh",
    "-c",
    "echo first; read x; echo $x",
  ]);
  const exited = once(child, "exit");
  let seen = "";
  child.stdout?.on("data", (chunk: Buffer) => (seen += chunk.toString()));

  await eventually(() => expect(seen).toBe("first\n"));
  await hub.person.pty.send({ conversation_id: name, data: "second\r" });

  expect(await exited).toEqual([0, null]);
  expect(seen).toBe("first\nsecond\nsecond\n");
});

test("[TCL-9] several words are passed as they are, one word is shell text", async () => {
  const name = conversation();
  const words = ["printf", "%s|", "it's", "*", "$HOME", "a b", "--help"];

  const passed = await cli("run", "--conversation", name, "--", ...words);
  const text = await cli("run", "--conversation", name, "--", "printf '%s|' $((6*7)) x");

  expect([passed.stdout, text.stdout]).toEqual(["it's|*|$HOME|a b|--help|", "42|x|"]);
});

test("[TCL-10] into a pipe goes text; with --raw every byte", async () => {
  const name = conversation();
  const command = String.raw`printf '\033[1;32mgreen\033[0m\n'`;

  const text = await cli("run", "--conversation", name, command);
  const raw = await cli("run", "--raw", "--conversation", name, command);

  expect([text.stdout, raw.stdout]).toEqual(["green\n", "\u001b[1;32mgreen\u001b[0m\r\n"]);
});

test("[TCL-11] a question that nobody answers here is told once, with how to answer, and waited for", async () => {
  const name = conversation();
  const command = "read -p 'name? ' n; read -p 'age? ' a; echo $n $a";
  const child = startCli(["run", "--conversation", name, "--data-dir", hub.dataDir, command]);
  const exited = once(child, "exit");
  const seen = { stdout: "", stderr: "" };
  for (const from of ["stdout", "stderr"] as const) {
    child[from]?.on("data", (chunk: Buffer) => (seen[from] += chunk.toString()));
  }
  const told = `sidestick: bash waits for input. Answer it: sidestick answer ${name}, or: sidestick attach ${name}, or: sidestick send ${name} --text TEXT --enter\n`;
  await eventually(() => expect(seen).toEqual({ stdout: "name? ", stderr: told }));

  for (const answer of ["ann", "7"]) {
    expect(await cli("wait", name, "--input")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^INPUT line bash \S+\n$/) as string,
    });
    await cli("send", name, "--text", answer, "--enter");
  }

  expect(await exited).toEqual([0, null]);
  expect(seen).toEqual({ stdout: "name? ann\nage? 7\nann 7\n", stderr: told });
});

test("[TCL-11] with --json it ends as soon as the program waits, and says for what", async () => {
  const name = conversation();

  const { code, stdout } = await cli("run", "--json", "--conversation", name, "read -s -p 'secret: ' x");

  expect(code).toBe(123);
  expect(JSON.parse(stdout)).toMatchObject({ output: "secret: ", waiting: { kind: "password", program: "bash" } });
});

test("[TCL-8] --json is the answer of exec_block", async () => {
  const { code, stdout } = await cli("run", "--json", "--conversation", conversation(), "cd /tmp; seq 3; (exit 4)");

  expect(code).toBe(4);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: true,
    seq: 1,
    exit_code: 4,
    output: "1\n2\n3\n",
    cwd: "/tmp",
    integration: "marks",
  });
});

test("[TCL-12] Ctrl+C interrupts the command; the second one leaves it", async () => {
  const name = conversation();
  const start = () => {
    const child = startCli([
      "run",
      "--conversation",
      name,
      "--data-dir",
      hub.dataDir,
      "--",
      "sh",
      "-c",
      "trap 'echo no' INT; echo on; while :; do sleep 0.1; done",
    ]);
    let seen = "";
    child.stdout?.on("data", (chunk: Buffer) => (seen += chunk.toString()));
    return { child, exited: once(child, "exit"), seen: () => seen };
  };
  const { child, exited, seen } = start();
  await eventually(() => expect(seen()).toContain("on\n"));

  child.kill("SIGINT");
  await eventually(() => expect(seen()).toContain("no\n"));
  child.kill("SIGINT");

  expect(await exited).toEqual([130, null]);
  expect((await hub.person.pty.status({ conversation_id: name })).mode).toBe("block_running");
  expect((await cli("end", name, "--reset")).code).toBe(0);
  expect((await hub.person.pty.status({ conversation_id: name })).mode).toBe("idle");
});

test("[TCL-12] an interrupted command ends with 130; one that takes too long is left with 124", async () => {
  const name = conversation();
  const program = "sh -c 'echo on; exec sleep 60'";
  const child = startCli(["run", "--conversation", name, "--data-dir", hub.dataDir, program]);
  const exited = once(child, "exit");
  await once(child.stdout!, "data");

  child.kill("SIGINT");
  const interrupted = await exited;
  const late = await cli("run", "--conversation", name, "--timeout", "0.2", "sleep 60");

  expect(interrupted).toEqual([130, null]);
  expect([late.code, late.stderr]).toEqual([124, expect.stringContaining("It runs on: sidestick wait")]);
});

test("[TCL-13] directory and variables stay; --cwd is meant from here; --new is a terminal of its own", async () => {
  const name = conversation();
  const directory = await temporaryDirectory();

  await cli("run", "--conversation", name, "--cwd", directory, "X=5");
  const kept = await cli("run", "--conversation", name, "echo $PWD $X");
  const fresh = await cli("run", "--new", "echo [$X]");

  expect([kept.stdout, fresh.stdout]).toEqual([`${directory} 5\n`, "[]\n"]);
  expect(fresh.stderr).toMatch(/^Conversation cli-\S+-[\da-f]{8}\n$/);
});

test("[TCL-14, TCL-15, TCL-17] a dialogue with a program: start, wait, send, wait (needs python3)", async () => {
  const name = conversation();

  const started = await cli("run", "--interactive", "--json", "--conversation", name, "--", "python3", "-q");
  const { cursor } = JSON.parse(started.stdout) as { cursor: number };
  const ready = await cli("wait", name, "--match", ">>> ", "--from-cursor", String(cursor), "--json");
  const place = JSON.parse(ready.stdout) as { cursor: number; which: number; condition: object };
  await cli("send", name, "--text", "print(6*7)", "--enter");
  const answered = await cli(
    "wait",
    name,
    "--regex",
    "^4[0-9]$",
    "--match",
    "Error",
    "--from-cursor",
    String(place.cursor),
  );
  await cli("send", name, "--keys", "C-d");
  const over = await cli("wait", name, "--prompt");

  expect([started.code, ready.code, place.which]).toEqual([0, 0, 0]);
  expect(place.condition).toEqual({ match: ">>> ", match_type: "substring" });
  expect(answered).toEqual({ code: 0, stdout: "42\n", stderr: "" });
  expect(over).toEqual({ code: 0, stdout: "PROMPT 0\n", stderr: "" });
});

test("[TCL-16] a wait that fails says how by its exit code", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "true");

  const late = await cli("wait", name, "--match", "never", "--timeout", "0.2");
  await cli("run", "--conversation", name, "exit");
  const over = await cli("wait", name, "--match", "never");
  const refused = await cli("wait", name, "--regex", "(?=x)");

  expect([late.code, over.code, refused.code]).toEqual([124, 5, 1]);
  expect(over.stderr).toBe("sidestick: The terminal is over (exited).\n");
});

test("[TCL-16] a terminal that is over has no prompt; its output, its end and a place in its history can be asked for", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "echo said");
  await cli("run", "--conversation", name, "exit 3");

  const prompt = await cli("wait", name, "--prompt", "--input");
  const json = await cli("wait", name, "--prompt", "--json");
  const placed = await cli("wait", name, "--prompt", "--from-cursor", "0", "--from-position", "0");
  const others = await Promise.all([
    cli("wait", name, "--eof"),
    cli("wait", name, "--prompt", "--match", "said", "--from-cursor", "0"),
  ]);

  expect(prompt).toEqual({ code: 5, stdout: "", stderr: "sidestick: The terminal is over (exited).\n" });
  expect([json.code, JSON.parse(json.stdout)]).toMatchObject([5, { matched: false, reason: "closed" }]);
  expect([placed.code, placed.stdout]).toEqual([0, expect.stringMatching(/^PROMPT/)]);
  expect(others.map(({ code }) => code)).toEqual([0, 0]);
});

test("[TCL-17] what comes on stdin is typed as it is; --if-prompt types only into that prompt", async () => {
  const name = conversation();
  await cli("run", "--interactive", "--conversation", name, "read -r a; echo got $a; read -r b; echo got $b");
  const [, , , prompt = ""] = (await cli("wait", name, "--input")).stdout.trim().split(" ");

  const typed = await runCli(["send", name, "--if-prompt", prompt, "--data-dir", hub.dataDir], { stdin: "grün ✓\r" });
  await cli("wait", name, "--input");
  const again = await cli("send", name, "--text", "late", "--enter", "--if-prompt", prompt);
  await cli("send", name, "--keys", "x,comma,Enter");
  await cli("wait", name, "--prompt");

  expect([typed.code, typed.stdout]).toEqual([0, expect.stringMatching(/^\d+\n$/)]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("That prompt no longer waits")]);
  expect((await cli("output", name)).stdout).toContain("got grün ✓\n");
  expect((await cli("output", name)).stdout).toContain("got x,\n");
});

test("[TCL-18] blocks, output, screen and status tell what there is", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "echo one");
  await cli("run", "--conversation", name, "echo two; (exit 2)");

  const [listed, found, first, last, raw, shown, state] = await Promise.all([
    cli("blocks", name),
    cli("blocks", name, "--query", "two", "--json"),
    cli("output", name, "--block", "1"),
    cli("output", name),
    cli("output", name, "--block", "2", "--raw"),
    cli("screen", name),
    cli("status", name),
  ]);

  expect(listed.stdout).toMatch(/^SEQ .*\n1 +0 .*echo one\n2 +2 .*echo two; \(exit 2\)\n$/);
  expect((JSON.parse(found.stdout) as { seq: number }[]).map(({ seq }) => seq)).toEqual([2]);
  expect([first.stdout, last.stdout, raw.stdout]).toEqual(["one\n", "two\n", "two\r\n"]);
  expect(shown.stdout).toContain("echo two; (exit 2)\ntwo\n");
  expect(state.stdout).toMatch(/^mode +idle$/m);
});

test("[CLI-4] a value that the hub refuses is named as the option that gave it, in plain words", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "true");

  const told = await Promise.all([
    cli("blocks", name, "--limit", "0"),
    cli("output", name, "--max-bytes", "1"),
    cli("wait", name, "--idle", "70000"),
    cli("run", "--conversation", "", "true"),
  ]);

  const see = "See --help, or the operation's input: sidestick call --list\n";
  expect(told.map(({ stderr }) => stderr)).toEqual([
    `sidestick: --limit must be at least 1. ${see}`,
    `sidestick: --max-bytes must be at least 256. ${see}`,
    `sidestick: --idle must be at most 60000. ${see}`,
    `sidestick: --conversation must not be empty. ${see}`,
  ]);
});

test("[TCL-22] a terminal is meant by its conversation or by the begin of its id; an unknown one says how to make it", async () => {
  const name = conversation();
  const { stdout } = await cli("run", "--json", "--conversation", name, "true");
  const { workspace_session_id: id } = JSON.parse(stdout) as { workspace_session_id: string };

  const byId = await cli("status", id.slice(0, 13));
  const unknown = await cli("status", "nobody");

  expect([byId.code, unknown.code]).toEqual([0, 1]);
  expect(unknown.stderr).toContain("sidestick run --conversation nobody -- COMMAND");
});

test("[TCL-19, TCL-20] export writes the seed's files, for their owner alone, and never over others", async () => {
  const name = "../odd name/✓";
  await cli("run", "--conversation", name, "echo one");
  await cli("run", "--conversation", name, "exit 3");
  await cli("run", "--conversation", name, "seq 20000");

  const { code, stdout } = await cli("export", name);
  const again = await cli("export", name);
  const forced = await cli("export", name, "--force", "--json");

  const directory = stdout.trim();
  expect(code).toBe(0);
  expect(directory).toMatch(new RegExp(`^${hub.dataDir}/export/_odd_name_-[\\da-f]{12}$`));
  const lines = async (file: string) =>
    (await readFile(join(directory, file), "utf8"))
      .trimEnd()
      .split("\n")
      .map((it) => JSON.parse(it) as { seq: number; ts_begin: number; command: string; exit_code: number });
  const blocks = await lines("blocks.jsonl");
  expect(blocks.map((it) => [it.command, it.exit_code])).toEqual([
    ["echo one", 0],
    ["exit 3", 3],
    ["seq 20000", 0],
  ]);
  const names = blocks.map((it) => `${it.seq}_${it.ts_begin}.out`);
  expect((await readdir(join(directory, "blocks"))).toSorted()).toEqual(names.toSorted());
  const outputs = await Promise.all(names.map((it) => readFile(join(directory, "blocks", it), "utf8")));
  const numbers = Array.from({ length: 20_000 }, (_, at) => `${at + 1}\r\n`).join("");
  expect(outputs).toEqual(["one\r\n", "exit\r\n", numbers]);
  expect((await lines("events.jsonl")).length).toBeGreaterThan(10);
  const modes = await Promise.all(
    ["", "blocks", "events.jsonl", join("blocks", names[0]!)].map(
      async (it) => (await stat(join(directory, it))).mode & 0o777,
    ),
  );
  expect(modes).toEqual([0o700, 0o700, 0o600, 0o600]);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining("Say --force to write over it")]);
  expect(JSON.parse(forced.stdout)).toMatchObject({ directory, blocks: 3 });
});
