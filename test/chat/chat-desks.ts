/** The hub's own desks over real stores, with what leaves for chats and a channel whose messages can be read; no test around it. */
import { HUB_STREAM } from "../../src/domain/event.ts";
import { LogChannel } from "../../src/hub/chat/log-channel.ts";
import type { OutboxStore } from "../../src/hub/chat/outbox-port.ts";
import type { OutgoingParts } from "../../src/hub/chat/outgoing.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { newId, openDesks } from "../../src/main/desks.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { letAgentsBe } from "../support/policy.ts";
import { RoughChannel } from "./rough-channel.ts";

const KEEP_ALL = {
  activityMaxAgeMs: Number.MAX_SAFE_INTEGER,
  activityMaxBytes: Number.MAX_SAFE_INTEGER,
  auditMaxAgeMs: Number.MAX_SAFE_INTEGER,
  auditMaxBytes: Number.MAX_SAFE_INTEGER,
  outputMaxBytes: Number.MAX_SAFE_INTEGER,
};

export const ANN = { kind: "person", id: "ann" } as const;

export type HubTerms = Partial<Pick<OutgoingParts, "homes" | "secretLink" | "nameOf">> & {
  readonly now?: () => number;
  readonly storeOf?: (store: OutboxStore) => OutboxStore;
};

export async function openChatDesks(dataDir: string, terms: HubTerms = {}) {
  await letAgentsBe(dataDir);
  const lines: string[] = [];
  const logger = createLogger("debug", (line) => lines.push(line));
  const clock = { now: terms.now ?? Date.now };
  const openDrivers = async () => [new MemoryDriver("terminal")];
  let channel: RoughChannel | undefined;
  const { now: _now, storeOf: chatStore, ...own } = terms;
  const leaving = {
    channel: (name: string) => (name === channel?.name ? channel : undefined),
    homes: () => [],
    knows: (name: string) => name === "web",
    secretLink: () => undefined,
    random: () => 0.5,
    retryMs: 1,
    ...own,
  };
  const desks = await openDesks({ dataDir, openDrivers, logger, clock, limits: KEEP_ALL, chatStore, leaving });
  const inner = new LogChannel({ name: "web", journal: desks.journal, streamOf: () => HUB_STREAM, newId, logger });
  channel = new RoughChannel(inner);
  await channel.start(async () => ({}));
  const { outbox, multi, forwarder, announcer } = desks.chats;
  outbox.wake();
  return { ...desks, outbox, multi, forwarder, announcer, channel, logged: () => lines.join("") };
}
