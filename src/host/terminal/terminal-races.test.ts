/** What must hold when two things are asked of a terminal at once, or of several terminals of one host. */
import { afterAll, expect, test } from "vitest";
import { ANN, closeServices, OpenedTerminal } from "../../../test/support/terminal.ts";
import { soakCount } from "../../../test/support/soak.ts";

afterAll(closeServices);

test("[PTY-49] a later session inherits no descriptor of an earlier one", async () => {
  const first = await OpenedTerminal.open();
  const second = await OpenedTerminal.open();

  const { output } = await second.block("ls -l /proc/self/fd /proc/$$/fd");

  expect(output).toContain("/dev/pts/");
  expect(output).not.toContain("ptmx");
  expect((await first.block("echo alive")).output).toBe("alive\r\n");
});

test("[PTY-41] two respawns at once make one new shell, and it lives", async () => {
  const terminal = await OpenedTerminal.open();
  const before = terminal.frames.length;

  await Promise.all([terminal.ask({ type: "RESPAWN", by: ANN }), terminal.ask({ type: "RESPAWN", by: ANN })]);
  await terminal.event("prompt", (payload) => payload["kind"] === "shell", before);

  expect(terminal.events("log_line")).toHaveLength(1);
  await terminal.ask({ type: "CONTROL", command: { type: "release", by: ANN } });
  expect((await terminal.block("echo one")).output).toBe("one\r\n");
  expect(terminal.exit).toBeUndefined();
});

test("[PTY-44] a session that is ended while its shell is replaced ends", async () => {
  const terminal = await OpenedTerminal.open();

  await Promise.all([terminal.ask({ type: "RESPAWN", by: ANN }), terminal.ask({ type: "TERMINATE_CMD" })]);

  expect(terminal.exit).toMatchObject({ kind: "exit", reason: "terminated" });
  expect(terminal.frames.at(-1)).toBe(terminal.exit);
});

test("[PTY-41] a respawn leaves the alternate screen that a program was on", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run(String.raw`printf '\033[?1049h\033[?1000hfull'; sleep 1000`);
  await terminal.text("full", begun.cursor);

  await terminal.ask({ type: "RESPAWN", by: ANN });

  expect((await terminal.ask({ type: "READ_SCREEN" })).fields).toMatchObject({ alt_screen: false });
});

test("[PTY-25] without marks a block begins when it is typed, not when it ends", async () => {
  const terminal = await OpenedTerminal.open();
  const before = terminal.frames.length;
  await terminal.run("exec bash --norc");
  await terminal.event("prompt", (payload) => payload["integration"] === "kernel", before);

  const begun = await terminal.run("cat", { run_id: "6a1c1f0e-0000-4000-8000-000000000003" });
  await terminal.event("prompt", (payload) => payload["program"] === "cat", before);
  await terminal.send("hello\r");
  await terminal.text("hello\r\nhello\r\n", begun.cursor);
  await terminal.send("\u0004");

  expect((await terminal.finished(begun)).end).toMatchObject({ integration: "kernel" });
});

const ROUNDS = soakCount(50);

test.each([{ shell: "bash" }, { shell: "zsh" }, { shell: "fish" }])(
  "[PTY-22] $shell, interrupted as a command is typed, tells of the prompt before; the block is the command's (needs $shell)",
  async ({ shell }) => {
    const terminal = await OpenedTerminal.open({ shell: `/usr/bin/${shell}` });
    const { output: told } = await terminal.block(shell === "fish" ? "echo $fish_pid" : "echo $$");
    const pid = Number(/(\d+)\s*$/.exec(told)?.[1]);
    const blocks: unknown[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      process.kill(pid, "SIGINT");
      const { end, output } = await terminal.block(`echo w${round}w; sh -c 'exit 3'`);
      blocks.push([end["exitCode"], /w\d+w\s*$/.exec(output)?.[0].trim()]);
    }

    expect(blocks).toEqual(blocks.map((_, round) => [3, `w${round}w`]));
  },
);
