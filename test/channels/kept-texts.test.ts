/** Texts that were under way while questions came and went, at a real hub with real terminals. */
import { expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { eventually } from "../support/eventually.ts";
import { asking, pendingIn, prints } from "../prompts/asking-hub.ts";
import { ann, bob, bound, type ChatHub, chatHubOfFile } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

const UNSEEN =
  "Your message was written before this question was asked, so it was not sent. Send it again if it answers it.";
const OUTDATED = "Your message was written before that, so it was not sent. Send it again if it is for the program.";

const inputsOf = async (hub: ChatHub, sessionId: string) => {
  const inputs = await hub.person.event.list({ sessionId, types: ["input"], limit: 5000 });
  return inputs.map(({ payload, source }) => [payload["text"], source.id]);
};

const TWO = "read -p 'Install it? [y/N] ' x; read -p 'Erase the disk? [y/N] ' y; echo GOT $x $y.";

test("[CNV-31] a text that the platform kept doesn't answer a question that came after it, unless it is sent again", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, TWO);
  await bound(hub, "t", it.sessionId);
  const { prompt_id, nonce } = it.prompt;
  await hub.person.prompt.reply({ prompt_id, nonce, value: "y" });
  const next = await pendingIn(hub.person, it.sessionId, it.prompt);
  hub.chat.writtenAt = Date.parse(next.asked_at) - 1;

  const kept = [await hub.chat.says(ann, "t", "y"), await hub.chat.says(ann, "t", "yes")];
  const before = await inputsOf(hub, it.sessionId);
  hub.chat.writtenAt = undefined;
  const again = await hub.chat.says(ann, "t", "n");

  expect(kept).toEqual([{ notice: UNSEEN }, { notice: UNSEEN }]);
  expect(before).toEqual([["y\r", "operator"]]);
  expect(again).toEqual({});
  await prints(hub.agent, it, "GOT y N.");
  expect([...hub.chat.messages.values()]).toEqual(expect.arrayContaining(["y", "yes", "n"]));
});

test("[CNV-31] of two who answer at once the second answers nothing that was asked after the first", async () => {
  const hub = await paired(ann, bob);
  const it = await asking(hub, TWO);
  await bound(hub, "t", it.sessionId);

  const [first, second] = await Promise.all([hub.chat.says(ann, "t", "y"), hub.chat.says(bob, "t", "y")]);

  expect(first).toEqual({});
  expect([UNSEEN, `Ann answered first. ${OUTDATED}`]).toContain(second.notice);
  await pendingIn(hub.person, it.sessionId, it.prompt);
  expect(await inputsOf(hub, it.sessionId)).toEqual([["y\r", "telegram:1"]]);
});

test("[CNV-31] a text that was written while a question stood is not typed ahead when that is over; where a clock is wrong, once it is sent again", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, "read -p 'Go? [y/N] ' x; while read -e x; do echo \"GOT $x.\"; done");
  await bound(hub, "t", it.sessionId);
  const { prompt_id, nonce } = it.prompt;
  await hub.person.prompt.reply({ prompt_id, nonce, value: "y", wait_ms: OUTCOME_WAIT_MAX_MS });
  const [decision] = await hub.person.event.list({ sessionId: it.sessionId, types: ["prompt_decision"] });
  hub.chat.writtenAt = Date.parse(decision!.timestamp);

  const kept = [await hub.chat.says(ann, "t", "y"), await hub.chat.says(ann, "t", "y")];
  const before = await inputsOf(hub, it.sessionId);

  const notice = `operator answered first. ${OUTDATED}`;
  expect(kept).toEqual([{ notice }, { notice }]);
  expect(before).toEqual([["y\r", "operator"]]);
  await eventually(async () => {
    const { notice: again } = await hub.chat.says(ann, "t", "check");
    expect(['Sent: "check"', "Queued for next turn."]).toContain(again);
  });
  await prints(hub.person, it, "GOT check.");
});
