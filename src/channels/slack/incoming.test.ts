import { describe, expect, test } from "vitest";
import { incomingOf } from "./incoming.ts";

const BOUND = new Set(["C1/1.0", "C2"]);
const ours = { botId: "UBOT", isBound: (threadId: string) => BOUND.has(threadId) };
const said = { type: "message", channel: "D1", user: "UANN", text: "y", ts: "5.0" };

describe("words", () => {
  test("[CHN-76, CHN-82] in a direct message the conversation is the thread, also for a reply in it", () => {
    const heard = {
      id: "Ev1",
      threadId: "D1",
      user: { id: "UANN", name: "UANN" },
      ref: "5.0",
      kind: "text",
      text: "y",
      writtenAt: 5_000,
    };
    expect(told(said)).toEqual(heard);
    expect(told({ ...said, thread_ts: "4.0" })).toEqual(heard);
  });

  test("[CNV-31, CHN-45] a text counts from the begin of its millisecond", () => {
    expect(told({ ...said, ts: "5.001900" })).toMatchObject({ writtenAt: 5_001 });
  });

  test.each([
    { what: "in a bound thread", event: { channel: "C1", thread_ts: "1.0" }, threadId: "C1/1.0" },
    { what: "in another thread", event: { channel: "C1", thread_ts: "2.0" }, threadId: undefined },
    { what: "in a channel that isn't bound", event: { channel: "C1" }, threadId: undefined },
    { what: "in a bound channel", event: { channel: "C2" }, threadId: "C2" },
    {
      what: "under a stranger's message in a bound channel",
      event: { channel: "C2", thread_ts: "4.0", parent_user_id: "UBOB" },
      threadId: undefined,
    },
    {
      what: "under a card in a bound channel",
      event: { channel: "C2", thread_ts: "4.0", parent_user_id: "UBOT" },
      threadId: "C2",
    },
    {
      what: "under a card in a bound thread",
      event: { channel: "C1", thread_ts: "1.0", parent_user_id: "UBOT" },
      threadId: "C1/1.0",
    },
  ])("[CHN-76, CHN-80] $what: $threadId", ({ event, threadId }) => {
    expect(told({ ...said, ...event })?.threadId).toBe(threadId);
  });

  test.each([
    ["<@UBOT> status", "status"],
    ["<@UBOT|sidestick>: a &amp; b", "a & b"],
    ["please, <@UBOT>, stop", "please,   stop"],
  ])("[CHN-80] a mention counts anywhere, without the mention: %s", (text, heard) => {
    expect(told({ ...said, type: "app_mention", channel: "C9", text })).toMatchObject({ threadId: "C9", text: heard });
  });

  test("[CHN-80] a mention that is told as a message too counts once; alone it says nothing", () => {
    expect(told({ ...said, channel: "C2", text: "<@UBOT> y" })).toBeUndefined();
    expect(told({ ...said, type: "app_mention", channel: "C2", text: "<@UBOT>" })).toBeUndefined();
  });

  test.each([
    { bot_id: "B1" },
    { user: "UBOT" },
    { user: undefined },
    { subtype: "message_changed" },
    { subtype: "message_deleted" },
    { subtype: "channel_join" },
    { subtype: "bot_message" },
    { text: "" },
    { type: "reaction_added" },
  ])("[CHN-78] %j is nobody's answer", (event) => {
    expect(told({ ...said, ...event })).toBeUndefined();
  });

  test.each(["thread_broadcast", "file_share"])("[CHN-78] %s holds words of a person", (subtype) => {
    expect(told({ ...said, subtype })?.kind).toBe("text");
  });
});

describe("presses", () => {
  const press = {
    type: "block_actions",
    user: { id: "UANN", name: "ann" },
    channel: { id: "C1" },
    message: { ts: "7.0", thread_ts: "1.0" },
    actions: [{ value: "1a.0", action_ts: "8.5" }],
  };

  test("[CHN-76, CHN-82] a press is known by its card, its time and its person", () => {
    expect(pressed(press)).toEqual({
      id: "7.0:8.5:UANN",
      threadId: "C1/1.0",
      user: { id: "UANN", name: "ann" },
      ref: "7.0",
      kind: "press",
      action: "1a.0",
    });
  });

  test("[CHN-76] on a card that was answered in a thread of its own, it is the channel's", () => {
    expect(pressed({ ...press, message: { ts: "7.0", thread_ts: "7.0" } })?.threadId).toBe("C1");
    expect(pressed({ ...press, message: { ts: "7.0" } })?.threadId).toBe("C1");
    expect(pressed({ ...press, channel: { id: "D1" } })?.threadId).toBe("D1");
  });

  test.each([
    { actions: [{ action_ts: "8.5", url: "http://127.0.0.1" }] },
    { actions: [] },
    { type: "view_submission" },
    { message: undefined },
  ])("[CHN-74, CHN-78] %j tells nothing", (other) => {
    expect(pressed({ ...press, ...other })).toBeUndefined();
  });

  test("[CHN-78] other envelopes tell nothing", () => {
    expect(incomingOf({ type: "slash_commands", body: press }, ours)).toBeUndefined();
  });

  function pressed(body: unknown) {
    return incomingOf({ type: "interactive", body }, ours);
  }
});

function told(event: unknown) {
  return incomingOf({ type: "events_api", body: { event_id: "Ev1", event } }, ours);
}
