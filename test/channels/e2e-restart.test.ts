/** The hub is killed while a question stands in Telegram. */
import { expect, onTestFinished, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { prints } from "../prompts/asking-hub.ts";
import { headingOf, posted } from "../prompts/secret-page.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTestHub } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest } from "../support/terminal-hub.ts";
import { ann, pairTelegram, talkingTo } from "./e2e-stage.ts";
import { TelegramServer } from "./telegram-server.ts";

const ANEW = "It was asked anew meanwhile, and nothing was sent. Please answer again.";

async function startKillable() {
  const telegram = await TelegramServer.start();
  onTestFinished(() => telegram[Symbol.asyncDispose]());
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const start = async () => {
    const { url, kill } = await spawnTestHub(dataDir, [], "terminal-hub");
    const agent = await clientOf(url, dataDir, "agent");
    return { kill, dataDir, telegram, agent, person: await clientOf(url, dataDir, "operator") };
  };
  return start;
}

/** That the card is shown is stored: a hub that dies between both shows it again (CHN-13). */
const recorded = (person: SidestickClient) =>
  eventually(async () => expect(await person.channel.list()).toMatchObject([{ waiting: 0 }]));

test("[PMT-105, CHN-19, CHN-33] killed while a question waits: not lost, not answered twice, the same card means the new offer", async () => {
  const start = await startKillable();
  const first = await start();
  await pairTelegram(first);
  const it = await talkingTo(first, "read -p 'Continue? [Y/n] ' x; echo GOT $x.; sleep 600");
  const card = await it.topic.card("No");
  const [before] = await first.person.prompt.list({ status: "pending" });
  await recorded(first.person);
  await first.kill("SIGKILL");
  // Said to nobody: Telegram keeps it until somebody asks.
  const pressed = first.telegram.presses(ann, card.ref, "No");

  const second = await start();
  // Whether it came before or after the new offer, it is one or the other.
  if ((await pressed) !== "Sent: n + Enter") await it.topic.presses("No");
  await prints(second.agent, it, "GOT n.");
  const decided = await it.topic.message("Continue? [Y/n]", "Answered by Ann");

  const { nonce, status } = await second.person.prompt.get({ prompt_id: before?.prompt_id ?? "" });
  expect(["Sent: n + Enter", ANEW]).toContain(await pressed);
  expect([status, nonce === before?.nonce]).toEqual(["answered", false]);
  expect([decided.ref, decided.buttons]).toEqual([card.ref, []]);
  expect(it.topic.texts().filter((text) => text.includes("Continue?"))).toHaveLength(1);
  const inputs = await second.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(inputs.map(({ payload }) => payload["text"])).toEqual(["n\r"]);
});

test("[PMT-105, CHN-2, CHN-33] killed while a password waits: the card is edited to the new offer's link", async () => {
  const start = await startKillable();
  const first = await start();
  await pairTelegram(first);
  const it = await talkingTo(
    first,
    `python3 -c "import getpass; print('LENGTH', len(getpass.getpass('Key: ')))"`,
    ann.id,
  );
  const card = await it.topic.message("Key:", "/secret/");
  await recorded(first.person);
  await first.kill("SIGKILL");

  const second = await start();
  await eventually(() => {
    const now = it.topic.shown().find(({ ref }) => ref === card.ref);
    expect(now?.text).toContain("/secret/");
    expect(now?.text).not.toBe(card.text);
  });
  const [link = ""] =
    /http:\S+\/secret\/[\w-]+/.exec(it.topic.shown().find(({ ref }) => ref === card.ref)?.text ?? "") ?? [];
  const supplied = await posted(link, "hunter2 hunter2");

  await prints(second.agent, it, "LENGTH 15");
  expect(headingOf(supplied)).toBe("200 Supplied. You can close this page.");
});
