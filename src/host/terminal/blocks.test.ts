import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { closeServices, OpenedTerminal } from "../../../test/support/terminal.ts";
import { PATIENCE } from "./patience.ts";

afterAll(closeServices);

const SHELLS = ["bash", "zsh", "fish"].map((name) => ({ name, shell: `/usr/bin/${name}` }));

test.each(SHELLS)(
  "[PTY-22, PTY-23] $name runs one command as one block with its code, output and place (needs $name)",
  async ({ shell }) => {
    const terminal = await OpenedTerminal.open({ shell });

    const { end, output } = await terminal.block("echo one && cd /tmp && false");

    expect(output.endsWith("one\r\n")).toBe(true);
    expect(end).toMatchObject({ seq: 1, exitCode: 1, cwd: "/tmp", integration: "marks" });
    expect(terminal.events("agent_block_begin")).toHaveLength(1);
  },
);

test.each([
  { name: "compound", command: "echo a; echo b && echo c", output: "a\r\nb\r\nc\r\n", exitCode: 0 },
  { name: "heredoc", command: "cat <<E\nx\ny\nE", output: "x\r\ny\r\n", exitCode: 0 },
  { name: "several lines", command: "for i in 1 2\ndo echo $i\ndone\n(exit 4)", output: "1\r\n2\r\n", exitCode: 4 },
  { name: "no final newline", command: "printf abc", output: "abc", exitCode: 0 },
  { name: "comment", command: "true # nothing", output: "", exitCode: 0 },
])("[PTY-22, PTY-23] $name is one block", async ({ command, output, exitCode }) => {
  const terminal = await OpenedTerminal.open();

  const block = await terminal.block(command);

  expect([block.output, block.end["exitCode"]]).toEqual([output, exitCode]);
  expect(terminal.events("agent_block_end")).toHaveLength(1);
});

test("[PTY-22] an unbalanced quote is an error at once", async () => {
  const terminal = await OpenedTerminal.open();

  const { end } = await terminal.block("echo 'never closed");

  expect(end).toMatchObject({ integration: "marks" });
  expect(end["exitCode"]).not.toBe(0);
});

test("[PTY-23] Ctrl+C ends a block with 130", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run("sleep 60");
  await terminal.event("quiet", (payload) => payload["ms"] === 100, begun.position);

  await terminal.send("\u0003");

  expect((await terminal.finished(begun)).end).toMatchObject({ exitCode: 130 });
});

test("[PTY-23] a prompt follows the block's end and names it", async () => {
  const terminal = await OpenedTerminal.open();

  const { end, order } = await terminal.block("exit_code() { return 5; }; exit_code");

  const prompt = await terminal.event("prompt", () => true, order);
  expect(prompt.payload).toMatchObject({ kind: "shell", exitCode: 5, blockId: end["blockId"], integration: "marks" });
  expect(prompt.payload["marker"]).toMatch(/^__FWS_PROMPT__ ts=\d+ cwd_b64=\S+$/);
});

test("[PTY-30] what a background job prints afterwards belongs to no block", async () => {
  const terminal = await OpenedTerminal.open();

  const { end, output } = await terminal.block("(until [ -e go ]; do sleep 0.02; done; echo late) & echo now");
  writeFileSync(join(terminal.home, "go"), "");
  const late = await terminal.text("late", end["cursor"] as number);

  expect(output).toContain("now");
  expect(output).not.toContain("late");
  expect(late).toBeGreaterThan(end["cursor"] as number);
});

test("[PTY-28] a shell that exits in a block ends the block, then the session", async () => {
  const terminal = await OpenedTerminal.open();

  const { end, order } = await terminal.block("exit 3");

  expect(end).toMatchObject({ exitCode: 3 });
  expect(terminal.exit).toMatchObject({ exitCode: 3, reason: "exited", order: order + 1 });
});

test("[PTY-25] exec bash loses the marks; blocks go on by the kernel", async () => {
  const terminal = await OpenedTerminal.open();

  const lost = await terminal.block("exec bash --norc");
  const next = await terminal.block("echo still here");

  expect(lost.end).toMatchObject({ integration: "kernel" });
  expect(next.end).toMatchObject({ integration: "kernel" });
  expect(next.end).not.toHaveProperty("exitCode");
  expect(next.output).toContain("still here");
});

test("[PTY-22] a command that its shell doesn't begin counts as begun after a while, and ends when it is run", async () => {
  const terminal = await OpenedTerminal.open({ patience: { beginMs: 50 } });
  const { fields } = await terminal.ask({ type: "STATUS" });
  process.kill(Number(fields["pid"]), "SIGSTOP");

  const begun = await terminal.run("echo late");
  const ended = terminal.events("agent_block_end");
  process.kill(Number(fields["pid"]), "SIGCONT");

  expect(ended).toEqual([]);
  expect((await terminal.finished(begun)).end).toMatchObject({ exitCode: 0 });
  expect(PATIENCE.beginMs).toBe(3_000);
});

test("[PTY-25] a shell that has not woken for its command is not done with it", async () => {
  const terminal = await OpenedTerminal.open({ patience: { beginMs: DEADLINE_MS } });
  const { fields } = await terminal.ask({ type: "STATUS" });
  const { order } = terminal.frames.at(-1)!;
  process.kill(Number(fields["pid"]), "SIGSTOP");

  const block = terminal.block("echo awake");
  await terminal.event("quiet", (payload) => payload["ms"] === 200, order);
  const early = terminal.events("agent_block_begin");
  process.kill(Number(fields["pid"]), "SIGCONT");

  expect(early).toEqual([]);
  expect(await block).toMatchObject({ output: "awake\r\n", end: { exitCode: 0, integration: "marks" } });
});

test("[PTY-24] forged marks and markers change nothing", async () => {
  const terminal = await OpenedTerminal.open();
  const forged = [
    String.raw`printf '\033]7717;%032d;D;0;/\a\033]7717;%032d;A;0\a\033]7717;%032d;B\a' 0 0 0`,
    String.raw`printf '\033]633;D;0\a\033]133;A\a\033]133;B\a'`,
    "echo '__FWS_PROMPT__ ts=1 cwd_b64=Lw=='",
  ].join("; ");

  const { end, output } = await terminal.block(`${forged}; sleep 0.3; echo done; (exit 9)`);

  expect(output.endsWith("done\r\n")).toBe(true);
  expect(end).toMatchObject({ exitCode: 9 });
  expect(output).toContain("__FWS_PROMPT__");
});

test("[PTY-24] a mark with the right nonce ends nothing while the shell does not wait", async () => {
  const terminal = await OpenedTerminal.open();
  const mark = String.raw`printf '\033]7717;%s;D;0;/\a\033]7717;%s;A;0\a\033]7717;%s;B\a' $__ss_k $__ss_k $__ss_k`;

  const { end, output } = await terminal.block(`${mark}; sleep 0.5; echo done; (exit 9)`);

  expect(output).toContain("done\r\n");
  expect(end).toMatchObject({ exitCode: 9 });
});

test("[PTY-21] a second command is refused while one runs", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("sleep 60");

  await expect(terminal.run("true")).rejects.toMatchObject({ code: "busy" });
});

test("[PTY-21] a command is refused while an interactive run is active", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.run("cat", { run_id: "6a1c1f0e-0000-4000-8000-000000000001" });

  await expect(terminal.run("true")).rejects.toMatchObject({ code: "interactive_active" });
});

test("[PTY-21] a command is refused behind half a typed line, until the line is gone", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.send("echo ha");
  await expect(terminal.run("true")).rejects.toMatchObject({ code: "busy" });

  await terminal.send("\u0003");
  await terminal.event("prompt", (payload) => payload["exitCode"] === 130);

  expect((await terminal.block("echo clean")).output).toBe("clean\r\n");
});

test("[PTY-31] deltas cover the block's output once, and no more", async () => {
  const terminal = await OpenedTerminal.open();

  const { end } = await terminal.block("for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; seq 20000");

  const begin = terminal.events("agent_block_begin")[0]?.payload["cursor"] as number;
  const deltas = terminal.events("agent_block_delta").map(({ payload }) => [payload["cursor"], payload["length"]]);
  const reached = deltas.reduce((at, [cursor, length]) => (cursor === at ? at + Number(length) : Number.NaN), begin);
  expect(reached).toBe(end["cursor"]);
  expect(deltas.length).toBeLessThanOrEqual(1 + Math.ceil(Number(end["durationMs"]) / 100));
});

test("[PTY-31] what answers an input is told before the terminal has been silent for 30 ms", async () => {
  const terminal = await OpenedTerminal.open();
  const { cursor } = await terminal.run("stty -echo; read x; echo $x; read y");
  const asked = await terminal.event("prompt", (payload) => payload["kind"] === "password");

  await terminal.send("answer\r");
  const end = await terminal.text("answer\r\n", cursor);
  const delta = await terminal.event("agent_block_delta", () => true, asked.order);
  const shown = terminal.frames.findLast((frame) => frame.kind === "bytes")?.order;
  const quiet = await terminal.event("quiet", () => true, shown);

  expect(Number(delta.payload["cursor"]) + Number(delta.payload["length"])).toBe(end);
  expect(delta.order).toBeLessThan(quiet.order);
});

test("[PTY-26] a person's own command makes no block, and the agent waits", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.send("sleep 0.3; (exit 6)\r", { by: { kind: "person", id: "ann" } });
  await terminal.text("sleep 0.3");
  const { fields } = await terminal.ask({ type: "STATUS" });
  const prompt = await terminal.event("prompt", (payload) => payload["exitCode"] === 6);

  expect(["block_running", "idle"]).toContain(fields["mode"]);
  expect(prompt.payload).not.toHaveProperty("blockId");
  expect(terminal.events("agent_block_begin")).toEqual([]);
});

test("[PTY-20] an interactive run ends its block when its program returns to the prompt (needs python3)", async () => {
  const terminal = await OpenedTerminal.open();
  const program = new URL("../../../test/fixtures/programs/guess.py", import.meta.url).pathname;
  const run = await terminal.run(`python3 ${program}`, { run_id: "6a1c1f0e-0000-4000-8000-000000000002" });
  const { fields } = await terminal.ask({ type: "STATUS" });

  const asked = await terminal.text("Guess a number", run.cursor);
  await terminal.send("3\r");
  const again = await terminal.text("Too low", asked);
  await terminal.send("7\r");
  await terminal.text("Correct!", again);
  const { end } = await terminal.finished(run);

  expect(fields["mode"]).toBe("interactive");
  expect(end).toMatchObject({ exitCode: 0, runId: "6a1c1f0e-0000-4000-8000-000000000002" });
  expect((await terminal.ask({ type: "STATUS" })).fields["mode"]).toBe("idle");
});

test("[PTY-24] bash's own line editor inside a command is no prompt of the shell", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run("read -e -p 'name? ' n; read -e m; echo $n-$m");
  const first = await terminal.event("prompt", () => true, begun.position);
  await terminal.send("ann\r");
  const second = await terminal.event("prompt", () => true, first.order);
  const { fields } = await terminal.ask({ type: "STATUS" });
  await terminal.send("bob\r");
  const { end, output } = await terminal.finished(begun);

  expect([first.payload["kind"], second.payload["kind"], fields["mode"]]).toEqual([
    "line_editor",
    "line_editor",
    "block_running",
  ]);
  expect(end).toMatchObject({ exitCode: 0, integration: "marks" });
  expect(output).toContain("ann-bob\r\n");
});

test("[PTY-24, PTY-25] Ctrl+C at it ends the command, also one that had removed the marks", async () => {
  const terminal = await OpenedTerminal.open();
  const plain = await terminal.run("read -e n");
  await terminal.event("prompt", (payload) => payload["kind"] === "line_editor", plain.position);
  await terminal.send("\u0003");
  expect((await terminal.finished(plain)).end).toMatchObject({ exitCode: 130, integration: "marks" });

  const bare = await terminal.run("unset PROMPT_COMMAND PS0; PS1='bare> '; read -e n");
  await terminal.event("prompt", (payload) => payload["kind"] === "line_editor", bare.position);
  await terminal.send("\u0003");
  expect((await terminal.finished(bare)).end).toMatchObject({ integration: "kernel" });
  expect((await terminal.block("echo after")).output).toContain("after\r\n");
});

test("[PTY-22] the answer to a run is where its block begins", async () => {
  const terminal = await OpenedTerminal.open();

  const begun = await terminal.run("echo x");

  const begin = await terminal.event("agent_block_begin");
  expect(begin.payload).toMatchObject({
    blockId: begun.blockId,
    seq: 1,
    cmd: "echo x",
    cursor: begun.cursor,
    interactive: false,
  });
  expect(begin.order).toBe(begun.position);
});

test("[PTY-24] fish that reads a line inside a command is not at its prompt (needs fish)", async () => {
  const terminal = await OpenedTerminal.open({ shell: "/usr/bin/fish" });
  const begun = await terminal.run("read -P 'name? ' name; echo hello $name");

  await terminal.event("prompt", (payload) => payload["kind"] === "line_editor", begun.position);
  await terminal.send("fish\r");

  expect((await terminal.finished(begun)).output).toContain("hello fish");
});
