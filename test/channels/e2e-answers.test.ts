/** A real program asks; a person presses a button or writes in Telegram; the program goes on, and the chat says so. */
import { beforeAll, expect, test } from "vitest";
import { prints } from "../prompts/asking-hub.ts";
import { type EndToEnd, labelsOf, openEndToEnd, talkingTo } from "./e2e-stage.ts";

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd();
  stage = opened;
  return stop;
});

const inputs = async (sessionId: string) => {
  const events = await stage.person.event.list({ sessionId, types: ["input"] });
  return events.map(({ payload, source }) => [payload["text"], source.id]);
};

test.each([
  {
    name: "yes or no",
    run: "read -p 'Overwrite all files? [y/N] ' x; echo GOT $x.; sleep 600",
    buttons: ["Yes", "No"],
    press: "Yes",
    sent: "Sent: y + Enter",
    got: "GOT y.",
    typed: "y\r",
  },
  {
    name: "Enter",
    run: "read -p 'Press Enter to continue... ' x; echo GOT $x.; sleep 600",
    buttons: ["Enter"],
    press: "Enter",
    sent: "Sent: Enter",
    got: "GOT .",
    typed: "\r",
  },
  {
    name: "a choice",
    run: "select x in red green blue; do echo GOT $x.; break; done; sleep 600",
    buttons: ["1. red", "2. green", "3. blue"],
    press: "2. green",
    sent: "Sent: option 2 + Enter",
    got: "GOT green.",
    typed: "2\r",
  },
])(
  "[CHN-18, CHN-115, PMT-110] $name: a card with buttons; pressed, it is typed, told to advance, and the card says who answered",
  async ({ run, buttons, press, sent, got, typed }) => {
    const it = await talkingTo(stage, run);
    const card = await it.topic.card(press);
    const notice = await it.topic.presses(press);

    await prints(stage.agent, it, got);
    await it.topic.message("CLI advanced");
    const decided = await it.topic.message("Answered by Ann");

    expect(labelsOf(card.buttons)).toEqual(buttons);
    expect(card.text).toContain("Asked by: bash");
    expect(notice).toBe(sent);
    expect([decided.ref, decided.buttons]).toEqual([card.ref, []]);
    expect(it.topic.texts().filter((text) => text.includes(sent))).toHaveLength(1);
    expect(await inputs(it.sessionId)).toEqual([[typed, "telegram:11"]]);
  },
);

test("[CHN-1, CHN-108, PMT-110] free text: the card says to write; what is written is typed and told once", async () => {
  const it = await talkingTo(stage, "read -p 'Name of the branch: ' x; echo GOT $x.; sleep 600");
  // What the program prints may be told before its card.
  const card = await it.topic.message("Name of the branch:", "Answer: with a message");
  it.topic.says("deploy staging");

  await prints(stage.agent, it, "GOT deploy staging.");
  await it.topic.message("CLI advanced");
  const decided = await it.topic.message("Answered by Ann");

  expect(card.buttons).toEqual([]);
  expect(decided.ref).toBe(card.ref);
  expect(it.topic.texts().filter((text) => text.includes('Sent: "deploy staging" + Enter'))).toHaveLength(1);
  expect(await inputs(it.sessionId)).toEqual([["deploy staging\r", "telegram:11"]]);
});

test("[PMT-51, CNV-7] an answer in words is understood, and what is none is asked back without typing anything", async () => {
  const it = await talkingTo(stage, "read -p 'Continue? [Y/n] ' x; echo GOT $x.; sleep 600");
  await it.topic.card("Yes");
  it.topic.says("perhaps");
  await it.topic.message("yes or no");
  const before = await inputs(it.sessionId);
  it.topic.says("Nein");

  await prints(stage.agent, it, "GOT n.");
  expect(before).toEqual([]);
});

test("[PMT-101, PMT-76] two questions one millisecond apart are two cards, each with its answer", async () => {
  const python = `import time; x = input('First? [y/n] '); time.sleep(0.001); y = input('Second? [y/n] '); print('GOT', x, y + '.')`;
  const it = await talkingTo(stage, `python3 -c "${python}"; sleep 600`);
  await it.topic.message("First? [y/n]");
  const first = await it.topic.presses("Yes");
  await it.topic.message("Second? [y/n]");
  const second = await it.topic.presses("No");

  await prints(stage.agent, it, "GOT y n.");
  await it.topic.message("First? [y/n]", "Answered by Ann");
  await it.topic.message("Second? [y/n]", "Answered by Ann");
  expect([first, second]).toEqual(["Sent: y + Enter", "Sent: n + Enter"]);
  expect(await inputs(it.sessionId)).toEqual([
    ["y\r", "telegram:11"],
    ["n\r", "telegram:11"],
  ]);
});
