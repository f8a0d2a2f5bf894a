import type { Output, SidestickClient } from "../../client/sidestick.ts";
import { timeUntil } from "../age.ts";
import { askYesNo } from "../ask.ts";
import { channelToken } from "../channel-token.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { oneOf } from "../options.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";

type Info = Output<"channel.list">[number];
type Invitation = Output<"channel.add">;

const KINDS = ["telegram", "slack"] as const;
const LOOK_MS = 45_000;

const ABOUT = {
  telegram: "Make a bot: write /newbot to @BotFather in Telegram, and copy the token that it gives you.",
  slack:
    "Make an app at api.slack.com/apps with Socket Mode on, install it, and copy its bot token (xoxb-) and app token (xapp-).",
} as const;

const NO_WAIT = { "no-wait": { type: "boolean", help: "do not wait until somebody has paired" } } as const;

export const channelsAdd = defineCommand({
  name: "channels add",
  summary: "Be reached by Telegram or Slack: connect a bot, then pair yourself",
  takes: ["<telegram|slack>"],
  options: {
    "bot-token-file": { type: "string", value: "FILE", help: "the bot's token (default: asked for)" },
    "app-token-file": { type: "string", value: "FILE", help: "of Slack: the app-level token (default: asked for)" },
    "api-root": {
      type: "string",
      value: "URL",
      help: "the platform's API, where it isn't the usual one: a Bot API server of your own, a test",
    },
    ...NO_WAIT,
  },
  examples: [
    "sidestick channels add telegram",
    "sidestick channels add slack --bot-token-file bot --app-token-file app",
  ],
  notes: [
    "Tokens are also taken from $SIDESTICK_TELEGRAM_TOKEN, $SIDESTICK_SLACK_TOKEN and $SIDESTICK_SLACK_APP_TOKEN.\nThe hub keeps them; nobody is shown them again. --json prints the invitation and doesn't wait.",
  ],
  run: async ({ client, values, given: [which = ""], terminal }) => {
    const kind = oneOf(which, KINDS, "The platform");
    const upper = kind.toUpperCase();
    if (terminal.isTTY && values.json !== true) terminal.note(`${ABOUT[kind]}\n`);
    const bot = { file: values["bot-token-file"], option: "--bot-token-file", variable: `SIDESTICK_${upper}_TOKEN` };
    const token = await channelToken({ ...bot, question: "Bot token (not shown): " }, terminal);
    const app = { file: values["app-token-file"], option: "--app-token-file", variable: "SIDESTICK_SLACK_APP_TOKEN" };
    const app_token =
      kind === "slack" ? await channelToken({ ...app, question: "App token (not shown): " }, terminal) : undefined;
    const { eventCursor } = await client.snapshot.get();
    const added = await client.channel.add({ kind, token, app_token, api_root: values["api-root"] });
    if (values.json === true) {
      terminal.printJson(added);
      return EXIT.ok;
    }
    terminal.note(`Connected to ${printable(added.bot)}.`);
    return invited({ client, terminal, after: eventCursor, waits: values["no-wait"] !== true }, added);
  },
});

export const channelsList = defineCommand({
  name: "channels list",
  summary: "List the chat platforms: how each stands and who may speak there (also: sidestick channels)",
  examples: ["sidestick channels"],
  run: async ({ client, values, terminal }) => {
    const found = await client.channel.list();
    if (values.json === true) terminal.printJson(found);
    else if (found.length === 0) terminal.note("No channels. Add one: sidestick channels add telegram");
    else terminal.printTable(COLUMNS, found);
    return EXIT.ok;
  },
});

export const channelsInvite = defineCommand({
  name: "channels invite",
  summary: "Let one more person speak there: makes a code that they send to the bot",
  takes: ["[name]"],
  options: NO_WAIT,
  examples: ["sidestick channels invite", "sidestick channels invite telegram"],
  notes: [
    "Without a name: the only channel there is. Whoever sends the code first may do there what an operator may: give it to nobody else.",
  ],
  run: async ({ client, values, given: [name], terminal }) => {
    const { eventCursor } = await client.snapshot.get();
    const invitation = await client.channel.invite({ name: await chosen(client, name) });
    if (values.json === true) {
      terminal.printJson(invitation);
      return EXIT.ok;
    }
    return invited({ client, terminal, after: eventCursor, waits: values["no-wait"] !== true }, invitation);
  },
});

export const channelsTest = defineCommand({
  name: "channels test",
  summary: "Send a test message there",
  takes: ["[name]"],
  examples: ["sidestick channels test"],
  run: async ({ client, values, given: [name], terminal }) => {
    const tested = await client.channel.test({ name: await chosen(client, name) });
    if (values.json === true) terminal.printJson(tested);
    else terminal.note("Sent.");
    return EXIT.ok;
  },
});

export const channelsRemove = defineCommand({
  name: "channels remove",
  summary: "Disconnect a chat platform, or with --person take somebody off its list",
  takes: ["<name>"],
  options: {
    person: { type: "string", value: "ID", help: "only this person, as `channels list --json` names them" },
    yes: { type: "boolean", help: "do not ask" },
  },
  examples: ["sidestick channels remove telegram", "sidestick channels remove telegram --person 12345"],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const { person: person_id, yes, json } = values;
    if (person_id !== undefined) await client.channel.remove_person({ name, person_id });
    else {
      const asks = yes !== true && json !== true;
      if (asks && (await askYesNo(terminal, `Disconnect ${printable(name)} and forget its token?`)) === false) {
        return EXIT.failure;
      }
      await client.channel.remove({ name });
    }
    if (json === true) terminal.printJson({ ok: true });
    else terminal.note(person_id === undefined ? "Disconnected." : "They may no longer speak there.");
    return EXIT.ok;
  },
});

type Waiting = {
  readonly client: SidestickClient;
  readonly terminal: Terminal;
  readonly after: number;
  readonly waits: boolean;
};

/** Shows the code, and waits for who uses it. */
async function invited({ client, terminal, after, waits }: Waiting, invitation: Invitation): Promise<number> {
  const { name, bot, pairing_code, pairing_link, expires_at } = invitation;
  terminal.note("");
  if (pairing_link !== undefined) terminal.note(`Open this on the phone:  ${printable(pairing_link)}`);
  terminal.note(`${pairing_link === undefined ? "Send" : "or send"} to ${printable(bot)}:  pair ${pairing_code}`);
  terminal.note(`Whoever does so first may speak there. The code is good for ${timeUntil(expires_at)}.`);
  if (!waits) return EXIT.ok;
  const who = await untilPaired(client, { name, after, expires_at });
  if (who === undefined) {
    terminal.note(`Nobody came. A new code: sidestick channels invite ${name}`);
    return EXIT.failure;
  }
  terminal.note(`\n${printable(who)} is on the list.`);
  await client.channel.test({ name });
  terminal.note("A test message was sent.");
  return EXIT.ok;
}

async function untilPaired(
  client: SidestickClient,
  { name, after, expires_at }: { readonly name: string; readonly after: number; readonly expires_at: string },
): Promise<string | undefined> {
  let cursor = after;
  for (;;) {
    const leftMs = Date.parse(expires_at) - Date.now();
    if (leftMs <= 0) return undefined;
    const waitMs = Math.min(LOOK_MS, Math.ceil(leftMs));
    const events = await client.event.list({ after: cursor, types: ["channel"], waitMs });
    cursor = events.at(-1)?.sequence ?? cursor;
    const paired = events.find(({ payload }) => payload["change"] === "paired" && payload["channel"] === name);
    if (paired !== undefined) return paired.payload["name"] as string;
  }
}

async function chosen(client: SidestickClient, name: string | undefined): Promise<string> {
  if (name !== undefined) return name;
  const [only, ...others] = await client.channel.list();
  if (only === undefined)
    throw new UsageError("There are no channels.", { remedy: "Add one: sidestick channels add telegram" });
  if (others.length > 0) {
    throw new UsageError("There are several channels: name one.", { remedy: "See: sidestick channels" });
  }
  return only.name;
}

const COLUMNS = [
  { title: "NAME", value: (it: Info) => it.name },
  { title: "BOT", value: (it: Info) => it.bot ?? "" },
  {
    title: "STATE",
    value: (it: Info) => [it.health.state, it.health.detail].filter(Boolean).join(": "),
    shrinks: true,
  },
  { title: "WAITING", value: (it: Info) => String(it.waiting) },
  { title: "PEOPLE", value: (it: Info) => it.people.map((person) => person.name).join(", "), shrinks: true },
];
