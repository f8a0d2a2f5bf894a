import { expect, test } from "vitest";
import type { BlockFact, BlockRun, Place } from "./blocks.ts";
import { ShellBlocks } from "./blocks.ts";

const run: BlockRun = { blockId: "b1", seq: 1, command: "make" };
const interactive: BlockRun = { ...run, runId: "r1" };

function at(cursor: number): Place {
  return { cursor, at: cursor * 10 };
}

/** At its first prompt. */
function atPrompt(): ShellBlocks {
  const blocks = new ShellBlocks();
  blocks.mark({ kind: "prompt_start", exitCode: 0, cwd: "/home" }, at(0));
  blocks.mark({ kind: "prompt_end" }, at(2));
  blocks.confirm(at(2));
  return blocks;
}

/** A command runs since cursor 10. */
function running(it: BlockRun = run): ShellBlocks {
  const blocks = atPrompt();
  blocks.submit(it, at(5));
  blocks.mark({ kind: "command_start" }, at(10));
  return blocks;
}

function ended(it: Partial<Extract<BlockFact, { type: "end" }>>): BlockFact {
  return { type: "end", run, begin: at(10), end: at(20), outcome: {}, integration: "marks", canceled: false, ...it };
}

test("[PTY-20] a shell is idle at its prompt, busy with a block, interactive in a run", () => {
  expect([atPrompt().mode, running().mode, running(interactive).mode]).toEqual([
    "idle",
    "block_running",
    "interactive",
  ]);
});

test.each([
  { name: "a shell that starts", blocks: new ShellBlocks(), refusal: "starting" },
  { name: "a prompt", blocks: atPrompt(), refusal: undefined },
  { name: "a block", blocks: running(), refusal: "busy" },
  { name: "an interactive run", blocks: running(interactive), refusal: "interactive_active" },
])("[PTY-21] no command goes into $name unless it is an untouched prompt", ({ blocks, refusal }) => {
  expect(blocks.refusal).toBe(refusal);
});

test("[PTY-21] no command is typed behind half a line", () => {
  const blocks = atPrompt();

  blocks.touch({ entered: false, isHalf: false });

  expect(blocks.refusal).toBe("half_line");
});

test.each([
  { name: "half a line", isHalf: true, refusal: "half_line" },
  { name: "a line, or keys that the program reads", isHalf: false, refusal: undefined },
])("[PTY-21] $name typed while a program ran: the prompt behind it is $refusal", ({ isHalf, refusal }) => {
  const blocks = running();
  blocks.touch({ entered: false, isHalf });

  blocks.mark({ kind: "command_done", exitCode: 0, cwd: "/home" }, at(30));
  blocks.mark({ kind: "prompt_end" }, at(30));
  blocks.confirm(at(30));

  expect(blocks.refusal).toBe(refusal);
});

test("[PTY-22] a command that was dropped before the shell read it begins and ends with the prompt that is sure", () => {
  const blocks = atPrompt();
  blocks.submit(run, at(5));

  const marked = blocks.mark({ kind: "prompt_start", exitCode: 130, cwd: "/home" }, at(20));
  blocks.mark({ kind: "prompt_end" }, at(22));

  expect([marked, blocks.isUnbegun]).toEqual([[], true]);
  expect(blocks.confirm(at(22))).toMatchObject([
    { type: "begin", run, begin: at(5) },
    { type: "end", run, begin: at(5) },
    { type: "prompt" },
  ]);
});

test("[PTY-22] what a shell says of the prompt before, after the command was typed, is not about the command", () => {
  const blocks = atPrompt();
  blocks.submit(run, at(5));
  blocks.mark({ kind: "prompt_start", exitCode: 130, cwd: "/home" }, at(20));
  blocks.mark({ kind: "prompt_end" }, at(22));

  const begun = blocks.mark({ kind: "command_start" }, at(30));

  expect(begun).toEqual([{ type: "begin", run, begin: at(30) }]);
  expect([blocks.isUnbegun, blocks.awaitsKernel, blocks.confirm(at(31))]).toEqual([false, false, []]);
  blocks.mark({ kind: "command_done", exitCode: 3 }, at(40));
  blocks.mark({ kind: "prompt_end" }, at(42));
  expect(blocks.confirm(at(42))).toMatchObject([{ type: "end", outcome: { exitCode: 3 } }, { type: "prompt" }]);
});

test("[PTY-22] one that is overdue counts as begun, and the prompt of before still doesn't end it", () => {
  const blocks = atPrompt();
  blocks.submit(run, at(5));
  blocks.mark({ kind: "prompt_start", exitCode: 130, cwd: "/home" }, at(20));
  blocks.mark({ kind: "prompt_end" }, at(22));

  expect(blocks.overdue()).toEqual([{ type: "begin", run, begin: at(5) }]);
  expect(blocks.isUnbegun).toBe(true);
  expect(blocks.mark({ kind: "command_start" }, at(30))).toEqual([]);
  expect([blocks.isUnbegun, blocks.awaitsKernel]).toEqual([false, false]);
});

test("[PTY-22] a block begins where the shell says that it starts the command", () => {
  const blocks = atPrompt();
  blocks.submit(run, at(5));

  expect(blocks.mark({ kind: "command_start" }, at(10))).toEqual([{ type: "begin", run, begin: at(10) }]);
});

test("[PTY-23] a block ends where its command did, once marks and kernel agree on the prompt", () => {
  const blocks = running();

  const marked = [
    ...blocks.mark({ kind: "command_done", exitCode: 2, cwd: "/tmp" }, at(20)),
    ...blocks.mark({ kind: "prompt_start", exitCode: 2, cwd: "/tmp" }, at(21)),
    ...blocks.mark({ kind: "prompt_end" }, at(25)),
  ];
  const awaited = blocks.awaitsKernel;
  const confirmed = blocks.confirm(at(26));

  expect([marked, awaited]).toEqual([[], true]);
  expect(confirmed).toEqual([
    ended({ outcome: { exitCode: 2, cwd: "/tmp" } }),
    { type: "prompt", outcome: { exitCode: 2, cwd: "/tmp" }, integration: "marks", blockId: "b1" },
  ]);
  expect([blocks.mode, blocks.cwd]).toEqual(["idle", "/tmp"]);
});

test("[PTY-24] marks that the kernel does not confirm change nothing, and the true ones count", () => {
  const blocks = running();
  blocks.mark({ kind: "command_done", exitCode: 0, cwd: "/" }, at(12));
  blocks.mark({ kind: "prompt_end" }, at(13));
  expect(blocks.mode).toBe("block_running");

  blocks.mark({ kind: "prompt_start", exitCode: 7, cwd: "/tmp" }, at(20));
  blocks.mark({ kind: "prompt_end" }, at(22));

  expect(blocks.confirm(at(22))[0]).toEqual(ended({ outcome: { exitCode: 7, cwd: "/tmp" } }));
});

test("[PTY-24] a prompt that is drawn again is no new prompt", () => {
  const blocks = atPrompt();

  blocks.mark({ kind: "prompt_start", exitCode: 0 }, at(8));
  blocks.mark({ kind: "prompt_end" }, at(10));

  expect(blocks.awaitsKernel).toBe(false);
});

test("[PTY-25] without marks the kernel alone ends a block, without an exit code", () => {
  expect(running().kernelPrompt(at(20), "/srv")).toEqual([
    ended({ outcome: { cwd: "/srv" }, integration: "kernel" }),
    { type: "prompt", outcome: { cwd: "/srv" }, integration: "kernel", blockId: "b1" },
  ]);
});

test("[PTY-23, PTY-25] the kernel that is first to see the prompt ends a block where the shell said, with its code", () => {
  const blocks = running();
  blocks.mark({ kind: "command_done", exitCode: 3, cwd: "/srv" }, at(20));
  blocks.mark({ kind: "prompt_start", cwd: "/srv", exitCode: 3 }, at(20));

  const facts = blocks.kernelPrompt(at(39), "/srv");
  const late = blocks.mark({ kind: "prompt_end" }, at(39));

  const outcome = { exitCode: 3, cwd: "/srv" };
  expect(facts).toEqual([ended({ outcome }), { type: "prompt", outcome, integration: "marks", blockId: "b1" }]);
  expect([late, blocks.awaitsKernel, blocks.refusal]).toEqual([[], false, undefined]);
});

test("[PTY-25] a submission without any mark is a whole block by the kernel", () => {
  const blocks = atPrompt();
  blocks.submit(run, at(5));

  expect(blocks.kernelPrompt(at(20), undefined).map((it) => it.type)).toEqual(["begin", "end", "prompt"]);
});

test("[PTY-26] a person's own command is no agent's block", () => {
  const blocks = atPrompt();

  const begun = blocks.mark({ kind: "command_start" }, at(5));
  const { mode } = blocks;
  blocks.mark({ kind: "command_done", exitCode: 1, cwd: "/" }, at(9));
  blocks.mark({ kind: "prompt_end" }, at(10));

  expect([begun, mode]).toEqual([[], "block_running"]);
  expect(blocks.confirm(at(10))).toEqual([
    { type: "prompt", outcome: { exitCode: 1, cwd: "/" }, integration: "marks", blockId: undefined },
  ]);
});

test("[PTY-27] a command that was typed ahead ends the block before it", () => {
  const blocks = running();
  blocks.mark({ kind: "command_done", exitCode: 0, cwd: "/" }, at(20));
  blocks.mark({ kind: "prompt_end" }, at(22));

  const facts = blocks.mark({ kind: "command_start" }, at(24));

  expect(facts[0]).toEqual(ended({ outcome: { exitCode: 0, cwd: "/" } }));
  expect([blocks.mode, blocks.run]).toEqual(["block_running", undefined]);
});

test("[PTY-28] a shell that exits ends its block with its own exit", () => {
  expect(running().exited({ exitCode: 3 }, at(20))).toEqual([ended({ outcome: { exitCode: 3 } })]);
});

test("[PTY-29] a block whose shell is replaced is canceled, and the new shell starts", () => {
  const blocks = running();

  expect(blocks.respawned({ signal: "SIGKILL" }, at(20))).toEqual([
    ended({ outcome: { signal: "SIGKILL" }, canceled: true }),
  ]);
  expect(blocks.refusal).toBe("starting");
});
