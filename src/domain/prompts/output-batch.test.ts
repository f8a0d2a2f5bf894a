import fc from "fast-check";
import { expect, test } from "vitest";
import {
  BATCH_MS,
  collect,
  EMPTY_BATCH,
  flush,
  MESSAGE_CHARACTERS_MAX,
  MESSAGES_PER_MINUTE,
  type OutputBatch,
} from "./output-batch.ts";
import { routeOutput } from "./output-router.ts";

test("[PMT-92] with raw output on everything but noise is a program's", () => {
  expect(routeOutput("I'll read the code first.\n", { showRaw: true })).toBe("CLI_OUTPUT");
  expect(routeOutput("\n  \n", { showRaw: true })).toBe("NOISE");
});

test("[PMT-91] drawing without a letter is noise", () => {
  expect(routeOutput("─".repeat(40), { showRaw: false })).toBe("NOISE");
});

test("[PMT-95] output waits for its two seconds and for ten characters", () => {
  const batch = collect(collect(EMPTY_BATCH, "one two ", 0), "three four", 1_500);
  expect(flush(batch, BATCH_MS - 1).message).toBeUndefined();
  expect(flush(batch, BATCH_MS).message).toEqual({ text: "one two three four", omitted: 0 });

  const little = flush(collect(EMPTY_BATCH, "ok ", 0), BATCH_MS);
  expect(little.message).toBeUndefined();
  expect(flush(collect(little.batch, "and there is more", 3_000), 3_000).message?.text).toBe("ok and there is more");
});

test("[PMT-96] a long batch keeps its end and says what is missing", () => {
  const { message } = flush(collect(EMPTY_BATCH, `${"x".repeat(5_000)}Continue? [y/N] `, 0), BATCH_MS);
  expect(message?.text.length).toBeLessThanOrEqual(MESSAGE_CHARACTERS_MAX);
  expect(message?.text.startsWith(`… ${message.omitted} characters left out …\n`)).toBe(true);
  expect(message?.text.endsWith("Continue? [y/N] ")).toBe(true);
});

test("[PMT-96] a character is never cut in half", () => {
  const { message } = flush(collect(EMPTY_BATCH, "😀".repeat(3_000), 0), BATCH_MS);
  expect(message?.text.replace(/^.*\n/u, "")).toMatch(/^(?:😀)+$/u);
});

test("[PMT-97] a minute has fifteen messages, and what comes meanwhile is in the next one", () => {
  let batch: OutputBatch = EMPTY_BATCH;
  let sent = 0;
  for (let second = 0; second < 50; second += 2) {
    const flushed = flush(collect(batch, `line of second ${second}\n`, second * 1_000 - BATCH_MS), second * 1_000);
    batch = flushed.batch;
    sent += flushed.message === undefined ? 0 : 1;
  }
  expect(sent).toBe(MESSAGES_PER_MINUTE);
  expect(flush(batch, 60_000).message?.text).toContain("line of second 48");
});

test("[PMT-98] what was shown and what was left out is all that came", () => {
  const outputs = fc.array(fc.tuple(fc.string({ maxLength: 3_000 }), fc.nat({ max: 5_000 })), { maxLength: 60 });
  fc.assert(
    fc.property(outputs, (steps) => {
      let batch: OutputBatch = EMPTY_BATCH;
      let [time, came, told] = [0, 0, 0];
      for (const [text, pause] of steps) {
        batch = collect(batch, text, time);
        came += text.length;
        time += pause;
        const { batch: next, message } = flush(batch, time);
        batch = next;
        if (message === undefined) continue;
        expect(message.text.length).toBeLessThanOrEqual(MESSAGE_CHARACTERS_MAX);
        const shown = message.omitted === 0 ? message.text : message.text.slice(message.text.indexOf("\n") + 1);
        told += shown.length + message.omitted;
      }
      expect(told + batch.text.length + batch.omitted).toBe(came);
    }),
  );
});

test("[PMT-99] the end sends what is left", () => {
  expect(flush(collect(EMPTY_BATCH, "ok\n", 0), 1, { final: true }).message).toEqual({ text: "ok\n", omitted: 0 });
  expect(flush(collect(EMPTY_BATCH, " \n", 0), 1, { final: true }).message).toBeUndefined();
});
