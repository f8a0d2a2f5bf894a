/** A question that stands longer than activity is kept. */
import { expect, test } from "vitest";
import { DEADLINE_MS } from "../support/deadline.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { endHostAfterTest } from "../support/terminal-hub.ts";
import { ANN, DAY_MS, openAskingDesks } from "./asking-desks.ts";

test("[PMT-107] No lost prompts: what still waits outlives what is kept of activity, and a restart after it", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  let shiftMs = 0;
  const clock = { now: () => Date.now() + shiftMs };
  const before = await openAskingDesks(dataDir, { clock });
  await before.run("old", "echo before; read -p 'Continue? [Y/n] ' x; echo GOT $x.");
  const [asked] = await eventually(() => {
    const pending = before.desks.prompts.list("pending");
    expect(pending).toHaveLength(1);
    return pending;
  });
  await eventually(async () => {
    const printed = await before.desks.log.read({ types: ["stdout"], limit: 100 });
    expect(JSON.stringify(printed)).toContain("Continue?");
  });
  shiftMs = 50 * DAY_MS;

  await before.desks.retention.run();
  const kept = await before.desks.log.read({ types: ["stdout", "prompt"], limit: 100 });
  await before.close();
  const after = await openAskingDesks(dataDir, { clock });

  const [again] = after.desks.prompts.list("pending");
  await after.desks.replies.reply(
    { promptId: again!.promptId, nonce: again!.nonce, reply: { by: "text", text: "no" } },
    ANN,
  );
  const settled = await after.desks.prompts.settled(again!.promptId, AbortSignal.timeout(DEADLINE_MS));
  shiftMs = 100 * DAY_MS;
  await after.desks.retention.run();
  const left = await after.desks.log.read({ types: ["prompt", "prompt_request"], limit: 100 });
  await after.close();

  expect(kept.map(({ type }) => type)).toEqual(["prompt"]);
  expect(again).toMatchObject({ promptId: asked?.promptId, askedAt: asked?.askedAt, question: "Continue? [Y/n]" });
  expect(again?.nonce).not.toBe(asked?.nonce);
  expect(settled).toMatchObject({ status: "answered", outcome: "advanced" });
  // The shell's own prompt came while the clock had gone on already.
  expect(left.filter(({ payload }) => payload["kind"] !== "shell")).toEqual([]);
});
