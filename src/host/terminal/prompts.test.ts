import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { JsonObject } from "../../domain/event.ts";
import { ANN, closeServices, OpenedTerminal } from "../../../test/support/terminal.ts";

afterAll(closeServices);

/** Far more than a terminal holds. */
const MUCH = `${"x".repeat(63)}\n`.repeat(2 ** 14);

function promptIdOf({ payload }: { readonly payload: JsonObject }): string {
  return payload["promptId"] as string;
}

test("[PTY-36] a password prompt is found from the kernel, with its evidence, once it is quiet", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run("read -s -p 'Anything: ' a");

  const asked = await terminal.event("prompt", (payload) => payload["kind"] === "password");

  expect(asked.payload).toMatchObject({ program: "bash", evidence: { echo: false, canonical: true } });
  const text = terminal.bytes.subarray(0, asked.cursor).toString();
  expect(text.endsWith("Anything: ")).toBe(true);
  const quiet = terminal.events("quiet").find(({ order }) => order > begun.position && order < asked.order);
  expect(quiet?.payload["ms"]).toBe(30);
});

test("[PTY-37] two password prompts in a row are two instances, each told once", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run('read -s a; read -s b; echo "got $a $b"');
  const first = await terminal.event("prompt", (payload) => payload["kind"] === "password");

  await terminal.send("one\r", { by: ANN, if_prompt: promptIdOf(first) });
  const second = await terminal.event("prompt", (payload) => payload["kind"] === "password", first.order);
  const repeated = terminal.send("two\r", { by: ANN, if_prompt: promptIdOf(first) });
  await expect(repeated).rejects.toMatchObject({ code: "prompt_gone" });
  await terminal.send("two\r", { by: ANN, if_prompt: promptIdOf(second) });

  await terminal.text("got one two");
  expect(first.cursor).toBe(second.cursor);
  expect(terminal.events("prompt").filter(({ payload }) => payload["kind"] === "password")).toHaveLength(2);
});

test("[PTY-36] a program that waits for more of what was typed asks nobody; once it has all, it does", async () => {
  const terminal = await OpenedTerminal.open();
  const isAsked = (payload: JsonObject): boolean => payload["kind"] !== "shell";
  await terminal.run(`stty -echo -icanon; head -c ${MUCH.length + 1} | tail -c 1`);
  const first = await terminal.event("prompt", isAsked);

  await terminal.send(MUCH, { by: ANN });
  const asked = await terminal.event("prompt", isAsked, first.order);
  await terminal.send("!\n", { by: ANN, if_prompt: promptIdOf(asked) });

  await terminal.text("!");
  expect(terminal.events("prompt").filter(({ payload }) => isAsked(payload))).toHaveLength(2);
});

test("[PTY-38] text that looks like a question is none while nobody reads", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.run("printf '[sudo] password for x: '; sleep 1000");
  await terminal.event("quiet", (payload) => payload["ms"] === 200);

  expect(terminal.events("prompt").filter(({ payload }) => payload["kind"] !== "shell")).toEqual([]);
});

test("[PTY-36] a program that comes to its question in silence is found", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.run("sleep 0.4; read line");

  const asked = await terminal.event("prompt", (payload) => payload["kind"] === "line");
  expect(asked.payload).toMatchObject({ program: "bash" });
});

test.each([
  { command: "cat", kind: "line", program: "cat" },
  { command: "python3", kind: "line_editor", program: "python3" },
])("[PTY-36] $command waits as $kind (needs $program)", async ({ command, kind, program }) => {
  const terminal = await OpenedTerminal.open();
  await terminal.run(command);

  const asked = await terminal.event("prompt", (payload) => payload["kind"] === kind);

  expect(asked.payload["program"]).toMatch(program);
});

test("[PTY-39] an answer bound to a prompt that is over does not go in", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("bash -c 'echo $$ > pid; read a'; sleep 60");
  const asked = await terminal.event("prompt", (payload) => payload["kind"] === "line");
  const pid = Number(readFileSync(join(terminal.home, "pid"), "utf8"));
  process.kill(pid, "SIGKILL");
  await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false));
  await eventually(async () => {
    const { fields } = await terminal.ask({ type: "STATUS" });
    expect(fields["mode"]).toBe("block_running");
  });
  await terminal.event("quiet", (payload) => payload["ms"] === 500, asked.order);

  const late = terminal.send("late\r", { if_prompt: promptIdOf(asked) });

  await expect(late).rejects.toMatchObject({ code: "prompt_gone" });
  expect(terminal.events("input")).toEqual([]);
});

test("[PTY-39] the shell's own prompt can be named too", async () => {
  const terminal = await OpenedTerminal.open();
  const prompt = await terminal.event("prompt");

  await terminal.send('echo ty""ped\r', { by: ANN, if_prompt: promptIdOf(prompt) });

  await terminal.text("typed\r\n");
});

test("[PTY-34] what a person typed unseen is not shown when it is printed", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run('read -s a; echo "you typed $a"; read b');
  await terminal.event("prompt", (payload) => payload["kind"] === "password");

  await terminal.send("hunter2butlonger\r", { by: ANN });
  await terminal.event("prompt", (payload) => payload["kind"] === "line");

  const output = terminal.bytes.subarray(begun.cursor).toString();
  expect(output).toContain("you typed ****************");
  expect(JSON.stringify(terminal.events("input"))).not.toContain("hunter2");
  await eventually(() => expect(terminal.events("redacted").length).toBeGreaterThan(0));
});
