/** Commands of chats, at a real hub. */
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { asking, started } from "../prompts/asking-hub.ts";
import { ann, bound, button, chatHubOfFile } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

test("[CHN-120, CHN-121] a thread lists sessions, uses one by number or id, tells its state and leaves", async () => {
  const hub = await paired(ann);
  const say = async (text: string) => (await hub.chat.says(ann, "t", text)).notice ?? "";
  const none = await say("/sessions");
  const unlisted = await say("/use 1");
  const one = await started(hub.agent, "cat");
  const two = await asking(hub, "read -p 'Go? [Y/n] ' x");

  const listed = await say("!sessions");
  await started(hub.agent, "cat");
  const used = await say("/use 2");
  const status = await say("/status");
  const named = await say(`/use ${one.sessionId.slice(0, 8)}`);
  const wrong = await say("/use ffffffff");
  const left = await say("/leave");

  expect([none, unlisted]).toEqual(["No sessions.", "No such number. See /sessions"]);
  expect(listed.split("\n")).toHaveLength(3);
  expect(used).toContain(two.sessionId.slice(0, 8));
  expect(status).toContain("asks: Go? [Y/n]");
  expect(status).toContain("The agent agent has control.");
  expect(named).toContain(one.sessionId.slice(0, 8));
  expect([wrong, left]).toEqual(["No such session. See /sessions", "This thread talks to no session now."]);
  expect(await say("/status")).toBe("This thread talks to no session. See /sessions");
});

test("[CHN-122, CHN-117] control is taken and granted from a thread, and an agent's request is decided once by its card", async () => {
  const hub = await paired(ann);
  const { sessionId } = await started(hub.agent, "cat");
  await bound(hub, "t", sessionId);
  const say = async (text: string) => (await hub.chat.says(ann, "t", text)).notice ?? "";
  const state = () => hub.person.control.get({ sessionId });

  const taken = await say("/take");
  const held = await state();
  await hub.agent.control.request({ sessionId, reason: "to go on" });
  const early = await button(hub, "t", "Grant 15 min");
  const declined = await hub.chat.presses(ann, "t", await button(hub, "t", "Decline"));
  const unasked = await hub.chat.presses(ann, "t", early);
  await hub.agent.control.request({ sessionId, reason: "please" });
  const grant = await eventually(async () => {
    const action = await button(hub, "t", "Grant 15 min");
    expect(action).not.toBe(early);
    return action;
  });
  const granted = await hub.chat.presses(ann, "t", grant);
  const given = await state();
  const again = await hub.chat.presses(ann, "t", grant);
  await say("/interrupt");

  expect(taken).toContain("You have control.");
  expect(held).toMatchObject({ control_mode: "USER", holder: { id: "telegram:1" } });
  expect([unasked, declined, granted, again].map(({ notice }) => notice)).toEqual([
    "No longer asked.",
    "Declined.",
    "agent has control for 15 min.",
    "No longer asked.",
  ]);
  expect(given).toMatchObject({ control_mode: "AGENT", lease_seconds: 900, granted_by: "telegram:1" });
  await eventually(async () => expect((await state()).user_intent).toBe("SAFE_INTERRUPT"));
  expect(await say("/grant 0")).toContain("at most 60");
  expect(await say("/grant 5")).toContain("has control for 5 min.");
});

test("[CHN-117, CHN-123] approvals are listed and decided by their cards, once", async () => {
  const hub = await paired(ann);
  const ask = () => hub.agent.approval.request({ kind: "tool", payload: { command: "ls" } });
  const one = await ask();
  const approve = await button(hub, "home-1", "Approve");
  await ask();
  const reject = await eventually(async () => {
    expect(hub.chat.shown.filter(({ card }) => card.kind === "approval")).toHaveLength(2);
    return button(hub, "home-1", "Deny");
  });
  const listed = await hub.chat.says(ann, "t", "/approvals");

  const answers = [
    await hub.chat.presses(ann, "home-1", approve),
    await hub.chat.presses(ann, "home-1", approve),
    await hub.chat.presses(ann, "home-1", reject),
    await hub.chat.says(ann, "t", "/approvals"),
  ];

  expect(listed.notice?.split("\n")).toHaveLength(3);
  expect(answers.map(({ notice }) => notice)).toEqual([
    "Approved.",
    "No longer asked.",
    "Rejected.",
    "Nothing waits for a decision.",
  ]);
  expect(await hub.person.approval.get({ requestId: one.requestId })).toMatchObject({ resolvedBy: "telegram:1" });
});

test("[CHN-123] whatever an agent writes, it is one line of the list", async () => {
  const hub = await paired(ann);
  await hub.agent.approval.request({ kind: "tool", action: "look\nNothing waits for a decision.", payload: {} });

  const { notice = "" } = await hub.chat.says(ann, "t", "/approvals");

  expect(notice.split("\n")).toEqual([
    "• look Nothing waits for a decision. (medium risk), asked by agent",
    "Decide with the buttons of their messages.",
  ]);
});
