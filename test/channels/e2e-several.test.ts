/** Telegram and Slack at once: who is first wins, and what people decide in either of them. */
import { existsSync } from "node:fs";
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { prints } from "../prompts/asking-hub.ts";
import { eventually } from "../support/eventually.ts";
import { bob, DIRECT, type EndToEnd, openEndToEnd, slackCard, slackShown, talkingTo, Topic } from "./e2e-stage.ts";

const POLICY = `extends: none
default: auto
unclear: auto
rules:
  - { id: asks, command: touch, decision: ask, risk: high, reason: leaves something behind }
`;

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd({ slack: true, policy: { yaml: POLICY } });
  stage = opened;
  return stop;
});

const slackBound = (session_id: string) =>
  stage.person.conversation.bind({ channel: "slack", thread_id: DIRECT, session_id });

test("[CHN-17, CHN-116, CHN-6] a question is in both; the first answer wins, and the other card says who and has no buttons any more", async () => {
  const it = await talkingTo(stage, "read -p 'Go on? [Y/n] ' x; echo GOT $x.; sleep 600");
  await slackBound(it.sessionId);
  const inTelegram = await it.topic.card("Yes");
  const inSlack = await slackCard(stage, "No");
  stage.slack.presses(bob.id, inSlack.ts, "No");

  await prints(stage.agent, it, "GOT n.");
  const told = await it.topic.message("Go on? [Y/n]", "Answered by Bob");
  const here = await eventually(() => {
    const found = slackShown(stage).find(({ ts }) => ts === inSlack.ts);
    expect(found?.facts.join(" ")).toContain("Answered by Bob");
    return found;
  });

  expect([told.ref, told.buttons, here?.buttons]).toEqual([inTelegram.ref, [], []]);
  await it.topic.message("CLI advanced");
  await eventually(() => expect(slackShown(stage).map(({ text }) => text)).toContain("CLI advanced"));
  const inputs = await stage.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(inputs.map(({ source }) => source.id)).toEqual(["slack:UBOB"]);
});

test("[CHN-117, CHN-4, APR-9] an agent's command that needs approval: the card is in both, approved in Slack it runs, once", async () => {
  const home = new Topic(stage.telegram, "11");
  const proof = `${stage.dataDir}/deployed`;
  const run = stage.agent.pty.exec_block({
    conversation_id: "approved-by-chat",
    command: `touch ${proof}; echo DEPLOYED`,
    wait_ms: WAIT_BUDGET_MS,
  });
  const inTelegram = await home.card("Approve");
  const inSlack = await slackCard(stage, "Approve");
  expect(existsSync(proof)).toBe(false);
  stage.slack.presses(bob.id, inSlack.ts, "Approve");

  expect(await run).toMatchObject({ output: "DEPLOYED\n", exit_code: 0 });
  const told = await home.message("Approved by Bob");
  expect(existsSync(proof)).toBe(true);
  expect(inTelegram.text).toContain(proof);
  expect([told.ref, told.buttons]).toEqual([inTelegram.ref, []]);
  const [decided] = await stage.person.approval.list({ status: "approved" });
  expect(decided).toMatchObject({ resolvedBy: "slack:UBOB" });
});

test("[CHN-117, CHN-122, CHN-112] control from chat: lent by a button, paused and stopped by commands", async () => {
  const it = await talkingTo(stage, "cat");
  const { sessionId } = it;
  const state = () => stage.person.control.get({ sessionId });
  it.topic.says("/take");
  await it.topic.message("You have control.");
  const taken = await state();
  await stage.agent.control.request({ sessionId, reason: "to go on" });
  const granted = await it.topic.presses("Grant 15 min");
  const lent = await state();
  await it.topic.message("asks for control", "Granted by Ann");
  it.topic.says("/interrupt");
  await it.topic.message("The agent will pause at its next safe point.");
  const interrupted = await state();
  it.topic.says("/stop");
  await it.topic.message("The agent is stopped");

  expect([taken.control_mode, granted, lent.control_mode]).toEqual(["USER", "agent has control for 15 min.", "AGENT"]);
  expect(lent.granted_by).toBe("telegram:11");
  expect(interrupted.user_intent).toBe("SAFE_INTERRUPT");
  expect(await state()).toMatchObject({ user_intent: "STOP_NOW" });
  await eventually(async () => expect((await state()).agent_status).toBe("STOPPED"));
});
