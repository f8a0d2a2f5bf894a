import { expect, test } from "vitest";
import { type Block, foldBlocks, tookText } from "./blocks.ts";

const source = { kind: "agent", id: "bot" } as const;
const begun = (at: number) =>
  ({ type: "agent_block_begin", payload: { blockId: `b${at}`, cmd: "make" }, cursor: at, source }) as const;
const ended = (at: number) =>
  ({
    type: "agent_block_end",
    payload: { blockId: `b${at}`, exitCode: 0, durationMs: 5 },
    cursor: at,
    source,
  }) as const;

test("[WEB-38] the newest five hundred are kept, each once, however often it is told", () => {
  const events = Array.from({ length: 600 }, (_, at) => [begun(at), begun(at), ended(at)]).flat();

  const blocks = events.reduce<readonly Block[]>(foldBlocks, []);

  expect([blocks.length, blocks[0]?.blockId, blocks.at(-1)]).toEqual([
    500,
    "b100",
    {
      blockId: "b599",
      command: "make",
      by: "bot",
      cursor: 599,
      end: { cursor: 599, exitCode: 0, signal: undefined, durationMs: 5 },
    },
  ]);
});

test.each([
  [7, "7 ms"],
  [1_500, "1.5 s"],
  [59_960, "1 min 0 s"],
  [119_700, "2 min 0 s"],
  [7_384_000, "2 h 3 min"],
])("[WEB-38] %i ms are told as %s", (ms, text) => {
  expect(tookText(ms)).toBe(text);
});
