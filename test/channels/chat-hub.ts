/** A real hub with real terminals and a chat platform in memory, which people are on. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import type { ChatUser } from "../../src/hub/channel-port.ts";
import type { ChannelMaker } from "../../src/hub/chat/channel-desk.ts";
import type { OutboxStore } from "../../src/hub/chat/outbox-port.ts";
import { pairingLink } from "../../src/main/channels.ts";
import type { Pace } from "../../src/hub/pace.ts";
import { type Drivers, startHub } from "../../src/main/hub.ts";
import { connectLocalHost } from "../../src/main/local-host.ts";
import { readSettings } from "../../src/main/settings.ts";
import { eventually } from "../support/eventually.ts";
import { leaveOpen } from "../support/hub.ts";
import { setPolicy } from "../support/policy.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { TestChannel } from "../support/test-channel.ts";
import { TERMINAL_HOST } from "../support/host-programs.ts";
import { clientOf, endHost, endHostAfterTest } from "../support/terminal-hub.ts";

export const TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1";
export const ann: ChatUser = { id: "1", name: "Ann" };
export const bob: ChatUser = { id: "2", name: "Bob" };
export const eve: ChatUser = { id: "666", name: "Ann" };

type Kept = Pick<OutboxStore, "seen" | "saw">;

export type ChatHub = {
  readonly url: string;
  readonly dataDir: string;
  readonly agent: SidestickClient;
  readonly person: SidestickClient;
  readonly chat: TestChannel;
  /** What the hub keeps of deliveries; a test may put its own way in place. */
  readonly kept: Kept;
  readonly stop: () => Promise<void>;
};

/** A hub of its own, for a test that restarts it. Again on the same directory: the host has gone on. */
export async function startChatHub(
  given?: Pick<ChatHub, "dataDir">,
  { chat = new TestChannel(), pace }: { readonly chat?: TestChannel; readonly pace?: Partial<Pace> } = {},
): Promise<ChatHub> {
  const dataDir = given?.dataDir ?? (await temporaryDirectory());
  if (given === undefined) {
    endHostAfterTest(dataDir);
    await setPolicy(dataDir, undefined);
  }
  const opened = await openHub(dataDir, chat, pace);
  onTestFinished(opened.stop);
  return opened.withChat(chat);
}

/** With a channel on whose list these people are. */
export async function startPairedHub(...people: readonly ChatUser[]): Promise<ChatHub> {
  return pairedWith(await startChatHub(), people);
}

/** One hub and one host for a file. Each test has a platform of its own, and leaves no session and no channel behind. */
export function chatHubOfFile(): {
  readonly connected: () => Promise<ChatHub>;
  readonly paired: (...people: readonly ChatUser[]) => Promise<ChatHub>;
} {
  let opened: Awaited<ReturnType<typeof openHub>>;
  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
    await setPolicy(dataDir, undefined);
    opened = await openHub(dataDir, new TestChannel());
    return async () => {
      await opened.stop();
      await endHost(dataDir);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    };
  });
  const connected = async (): Promise<ChatHub> => {
    const hub = opened.withChat(new TestChannel());
    onTestFinished(() => clear(hub));
    return hub;
  };
  return { connected, paired: async (...people) => pairedWith(await connected(), people) };
}

async function openHub(dataDir: string, first: TestChannel, pace?: Partial<Pace>) {
  let chat = first;
  let keeping!: () => Kept;
  let kept!: Kept;
  const chatStore = (store: OutboxStore): OutboxStore => {
    keeping = () => ({ seen: store.seen.bind(store), saw: store.saw.bind(store) });
    kept = keeping();
    return {
      change: store.change.bind(store),
      rows: store.rows.bind(store),
      consumed: store.consumed.bind(store),
      forwarded: store.forwarded.bind(store),
      seen: (delivery) => kept.seen(delivery),
      saw: (delivery, reaction) => kept.saw(delivery, reaction),
    };
  };
  const settings = readSettings(["--port", "0", "--data-dir", dataDir], {
    XDG_CONFIG_HOME: dataDir,
    XDG_STATE_HOME: dataDir,
  });
  const connect: Drivers = async (parts) => {
    const { driver, close } = await connectLocalHost({ ...parts, program: TERMINAL_HOST });
    return { drivers: [driver], close };
  };
  const hub = await startHub(settings, connect, { maker: makerOf(() => chat), chatStore, pace });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= hub.close());
  await leaveOpen(dataDir);
  const [agent, person] = [await clientOf(hub.url, dataDir, "agent"), await clientOf(hub.url, dataDir, "operator")];
  const withChat = (next: TestChannel): ChatHub => {
    chat = next;
    kept = keeping();
    return { url: hub.url, dataDir, agent, person, chat, kept, stop };
  };
  return { stop, withChat };
}

async function pairedWith(hub: ChatHub, people: readonly ChatUser[]): Promise<ChatHub> {
  await hub.person.channel.add({ kind: "telegram", token: TOKEN });
  for (const user of people) {
    const { pairing_code } = await hub.person.channel.invite({ name: "telegram" });
    await hub.chat.says(user, `home-${user.id}`, `/start ${pairing_code}`);
  }
  return hub;
}

async function clear({ person }: ChatHub): Promise<void> {
  const [channels, sessions, asked] = await Promise.all([
    person.channel.list(),
    person.session.list(),
    person.approval.list({ status: "pending" }),
  ]);
  const open = sessions.filter(({ status }) => status !== "closed");
  // Before their sessions are closed, which decides them too.
  await Promise.all(asked.map(({ requestId }) => person.approval.resolve({ requestId, status: "rejected" })));
  await Promise.all([
    ...channels.map(({ name }) => person.channel.remove({ name })),
    ...open.map(({ sessionId }) => person.session.close({ sessionId })),
  ]);
}

export function makerOf(chat: () => TestChannel): ChannelMaker {
  return { make: chat, pairingLink };
}

/** What a button sends that stands in a thread, once it does. */
export function button({ chat }: ChatHub, threadId: string, label: string): Promise<string> {
  return eventually(() => {
    const cards = chat.shown.filter((it) => it.threadId === threadId);
    const found = cards.flatMap(({ card }) => card.buttons.flat()).findLast((it) => it.label === label);
    expect(found, `${label} in ${JSON.stringify(cards)}`).toBeDefined();
    return found?.action ?? "";
  });
}

export async function bound(hub: ChatHub, threadId: string, session_id: string): Promise<void> {
  await hub.person.conversation.bind({ channel: "telegram", thread_id: threadId, session_id });
}
