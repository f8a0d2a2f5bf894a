/** Sessions that come and go, as people in Telegram see it. */
import { beforeAll, expect, test } from "vitest";
import { started } from "../prompts/asking-hub.ts";
import { eventually } from "../support/eventually.ts";
import { ann, type EndToEnd, openEndToEnd, Topic } from "./e2e-stage.ts";

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd();
  stage = opened;
  return stop;
});

test("[CHN-31, CHN-120, CNV-4] a session's start comes to the home with the way to it; what it prints and its end to who follows that", async () => {
  const home = new Topic(stage.telegram, ann.id);
  const it = await started(stage.agent, "read -e x; echo The build has finished without any errors.; exit 3");
  const start = await home.message("A terminal session has started for agent.");
  const [use = ""] = /\/use \w+/.exec(start.text) ?? [];
  const topic = new Topic(stage.telegram);
  topic.says(use);
  await topic.message("This thread talks to");
  topic.says("go on");

  await topic.message("The build has finished");
  await topic.message("The session has ended (exited, exit code 3).");
  expect(use).toBe(`/use ${it.sessionId.slice(0, 8)}`);
  expect(home.texts().filter((text) => text.includes("has started"))).toHaveLength(1);
  expect(home.texts().filter((text) => text.includes("has ended"))).toEqual([]);
  await eventually(async () => {
    const thread = { channel: "telegram", thread_id: topic.threadId };
    await expect(stage.person.conversation.resolve(thread)).rejects.toMatchObject({ code: "not_found" });
  });
});
