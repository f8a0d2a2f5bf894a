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

  blocks.touch(false);

  expect(blocks.refusal).toBe("half_line");
});

test("[PTY-22] a command that was dropped before the shell read it has begun, and ends with the prompt that comes", () => {
  const blocks = atPrompt();
  blocks.submit(run, at(5));

  const begun = blocks.mark({ kind: "prompt_start", exitCode: 130, cwd: "/home" }, at(20));
  blocks.mark({ kind: "prompt_end" }, at(22));

  expect(begun).toEqual([{ type: "begin", run, begin: at(5) }]);
  expect(blocks.confirm(at(22))).toMatchObject([{ type: "end", run, begin: at(5) }, { type: "prompt" }]);
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
