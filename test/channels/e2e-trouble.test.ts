/** Platforms that are busy, broken or repeat themselves, and people whom nobody invited, in the middle of it all. */
import { beforeAll, expect, test } from "vitest";
import { prints } from "../prompts/asking-hub.ts";
import { eventually } from "../support/eventually.ts";
import { ann, type EndToEnd, eve, openEndToEnd, talkingTo } from "./e2e-stage.ts";

let stage: EndToEnd;

beforeAll(async () => {
  // What programs print comes to no chat meanwhile: only what is told of questions.
  const { stop, ...opened } = await openEndToEnd({ batchMs: 3_600_000 });
  stage = opened;
  return stop;
});

const inputs = async (sessionId: string) => {
  const events = await stage.person.event.list({ sessionId, types: ["input"] });
  return events.map(({ payload }) => payload["text"]);
};

test("[CHN-13, CHN-14, CHN-107] 429 and 502 and each update twice: the card comes, the answer goes in once, all is told in order", async () => {
  const { telegram } = stage;
  telegram.fail(["sendMessage"], { status: 429, description: "Too Many Requests: retry after 1", retryAfter: 1 });
  telegram.fail(["sendMessage"], { status: 502 });
  telegram.updates.duplicates = true;
  const it = await talkingTo(stage, "read -p 'Continue? [Y/n] ' x; echo GOT $x.; sleep 600");
  const card = await it.topic.card("No");
  telegram.fail(["editMessageText"], { status: 502 });
  telegram.fail(["sendMessage"], { status: 429, description: "Too Many Requests: retry after 1", retryAfter: 1 });
  const notice = await it.topic.presses("No");
  await prints(stage.agent, it, "GOT n.");
  await it.topic.message("CLI advanced");
  const decided = await it.topic.message("Continue? [Y/n]", "Answered by Ann");
  await eventually(() => expect(telegram.updates.waiting).toBe(0));
  telegram.updates.duplicates = false;

  expect(notice).toBe("Sent: n + Enter");
  expect([decided.ref, decided.buttons]).toEqual([card.ref, []]);
  expect(it.topic.texts().map((text) => text.split("\n")[1])).toEqual([
    "Continue? [Y/n]",
    "Sent: n + Enter",
    "CLI advanced",
  ]);
  expect(await inputs(it.sessionId)).toEqual(["n\r"]);
});

test("[CHN-101, CHN-100] who isn't on the list gets nothing: no word, no answer to a button, no effect", async () => {
  const { telegram } = stage;
  const it = await talkingTo(stage, "read -p 'Continue? [Y/n] ' x; echo GOT $x.; sleep 600");
  const card = await it.topic.card("No");
  // A card that was shown may still be edited, and Ann is told of sessions by herself.
  const words = () =>
    telegram.calls.filter(({ method, payload }) => method.startsWith("send") && String(payload["chat_id"]) !== ann.id);
  const before = words().length;
  for (const text of ["y", "/stop", "/sessions", "/start", "pair ABCD-EFGH"]) it.topic.says(text, eve);
  telegram.says(eve, "hello?");
  const pressed = await telegram.presses(eve, card.ref, "No");
  await eventually(async () => expect(await stage.person.channel.list()).toMatchObject([{ refused: 7 }]));
  await eventually(() => expect(telegram.updates.waiting).toBe(0));

  expect(pressed).toBe("");
  expect(telegram.shown(eve.id).map(({ by }) => by)).toEqual([ann.name]);
  expect(words()).toHaveLength(before);
  expect(await inputs(it.sessionId)).toEqual([]);
  expect(it.topic.shown().filter(({ ref }) => ref === card.ref)).toEqual([card]);
});
