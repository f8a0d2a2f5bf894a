/** The command line as the way to connect a chat platform. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { startOnTerminal } from "../support/cli-on-terminal.ts";
import { eventually } from "../support/eventually.ts";
import { runCli, runCliHere } from "../support/run-cli.ts";
import { BOT } from "../support/test-channel.ts";
import { ann, chatHubOfFile, TOKEN } from "./chat-hub.ts";

const { connected, paired } = chatHubOfFile();

test("[CHN-137] adding one asks for the token unseen, shows the code, waits for who sends it, and sends a test message", async () => {
  const hub = await connected();
  const person = startOnTerminal(["channels", "add", "telegram", "--data-dir", hub.dataDir]);
  await eventually(() => expect(person.screen()).toContain("Bot token (not shown): "));

  person.type(`${TOKEN}\r`);
  await eventually(() => expect(person.screen()).toMatch(/pair [A-Z\d]{4}-[A-Z\d]{4}/));
  const [, code] = /pair ([A-Z\d-]+)/.exec(person.screen()) ?? [];
  await hub.chat.says(ann, "7", `pair ${code}`);

  expect(await person.exited).toMatchObject({ exitCode: 0 });
  expect(person.screen()).toContain(`Connected to ${BOT}.`);
  expect(person.screen()).toContain(`https://t.me/test_bot?start=${code}`);
  expect(person.screen()).toContain("Ann is on the list.");
  expect(person.screen()).not.toContain(TOKEN);
  expect(hub.chat.shown).toMatchObject([{ threadId: "7" }]);
});

test("[CHN-137] a token is taken from a file or the environment, and never from the command line", async () => {
  const hub = await connected();
  const cli = (...args: string[]) => runCliHere([...args, "--data-dir", hub.dataDir]);
  const file = join(hub.dataDir, "bot.token");
  await writeFile(file, `${TOKEN}\n`);

  const argued = await cli("channels", "add", "telegram", TOKEN);
  const untold = await cli("channels", "add", "telegram");
  const added = await cli("channels", "add", "telegram", "--bot-token-file", file, "--json");
  await cli("channels", "remove", "telegram", "--yes");
  const env = { SIDESTICK_TELEGRAM_TOKEN: TOKEN };
  const again = await runCli(["channels", "add", "telegram", "--no-wait", "--data-dir", hub.dataDir], { env });

  expect([argued.code, untold.code, added.code, again.code]).toEqual([2, 2, 0, 0]);
  expect(untold.stderr).toContain("$SIDESTICK_TELEGRAM_TOKEN");
  expect(JSON.parse(added.stdout)).toMatchObject({ name: "telegram", bot: BOT });
  expect(again.stderr).toContain(`Connected to ${BOT}.`);
});

test("[CHN-138] channels are listed, invited to, tested and removed", async () => {
  const hub = await paired(ann);
  const cli = (...args: string[]) => runCliHere([...args, "--data-dir", hub.dataDir]);

  const listed = await cli("channels");
  const invited = await cli("channels", "invite", "--no-wait");
  const tested = await cli("channels", "test");
  const person = await cli("channels", "remove", "telegram", "--person", "1");
  const json = await cli("channels", "list", "--json");
  const removed = await cli("channels", "remove", "telegram");
  const none = await cli("channels");
  const test = await cli("channels", "test");

  expect(listed.stdout).toMatch(/telegram +@test_bot +up +0 +Ann/);
  expect(invited.stderr).toMatch(/pair [A-Z\d]{4}-[A-Z\d]{4}/);
  expect([tested.stderr, person.stderr, removed.stderr]).toEqual([
    "Sent.\n",
    "They may no longer speak there.\n",
    "Disconnected.\n",
  ]);
  expect(JSON.parse(json.stdout)).toMatchObject([{ name: "telegram", people: [] }]);
  expect([none.stderr, test.code]).toEqual(["No channels. Add one: sidestick channels add telegram\n", 2]);
});
