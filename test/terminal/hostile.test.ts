/** What a program in a terminal may try; the host and everybody else's terminals go on. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { AppError } from "../../src/protocol/errors.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

const run = (conversation_id: string, command: string) =>
  hub.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

test("[BLK-27] a pipe in the place of a command's file holds up nobody", async () => {
  await run("pipe", "mkfifo $__ss.c/2 $__ss.c/2.sh $__ss.c/3; ln -s /etc/passwd $__ss.c/4");

  const next = await run("pipe", "echo goes on");

  expect(next).toMatchObject({ output: "goes on\n", exit_code: 0 });
  expect(await run("pipe", "echo third")).toMatchObject({ output: "third\n" });
  expect(await run("pipe", "head -c 4 /etc/passwd")).toMatchObject({ output: "root" });
});

test.each(['read -n 1 -p "Deploy? " a', "read -s -n 1 a", "read -d x a"])(
  "[PRB-4] `%s` inside a command is a question, not the prompt",
  async (question) => {
    const conversation_id = `read ${question}`;

    const asked = await run(conversation_id, `${question}; (exit 42)`);
    await hub.agent.pty.send({ conversation_id, data: "yx" });
    const over = await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT" });

    expect(asked).toMatchObject({ waiting: { program: "bash" } });
    expect(asked.exit_code).toBeUndefined();
    expect(over).toMatchObject({ matched: true, exit_code: 42, integration: "marks" });
  },
);

test("[TRM-11] what a person wants to type into a program never goes to the shell that it left behind", async () => {
  const conversation_id = "left";
  const { session_id } = await hub.person.pty.exec_interactive({ conversation_id, command: 'printf "Password: "' });
  await hub.person.pty.wait_for({ conversation_id, match: "PROMPT" });
  const typed = { conversation_id, match: "Password: ", data: "hunter3-secret\r" };

  expect(await codeOf(hub.person.pty.expect_send(typed))).toBe("shell_idle");
  expect(await codeOf(hub.person.pty.expect_send({ ...typed, session_id }))).toBe("not_found");
});

test("[TRM-4] a command that runs on is pending when the time is up", async () => {
  const answer = await hub.agent.pty.exec_block({ conversation_id: "runs on", command: "sleep 1000", wait_ms: 100 });

  expect(answer).toMatchObject({ pending: true });
});

test("[SCR-29] counts without measure in one terminal leave the screens of others alone", async () => {
  await run("victim", "echo here");
  await run("flood", String.raw`for i in $(seq 500); do printf 'x\033[99999999L\033[99999999S\033[99999999b'; done`);

  const { lines } = await hub.agent.pty.read_screen({ conversation_id: "victim" });

  expect(lines.join("\n")).toContain("here");
});

/** Says HELLO to the host as a hub does, and prints what comes: a WELCOME, or nothing and the end. */
const HELLO = `
  const head = Buffer.from(JSON.stringify({ type: "HELLO", versions: [1, 2, 3], channel: "control", hub: "thief" }));
  const lengths = Buffer.alloc(8);
  lengths.writeUInt32BE(head.length + 4, 0);
  lengths.writeUInt32BE(head.length, 4);
  const socket = require("net").connect(process.argv[1], () => socket.write(Buffer.concat([lengths, head])));
  let answer = "";
  socket.on("data", (bytes) => { answer += bytes; socket.destroy(); });
  socket.on("error", () => undefined);
  socket.on("close", () => console.log(answer.includes("WELCOME") ? "wel" + "come" : "re" + "fused"));
`;

test.each([
  { where: "a command", before: "" },
  { where: "a session of its own", before: "setsid -w " },
  { where: "an orphan", before: "setsid -f " },
])("[HST-22] the host doesn't listen to $where inside a session", async ({ where, before }) => {
  const script = join(hub.dataDir, "hello.cjs");
  writeFileSync(script, `process.argv.splice(1, 1);${HELLO}`);
  const socket = join(hub.dataDir, "host", "link.sock");

  const inside = await run(`hello from ${where}`, `${before}${process.execPath} ${script} ${socket} | cat`);

  expect(inside.output).toContain("refused");
  expect(inside.output).not.toContain("welcome");
});

test("[HST-22] the same words from outside are heard", async () => {
  await run("somebody", "true");

  const outside = execFileSync(process.execPath, ["-e", HELLO, join(hub.dataDir, "host", "link.sock")]);

  expect(outside.toString()).toBe("welcome\n");
});
