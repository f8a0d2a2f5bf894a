/** A program that doesn't react to its answer. */
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { prints } from "../prompts/asking-hub.ts";
import { type EndToEnd, openEndToEnd, talkingTo } from "./e2e-stage.ts";

/** Takes the third key for an answer. */
const DEAF = `python3 ${fileURLToPath(new URL("../fixtures/programs/deaf.py", import.meta.url))} 3`;

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd();
  stage = opened;
  return stop;
});

test("[PMT-72, PMT-116, CHN-18] a stall is told, tried once more, escalated and asked anew; all of it in the chat, in order", async () => {
  const it = await talkingTo(stage, DEAF);
  const first = await it.topic.card("Enter");
  await it.topic.presses("Enter");
  await it.topic.message("after retries. Please respond locally.");
  const again = await it.topic.card("Enter");
  const inputs = await stage.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  await it.topic.presses("Enter");
  await prints(stage.agent, it, "HEARD");
  await it.topic.message("CLI advanced");

  expect(inputs.map(({ payload }) => payload["bytes"])).toEqual([1, 1]);
  expect(again.ref).not.toBe(first.ref);
  expect(it.topic.texts().flatMap((text) => /(?:Sent:|CLI) .*$/m.exec(text)?.[0] ?? [])).toEqual([
    "Sent: Enter",
    "CLI did not respond to Enter, retrying...",
    "CLI did not respond to Enter after retries. Please respond locally.",
    "Sent: Enter",
    "CLI advanced",
  ]);
}, 60_000);
