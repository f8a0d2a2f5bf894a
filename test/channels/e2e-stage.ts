/**
 * The product from end to end: a real hub with real terminals, the real adapters of Telegram and Slack, and the platforms' servers on
 * loopback in the hand of a test. Each test has a thread and a session of its own.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { type Drivers, startHub } from "../../src/main/hub.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { readSettings } from "../../src/main/settings.ts";
import { eventually } from "../support/eventually.ts";
import { leaveOpen, type HubPolicy } from "../support/hub.ts";
import { setPolicy } from "../support/policy.ts";
import { TERMINAL_HOST } from "../support/host-programs.ts";
import { clientOf, endHost } from "../support/terminal-hub.ts";
import { started, waits } from "../prompts/asking-hub.ts";
import type { Shown } from "./slack-conversations.ts";
import { APP_TOKEN, BOT_TOKEN, BOT_USER, type SlackServer, startSlackServer } from "./slack-server.ts";
import { TELEGRAM_TOKEN, TelegramServer } from "./telegram-server.ts";
import type { Person, ShownMessage } from "./telegram-chats.ts";

export const ann: Person = { id: "11", name: "Ann" };
/** In Slack. */
export const bob = { id: "UBOB", name: "Bob" };
export const eve: Person = { id: "666", name: "Ann" };
/** A group with topics: a thread for each test. */
const GROUP = "-100200300";
/** Where links lead; Telegram puts none to loopback on a button. */
export const PUBLIC_URL = "https://hub.example.test";

export type EndToEnd = {
  readonly dataDir: string;
  readonly url: string;
  readonly agent: SidestickClient;
  readonly person: SidestickClient;
  readonly telegram: TelegramServer;
  readonly slack: SlackServer;
};

type Terms = { readonly policy?: HubPolicy; readonly slack?: boolean; readonly batchMs?: number };

/** For a whole file: what `beforeAll` returns must be `stop`. */
export async function openEndToEnd({ policy, slack: hasSlack = false, batchMs = 100 }: Terms = {}) {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  await setPolicy(dataDir, policy);
  const settings = readSettings(["--port", "0", "--data-dir", dataDir, "--public-url", PUBLIC_URL], {
    XDG_CONFIG_HOME: dataDir,
    XDG_STATE_HOME: dataDir,
  });
  const [telegram, slack] = [await TelegramServer.start(), await startSlackServer()];
  const connect: Drivers = async (parts) => {
    const { driver, close } = await connectLocalHost({ ...parts, program: TERMINAL_HOST });
    return { drivers: [driver], close };
  };
  const hub = await startHub(settings, connect, { pace: { batchMs, planMs: 100 } });
  const stop = async (): Promise<void> => {
    await hub.close();
    await endHost(dataDir);
    await Promise.all([telegram[Symbol.asyncDispose](), slack[Symbol.asyncDispose]()]);
    await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
  };
  await leaveOpen(dataDir);
  const url = `http://127.0.0.1:${hub.port}`;
  const [agent, person] = [await clientOf(url, dataDir, "agent"), await clientOf(url, dataDir, "operator")];
  const stage: EndToEnd = { dataDir, url, agent, person, telegram, slack };
  await pairTelegram(stage);
  if (hasSlack) await pairSlack(stage);
  return { ...stage, stop };
}

/** Ann's private chat is Telegram's home. */
export async function pairTelegram({ person, telegram }: Pick<EndToEnd, "person" | "telegram">): Promise<void> {
  const { pairing_code } = await person.channel.add({
    kind: "telegram",
    token: TELEGRAM_TOKEN,
    api_root: telegram.url,
  });
  telegram.says(ann, `/start ${pairing_code}`);
  await eventually(() => expect(telegram.shown(ann.id).at(-1)?.text).toContain("Welcome, Ann."));
}

/** Bob's direct messages are Slack's home. */
async function pairSlack({ person, slack }: EndToEnd): Promise<void> {
  slack.people.set(bob.id, bob.name);
  const tokens = { token: BOT_TOKEN, app_token: APP_TOKEN };
  const { pairing_code } = await person.channel.add({ kind: "slack", ...tokens, api_root: slack.url });
  slack.says(bob.id, DIRECT, `pair ${pairing_code}`);
  await eventually(() => expect(slack.shown(DIRECT).at(-1)?.text).toContain("Welcome, Bob."));
}

export const DIRECT = "DBOB";

let topics = 0;

/** A topic of Telegram's group. */
export class Topic {
  readonly threadId: string;
  readonly #telegram: TelegramServer;

  constructor(telegram: TelegramServer, threadId?: string) {
    topics += 1;
    this.threadId = threadId ?? `${GROUP}/${topics}`;
    this.#telegram = telegram;
  }

  says(text: string, by = ann): string {
    return this.#telegram.says(by, text, this.threadId);
  }

  /** Answers what the person is shown then. */
  async presses(label: string, by = ann): Promise<string> {
    return this.#telegram.presses(by, (await this.card(label)).ref, label);
  }

  /** What we have shown there, notices for one message too. */
  shown(): readonly ShownMessage[] {
    return this.#telegram.shown(this.threadId).filter(({ by }) => by === "bot");
  }

  texts(): readonly string[] {
    return this.shown().map(({ text }) => text);
  }

  /** The newest that has such a button. */
  card(label: string): Promise<ShownMessage> {
    return eventually(() => {
      const found = this.shown().findLast(({ buttons }) => labelsOf(buttons).includes(label));
      expect(found, `${label} in ${JSON.stringify(this.texts())}`).toBeDefined();
      return found!;
    });
  }

  /** The newest message that holds all of it, once there is one. */
  message(...parts: readonly string[]): Promise<ShownMessage> {
    return eventually(() => {
      const found = this.shown().findLast(({ text }) => parts.every((it) => text.includes(it)));
      expect(found, `${parts.join(" … ")} in ${JSON.stringify(this.texts())}`).toBeDefined();
      return found!;
    });
  }
}

/** A program of the agent's in a terminal of its own, with a topic, or the chat that is given, that talks to it. */
export async function talkingTo(stage: Omit<EndToEnd, "slack" | "url">, command: string, threadId?: string) {
  const program = await started(stage.agent, command);
  const topic = new Topic(stage.telegram, threadId);
  const { threadId: thread_id } = topic;
  await stage.person.conversation.bind({ channel: "telegram", thread_id, session_id: program.sessionId });
  return { ...program, topic };
}

/** The same, and the topic hears it from its first word. */
export async function hearing(stage: Omit<EndToEnd, "slack" | "url">, command: string) {
  const it = await talkingTo(stage, "true");
  const { conversation_id } = it;
  await waits(stage.agent, it, "PROMPT");
  await stage.agent.pty.exec_interactive({ conversation_id, command });
  return it;
}

/** What we have shown in a conversation of Slack's, and not to one person alone. */
export function slackShown({ slack }: Pick<EndToEnd, "slack">, channel = DIRECT): readonly Shown[] {
  return slack.shown(channel).filter(({ by, onlyFor }) => by === BOT_USER && onlyFor === undefined);
}

export function slackCard(stage: Pick<EndToEnd, "slack">, label: string): Promise<Shown> {
  return eventually(() => {
    const found = slackShown(stage).findLast(({ buttons }) => buttons.flat().includes(label));
    expect(found, label).toBeDefined();
    return found!;
  });
}

export function labelsOf(rows: ShownMessage["buttons"]): readonly string[] {
  return rows.flat().map(({ label }) => label);
}
