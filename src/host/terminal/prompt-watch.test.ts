import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import type { SessionFrame } from "../../domain/session-frame.ts";
import { Frames } from "./frames.ts";
import type { Look } from "./probe/probe.ts";
import { PromptWatch } from "./prompt-watch.ts";
import { Prompts } from "./prompts.ts";

const READING: Look = {
  waiting: true,
  kind: "password",
  program: "pinentry-curses",
  pid: 7,
  confidence: "high",
  switches: 3,
  evidence: { syscall: "read" },
};

/** A reader that waits in one and the same `read` while output comes during the next so many looks at it. */
class Painted {
  overtaken = 0;
  inputs = 0;
  /** What the next looks say; afterwards it waits. */
  readonly between: Look[] = [];
  #received = 0;
  #looks = 0;
  readonly #told: SessionFrame[] = [];
  readonly watch: PromptWatch;

  constructor() {
    const frames = new Frames((frame) => void this.#told.push(frame));
    const prompts = new Prompts({ sessionId: "s", frames, barrier: () => undefined });
    this.watch = new PromptWatch({
      prompts,
      look: () => this.#look(),
      activity: () => String(this.#received),
      place: () => ({ cursor: this.#received, inputs: this.inputs }),
      atKnownPrompt: () => false,
      onShell: () => "reading",
    });
  }

  /** Without those that were told to be gone. */
  get asked(): string[] {
    const events = this.#told.flatMap((frame) => (frame.kind === "event" && frame.type === "prompt" ? [frame] : []));
    return events.map((it) => it.payload["promptId"] as string);
  }

  get promptIds(): string[] {
    return this.#told.flatMap((frame) => (frame.kind === "event" ? [frame.payload["promptId"] as string] : []));
  }

  async asks(count: number): Promise<string> {
    await eventually(() => {
      this.watch.quiet(30);
      expect(this.promptIds).toHaveLength(count);
    });
    return this.promptIds.at(-1) ?? "";
  }

  /** As the clock tells it, until it has been looked at. */
  async quietFor(ms: number): Promise<void> {
    const looks = this.#looks;
    this.watch.stir();
    this.watch.quiet(ms);
    await eventually(() => expect(this.#looks).toBeGreaterThan(looks));
    await nextTurn();
    await nextTurn();
  }

  #look(): Promise<Look> {
    this.#looks += 1;
    if (this.overtaken > 0) {
      this.overtaken -= 1;
      this.#received += 1;
      this.watch.stir();
    }
    return Promise.resolve(this.between.shift() ?? READING);
  }
}

test("[PTY-39] the last of a question's own paint, which comes while it is looked at, doesn't end it", async () => {
  const terminal = new Painted();
  const promptId = await terminal.asks(1);

  terminal.overtaken = 2;

  expect(await terminal.watch.stands(promptId)).toBe(true);
});

test("[PTY-39] a question said to be gone is told anew while it waits", async () => {
  const terminal = new Painted();
  const promptId = await terminal.asks(1);

  terminal.overtaken = 100;
  expect(await terminal.watch.stands(promptId)).toBe(false);
  terminal.overtaken = 0;

  expect(await terminal.asks(2)).not.toBe(promptId);
});

const BETWEEN: Look = { waiting: false, confidence: "high", reason: "running" };
const NEXT_WAIT: Look = { ...READING, switches: 4 };
const UNKNOWN: Look = { waiting: false, confidence: "low", reason: "unknown: the look took too long" };

test("[PTY-39] a reader met between two looks at one and the same wait still waits, and nobody is told anything", async () => {
  const terminal = new Painted();
  const promptId = await terminal.asks(1);

  terminal.between.push(BETWEEN, BETWEEN);

  expect(await terminal.watch.stands(promptId)).toBe(true);
  expect(terminal.promptIds).toEqual([promptId]);
});

test.each([
  ["for long between two waits", Array.from({ length: 6 }, () => BETWEEN)],
  ["between two waits and then in its next", [BETWEEN, NEXT_WAIT, NEXT_WAIT, NEXT_WAIT, NEXT_WAIT]],
  ["in its next wait", [NEXT_WAIT, NEXT_WAIT, NEXT_WAIT, NEXT_WAIT]],
  ["by looks that took too long", Array.from({ length: 6 }, () => UNKNOWN)],
])("[PTY-39] a reader met %s, which then does nothing, is told anew to whoever was refused", async (_when, looks) => {
  const terminal = new Painted();
  const promptId = await terminal.asks(1);

  terminal.between.push(...looks);
  expect(await terminal.watch.stands(promptId)).toBe(false);

  await eventually(() => expect(terminal.asked.at(-1)).not.toBe(promptId));
});

test("[PTY-36] a reader that has not woken for what was typed asks nothing new, unless it stays so for a fifth of a second", async () => {
  const terminal = new Painted();
  const promptId = await terminal.asks(1);
  expect(await terminal.watch.stands(promptId)).toBe(true);

  terminal.inputs += 1;
  await terminal.quietFor(100);
  expect(terminal.promptIds).toEqual([promptId]);

  await terminal.quietFor(200);
  expect(terminal.promptIds).toHaveLength(2);
});

test("[PTY-36] a reader that has woken for what was typed and waits again asks anew at once", async () => {
  const terminal = new Painted();
  const promptId = await terminal.asks(1);

  terminal.inputs += 1;
  terminal.between.push(NEXT_WAIT);
  await terminal.quietFor(30);

  expect(terminal.promptIds).toEqual([promptId, expect.any(String)]);
});
