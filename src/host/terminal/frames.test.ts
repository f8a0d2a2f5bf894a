import { expect, test } from "vitest";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { Frames } from "./frames.ts";

test("[PTY-13] pieces that come at once are gathered up to 65,536 bytes", async () => {
  const told: SessionFrame[] = [];
  const frames = new Frames((frame) => told.push(frame));

  for (let piece = 0; piece < 100; piece += 1) frames.bytes(Buffer.alloc(4_096));
  await Promise.resolve();

  expect(told.map((it) => it.kind === "bytes" && it.bytes.length)).toEqual([...Array(6).fill(65_536), 16_384]);
});
