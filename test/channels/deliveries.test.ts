/** Deliveries while the store is in trouble, and what exactly is typed. */
import { expect, onTestFinished, test } from "vitest";
import { StorageFailed } from "../../src/hub/ports.ts";
import { eventually } from "../support/eventually.ts";
import { fallsSilent, started } from "../prompts/asking-hub.ts";
import { ann, bound, chatHubOfFile } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

test("[CHN-107] what can't be remembered is not done", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, "cat");
  await bound(hub, "t", it.sessionId);
  hub.kept.saw = async () => {
    throw new StorageFailed("the disk is full");
  };

  const reaction = await hub.chat.says(ann, "t", "hello");

  expect(reaction.notice).toBe("It could not be stored, so it was not done.");
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toEqual([]);
});

test("[CHN-112] stop and take wait for nothing: not for a store that hangs, nor for what the thread said before", async () => {
  const hub = await paired(ann);
  const it = await started(hub.agent, "cat");
  await bound(hub, "t", it.sessionId);
  const hanging = Promise.withResolvers<undefined>();
  onTestFinished(() => hanging.resolve(undefined));
  hub.kept.seen = () => hanging.promise;
  hub.kept.saw = () => hanging.promise;
  void hub.chat.says(ann, "t", "never answered");

  const taken = await hub.chat.says(ann, "t", "/take");
  const stopped = await hub.chat.says(ann, "t", "/stop");

  expect([taken.notice, stopped.notice]).toEqual([
    "You have control. Programs run on; agents are refused until you grant it.",
    "The agent is stopped, with all that it started. What people started runs on.",
  ]);
  expect(await hub.person.control.get({ sessionId: it.sessionId })).toMatchObject({
    user_intent: "STOP_NOW",
    holder: { kind: "person", id: "telegram:1" },
  });
});

test("[CNV-25] to a program that reads lines chat is one write with its Enter, to one that reads keys it is two", async () => {
  const hub = await paired(ann);
  const typed = async (command: string, threadId: string) => {
    const it = await started(hub.agent, command);
    await bound(hub, threadId, it.sessionId);
    await fallsSilent(hub, it);
    await eventually(async () => {
      const events = await hub.person.event.list({ sessionId: it.sessionId, types: ["quiet"], limit: 5000 });
      expect(events.at(-1)?.payload).toEqual({ ms: 60_000 });
    });
    await hub.chat.says(ann, threadId, "hello");
    return eventually(async () => {
      const inputs = await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] });
      const bytes = inputs.map(({ payload }) => payload["bytes"]);
      expect(bytes.reduce((sum, count) => Number(sum) + Number(count), 0)).toBe("hello\r".length);
      return bytes;
    });
  };

  const several = await hub.chat.says(ann, "t", "one\ntwo");

  expect([await typed("cat", "lines"), await typed("read -e x", "keys")]).toEqual([[6], [5, 1]]);
  expect(several.notice).toBe("Please send one line, without control characters. Nothing was sent.");
});
