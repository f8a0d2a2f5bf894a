/** Chat with a running program and decisions about its plan, from Telegram. */
import { beforeAll, expect, test } from "vitest";
import { fallsSilent, prints } from "../prompts/asking-hub.ts";
import { eventually } from "../support/eventually.ts";
import { type EndToEnd, labelsOf, openEndToEnd, hearing } from "./e2e-stage.ts";

const READER = 'while read -e x; do echo "GOT $x."; done';
const PLAN = String.raw`printf 'Here is my plan:\n\n1. Add a test\n2. Fix the parser\n3. Run the tests\n'`;
const CANCELLATION = "Cancel the current plan. Do not proceed with these steps.";

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd();
  stage = opened;
  return stop;
});

/** Keys that a program reads one by one are not told, only how many. */
const typed = async (sessionId: string) => {
  const events = await stage.person.event.list({ sessionId, types: ["input"] });
  return events.reduce((sum, { payload }) => sum + Number(payload["bytes"]), 0);
};

/** An agent that has printed its plan and reads on. */
async function planned() {
  const it = await hearing(stage, `${PLAN}; ${READER}`);
  const card = await it.topic.card("Execute");
  return { ...it, card };
}

test("[CNV-25, PMT-42] chat mode: what is written is typed as that person's own input, and what the program prints comes back", async () => {
  const it = await hearing(stage, `echo The assistant is ready to take your questions now.; ${READER}`);
  await it.topic.message("The assistant is ready");
  await fallsSilent(stage, it);
  await eventually(async () => {
    const thread = { channel: "telegram", thread_id: it.topic.threadId };
    expect(await stage.person.conversation.resolve(thread)).toMatchObject({ state: "RUNNING" });
  });
  it.topic.says("check the logs");

  await prints(stage.person, it, "GOT check the logs.");
  await it.topic.message('Sent: "check the logs"');
  await it.topic.message("GOT check the logs.");
  expect(await typed(it.sessionId)).toBe("check the logs\r".length);
  expect(await stage.person.control.get({ sessionId: it.sessionId })).toMatchObject({
    control_mode: "USER",
    holder: { id: "telegram:11" },
  });
});

test("[PMT-85, PMT-87, CHN-5] Execute types nothing", async () => {
  const it = await planned();
  const before = await typed(it.sessionId);
  const notice = await it.topic.presses("Execute");
  const decided = await it.topic.message("Here is my plan", "Accepted by Ann");

  expect(labelsOf(it.card.buttons)).toEqual(["Execute", "Modify", "Cancel"]);
  expect(it.card.text).toContain("2. Fix the parser");
  expect(notice).toBe("Plan accepted. Agent continuing.");
  expect([decided.ref, decided.buttons]).toEqual([it.card.ref, []]);
  expect(await typed(it.sessionId)).toBe(before);
});

test("[PMT-85, CNV-24] Modify takes the next message as chat", async () => {
  const it = await planned();
  const notice = await it.topic.presses("Modify");
  await it.topic.message("Here is my plan", "To be modified, said by Ann");
  it.topic.says("without the test");
  await it.topic.message("Queued for next turn.");
  await fallsSilent(stage, it);

  await prints(stage.person, it, "GOT without the test.");
  expect(notice).toBe("Send your modifications as a message.");
});

test("[PMT-86, PMT-87] Cancel types the cancellation with a carriage return", async () => {
  const it = await planned();
  const notice = await it.topic.presses("Cancel");
  await it.topic.message("Here is my plan", "Cancelled by Ann");

  await prints(stage.person, it, `GOT ${CANCELLATION}.`);
  expect(notice).toBe("Plan cancelled.");
  expect(await typed(it.sessionId)).toBe(`${CANCELLATION}\r`.length);
});
