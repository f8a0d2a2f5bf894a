/** What a stop does to each kind of shell, whatever it runs. */
import { afterAll, describe, expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { closeServices, LiveTerminal } from "../../../test/support/live-terminal.ts";
import { PATIENCE } from "./patience.ts";

afterAll(closeServices);

const SHELLS = ["bash", "zsh", "fish", "dash"].map((name) => ({ name, shell: `/usr/bin/${name}` }));
const MANY = Array.from({ length: 50 }, (_, index) => index).join(" ");

/** The same for every shell but fish, whose words differ. */
function inWordsOf(shell: string, command: string): string {
  if (!shell.endsWith("fish")) return command;
  return command
    .replace(/; do :;/, "; true;")
    .replace(/; do /, "; ")
    .replace("; done", "; end")
    .replace("while :", "while true");
}

/** Typed, and running: seen by its first program, or by a shell that no longer waits. */
async function running(live: LiveTerminal, command: string): Promise<void> {
  live.type(`${command}\r`);
  if (command.includes("sleep")) await live.running("sleep");
  else
    await eventually(() => {
      expect(live.terminal.shell.atPrompt).toBe(false);
      // dash doesn't say that it begins.
      expect(live.terminal.shell.family === "dash" || live.terminal.blocks.mode === "block_running").toBe(true);
    });
}

describe.each(SHELLS)("$name (needs $name)", ({ shell }) => {
  test.each(["sleep 1000; touch evil", `for i in ${MANY}; do sleep 1000; touch evil; done`, "while :; do :; done"])(
    "[STP-5, STP-10] `%s` doesn't go on, and the shell lives",
    async (command) => {
      const live = await LiveTerminal.open(shell);
      await live.command("set marker here");
      const { pid } = live.terminal.shell;
      await running(live, inWordsOf(shell, command));

      const receipt = await live.stop();

      expect(receipt).toMatchObject({ respawned: false, survivors: [], containment: "subreaper" });
      await live.answers();
      expect(live.terminal.shell.pid).toBe(pid);
      expect(live.files).toEqual([]);
    },
  );

  test("[STP-11] a loop that ignores the interrupt is ended with its shell, and another is in its place", async () => {
    const live = await LiveTerminal.open(shell);
    await live.command("cd /usr/share");
    const { pid } = live.terminal.shell;
    await running(live, inWordsOf(shell, "trap '' INT; while :; do sleep 1; done"));

    const receipt = await live.stop();

    expect(receipt).toMatchObject({ respawned: true, survivors: [] });
    expect(live.terminal.shell.pid).not.toBe(pid);
    await live.answers();
    expect(live.terminal.shell.cwd).toBe("/usr/share");
    expect(live.processes.filter((it) => it.program === "sleep")).toEqual([]);
  });

  test("[STP-6] lines that were typed ahead never run, however many there are", async () => {
    const live = await LiveTerminal.open(shell);
    await running(live, "sleep 1000");
    // More than a line discipline holds: the rest is on its way to it.
    live.type("touch evil\r".repeat(3_000));
    await eventually(() => expect(live.terminal.waiting).toBeGreaterThan(0));

    const receipt = await live.stop();

    expect(receipt.dropped_bytes).toBeGreaterThan(0);
    await live.answers();
    expect(live.files).toEqual([]);
  });

  test("[STP-6] half a typed line is gone", async () => {
    // A shell that doesn't say that its line is empty now is replaced.
    const live = await LiveTerminal.open(shell, undefined, { promptMs: PATIENCE.promptMs });
    live.type("touch evil; ");
    await eventually(() => expect(live.output).toMatch(/evil/));

    await live.stop();
    await live.answers();

    expect(live.files).toEqual([]);
  });

  test("[STP-6, STP-22] a line that the shell is just reading is gone", async () => {
    // fish draws its old prompt again without a word, and is replaced.
    const live = await LiveTerminal.open(shell, undefined, { promptMs: PATIENCE.promptMs });
    for (let round = 0; round < 10; round += 1) {
      live.type("touch evil; ".repeat(20));

      await live.stop();
      await live.answers();
    }

    expect(live.files).toEqual([]);
  });

  test("[STP-13] the cursor stays where the killed program left it: no other screen is left that wasn't there", async () => {
    const live = await LiveTerminal.open(shell);
    live.type("sleep 1000\r");
    await live.running("sleep");

    await live.stop();

    await live.answers();
    expect(live.output).not.toContain("\u001B[?1049l");
  });

  test("[STP-13] what a killed program set is gone: modes for the shell, the screen for viewers", async () => {
    const live = await LiveTerminal.open(shell);
    live.type("sh -c 'stty raw -echo; printf \"\\033[?1049h\\033[?1000h\\033[?25l\"; exec sleep 1000'\r");
    await live.running("sleep");
    await eventually(() => expect(live.terminal.path.modes).toMatchObject({ altScreen: true, mouse: true }));

    await live.stop();
    await live.answers();

    expect(live.terminal.path.modes).toMatchObject({ altScreen: false, mouse: false });
    // As the next program finds them; a line editor has its own while it waits.
    live.type("stty -a | tr ' ;' '\\n\\n' | grep -E '^-?(echo|icanon|isig|icrnl|opost)$' | tr '\\n' .; sleep 1000\r");
    await live.running("sleep");
    await eventually(() => expect(live.output).toMatch(/icrnl\.opost\.isig\.icanon\.echo\./));
  });

  test("[STP-11] a shell that has become another program is replaced", async () => {
    const live = await LiveTerminal.open(shell);
    live.type("exec sleep 1000\r");
    await eventually(() => expect(live.terminal.shell.isItself).toBe(false));

    const receipt = await live.stop();

    expect(receipt).toMatchObject({ respawned: true });
    expect(receipt.killed.map((it) => it.program)).toContain("sleep");
    await live.answers();
    expect(live.terminal.over).toBe(false);
  });
});

test("[STP-10] an idle shell stays as it is", async () => {
  const live = await LiveTerminal.open();
  const before = live.output;

  const receipt = await live.stop();

  expect(receipt).toEqual({
    dropped_inputs: 0,
    dropped_bytes: 0,
    killed: [],
    killed_count: 0,
    respawned: false,
    survivors: [],
    kill_scope: "agent",
    containment: "subreaper",
  });
  expect(live.output).toBe(before);
  await live.answers();
});

test.each(["set +m; sleep 1000; touch evil", "trap '' INT; sleep 1000; touch evil"])(
  "[STP-11] bash is not even asked where it would go on: `%s`",
  async (command) => {
    const live = await LiveTerminal.open();
    await running(live, command);

    const receipt = await live.stop();

    expect(receipt).toMatchObject({ respawned: true });
    await live.answers();
    expect(live.files).toEqual([]);
  },
);

test("[STP-11] a shell that doesn't come to its prompt in time is replaced", async () => {
  const live = await LiveTerminal.open("/bin/bash", undefined, { promptMs: 50 });
  await running(live, "trap 'while :; do :; done' INT; sleep 1000");

  const receipt = await live.stop();

  expect(receipt).toMatchObject({ respawned: true, survivors: [] });
  expect(PATIENCE.promptMs).toBe(150);
  await live.answers();
});

test("[STP-11] a shell that ends by the interrupt doesn't end the session", async () => {
  const live = await LiveTerminal.open();
  await running(live, "trap exit INT; sleep 1000");

  const receipt = await live.stop();

  expect(receipt).toMatchObject({ respawned: true });
  await live.answers();
  expect(live.terminal.over).toBe(false);
});

test("[STP-12] programs that a shell starts for its prompt are let be", async () => {
  const live = await LiveTerminal.open();
  await live.command("PS1='$(sleep 0.02; echo ready)> '");
  await running(live, "sleep 1000");

  const receipt = await live.stop();

  expect(receipt).toMatchObject({ respawned: false, killed_count: 1 });
  await live.answers();
});

test.each(["CHLD", "DEBUG"])(
  "[STP-12] what a trap on %s starts on the way to the prompt doesn't stay",
  async (trap) => {
    const live = await LiveTerminal.open();
    live.type(`trap 'setsid -f tail -f /dev/null' ${trap}; sleep 1000; true\r`);
    await live.running("sleep");

    const receipt = await live.stop();

    expect(receipt.survivors).toEqual([]);
    // A shell that took the old one's place starts a process of its own before its first prompt.
    await live.atPrompt();
    expect(live.processes).toEqual([]);
  },
);

test("[STP-10] the block that ran is told as canceled", async () => {
  const live = await LiveTerminal.open();
  const { blocks } = live.terminal;
  const run = { blockId: "1", seq: blocks.nextSeq, command: "sleep 1000" };
  void blocks.submit(run, { cleanUp: () => undefined });
  live.type("sleep 1000\r");
  await live.running("sleep");

  await live.stop();

  const end = live.frames.find((it) => it.kind === "event" && it.type === "agent_block_end");
  expect(end).toMatchObject({ payload: { blockId: "1", canceled: true } });
});
