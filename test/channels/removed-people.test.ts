/** Who is taken off a list: what they left behind must not go on for them. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { asking, fallsSilent, started } from "../prompts/asking-hub.ts";
import { ann, bob, bound, type ChatHub, chatHubOfFile } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

const by = { name: "telegram" } as const;

function shownIn({ chat }: ChatHub, threadId: string): string {
  return JSON.stringify(chat.shown.filter((it) => it.threadId === threadId));
}

test("[CHN-103] the direct chat of somebody who is off the list is no home and hears nothing more, a group goes on", async () => {
  const hub = await paired(ann, bob);
  const { sessionId } = await started(hub.agent, "cat");
  await hub.chat.says(ann, "home-1", `/use ${sessionId.slice(0, 8)}`);
  await hub.chat.says(ann, "group", `/use ${sessionId.slice(0, 8)}`);

  await hub.person.channel.remove_person({ ...by, person_id: ann.id });
  await hub.person.session.input({ sessionId, data: "a line that is long enough to be forwarded\n" });
  const other = await asking(hub, "read -p 'Deploy it? [y/N] ' x");
  await eventually(() => expect(shownIn(hub, "group")).toContain("a line that is long enough"));
  const [listed] = await hub.person.channel.list();

  expect(listed).toMatchObject({ people: [{ name: "Bob" }] });
  expect(listed?.home).toBeUndefined();
  expect(shownIn(hub, "home-1")).not.toMatch(/a line that is long enough|Deploy it/);
  expect(other.prompt.status).toBe("pending");
});

test("[CHN-103] a home that is another's, or a group's, stays", async () => {
  const hub = await paired(ann, bob);

  await hub.person.channel.remove_person({ ...by, person_id: bob.id });

  expect(await hub.person.channel.list()).toMatchObject([{ home: "home-1" }]);
});

test("[CHN-103] what somebody said before they were taken off the list, and still waits, is not sent", async () => {
  const hub = await paired(ann, bob);
  const enough = join(await temporaryDirectory(), "enough");
  const ticking = `until [ -e ${enough} ]; do echo tick; sleep 0.1; done; read -e x; sleep 600`;
  const it = await started(hub.agent, ticking);
  const { sessionId } = it;
  await bound(hub, "group", sessionId);
  await eventually(async () => {
    const thread = await hub.person.conversation.resolve({ channel: "telegram", thread_id: "group" });
    expect(thread.state).toBe("STREAMING");
  });
  const queued = [await hub.chat.says(bob, "group", "from bob"), await hub.chat.says(ann, "group", "from ann")];

  await hub.person.channel.remove_person({ ...by, person_id: bob.id });
  await writeFile(enough, "");
  await fallsSilent(hub, it);

  expect(queued.map(({ notice }) => notice)).toEqual(["Queued for next turn.", "Queued for next turn."]);
  await eventually(() => expect(shownIn(hub, "group")).toContain("A queued message was sent."));
  expect(shownIn(hub, "group")).toContain("1 queued message was not sent: its author is off the list.");
  const inputs = await hub.person.event.list({ sessionId, types: ["input"] });
  expect(inputs.map(({ source }) => source.id)).not.toContain("telegram:2");
  expect(inputs.map(({ source }) => source.id)).toContain("telegram:1");
});
