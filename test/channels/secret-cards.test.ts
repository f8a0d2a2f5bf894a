/** Cards of questions that want a secret: their link is a credential, and stands in the chat alone. */
import { expect, test } from "vitest";
import { SlackChannel } from "../../src/channels/slack/slack-channel.ts";
import { TelegramChannel } from "../../src/channels/telegram/telegram-channel.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { asking } from "../prompts/asking-hub.ts";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { ann, bob, bound, type ChatHub, chatHubOfFile } from "./chat-hub.ts";

const { paired } = chatHubOfFile();

/** The card of a question, once it stands in a thread. */
function cardIn({ chat }: ChatHub, threadId: string) {
  return eventually(() => {
    const found = chat.shown.find((it) => it.threadId === threadId && it.card.kind === "prompt");
    expect(found).toBeDefined();
    return found!.card;
  });
}

test("[PMT-140] the link of a card is in no file of the hub and no event, and works", async () => {
  const hub = await paired(ann);
  await asking(hub, "read -s -p 'Token: ' x");
  const url = await eventually(() => {
    const link = hub.chat.shown.find(({ card }) => card.kind === "prompt")?.card.link;
    expect(link?.url).toMatch(/\/secret\/[\w-]{43}$/);
    return link?.url ?? "";
  });
  const secret = url.slice(url.lastIndexOf("/") + 1);

  const files = Object.entries(await storedFiles(hub.dataDir));

  expect(files.filter(([, text]) => text.includes(secret)).map(([path]) => path)).toEqual([]);
  expect(JSON.stringify(await hub.agent.event.list({ limit: 5000 }))).not.toContain(secret);
  expect((await fetch(url)).status).toBe(200);
});

test("[CHN-139] in a group the card of a secret has no link, and says where else it can be given", async () => {
  const hub = await paired(ann);
  const it = await asking(hub, "read -s -p 'Token: ' x");
  await bound(hub, "group", it.sessionId);

  const card = await cardIn(hub, "group");

  expect(card.link).toBeUndefined();
  expect(card.facts).toContainEqual({ name: "Answer", value: expect.stringContaining("`sidestick answer`") });
  expect((await cardIn(hub, "home-1")).link?.url).toContain("/secret/");
});

test.each([
  {
    what: "a person",
    end: (hub: ChatHub) => hub.person.channel.remove_person({ name: "telegram", person_id: ann.id }),
  },
  { what: "the channel", end: (hub: ChatHub) => hub.person.channel.remove({ name: "telegram" }) },
])("[CHN-139] the links that stand in a channel's chats are over when $what is removed", async ({ end }) => {
  const hub = await paired(ann, bob);
  await asking(hub, "read -s -p 'Token: ' x");
  const url = (await cardIn(hub, "home-1")).link?.url ?? "";
  const before = await fetch(url);

  await end(hub);

  expect([before.status, (await fetch(url)).status]).toEqual([200, 404]);
});

test("[CHN-139] a chat that somebody had left before they were taken off the list is given no new link", async () => {
  const hub = await paired(ann, bob);
  const it = await asking(hub, "read -s -p 'Token: ' x");
  await hub.chat.says(bob, "home-2", `/use ${it.conversation_id}`);
  await cardIn(hub, "home-2");
  await hub.chat.says(bob, "home-2", "/leave");

  await hub.person.channel.remove_person({ name: "telegram", person_id: bob.id });
  const { prompt_id, nonce } = it.prompt;
  await hub.person.prompt.reply({ prompt_id, nonce, value: "hunter2" });

  await eventually(async () => expect((await cardIn(hub, "home-1")).facts).toContainEqual(DECIDED));
  expect((await cardIn(hub, "home-2")).facts).not.toContainEqual(DECIDED);
});

test("[CHN-139] groups, topics and channels of a platform are no direct chats", () => {
  const logger = createLogger("error", () => undefined);
  const telegram = new TelegramChannel({ token: "1:a", logger });
  const slack = new SlackChannel({ name: "slack", botToken: "b", appToken: "a", isBound: () => true, logger });

  expect(["11", "-11", "-100200300/4"].map((it) => telegram.isPrivate(it))).toEqual([true, false, false]);
  expect(["D1", "C1", "C1/1.0", "G1"].map((it) => slack.isPrivate(it))).toEqual([true, false, false, false]);
});

const DECIDED = { name: "Outcome", value: expect.stringContaining("Answered by") };
