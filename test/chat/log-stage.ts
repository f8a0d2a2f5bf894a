/** The log channel with its readers in the hand of the test. */
import { onTestFinished } from "vitest";
import type { Card } from "../../src/domain/channels/card.ts";
import { HUB_STREAM, type StoredEvent } from "../../src/domain/event.ts";
import type { Incoming } from "../../src/hub/channel-port.ts";
import { LogChannel } from "../../src/hub/chat/log-channel.ts";
import { Journal } from "../../src/hub/journal.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";

export type Message = { readonly ref: string; readonly card: Card; readonly edits: number; readonly tellings: number };

/** As a page shows a thread: by message, in the order of their first appearance. */
export function messagesOf(events: readonly StoredEvent[], threadId: string): readonly Message[] {
  const messages = new Map<string, Message>();
  for (const { type, payload } of events) {
    if (type !== "chat" || payload["kind"] !== "card" || payload["thread_id"] !== threadId) continue;
    const { message_id: ref, card, edited, removed } = payload as unknown as Told;
    const { edits = 0, tellings = 0 } = messages.get(ref) ?? {};
    if (removed === true) messages.delete(ref);
    else
      messages.set(ref, { ref, card, edits: edits + (edited === true ? 1 : 0), tellings: tellings + (edited ? 0 : 1) });
  }
  return [...messages.values()];
}

type Told = { message_id: string; card: Card; edited?: boolean; removed?: boolean };

export async function openLogStage() {
  const store = await openSqliteStore(await temporaryDirectory(), { now: Date.now });
  onTestFinished(() => store.close());
  const lines: string[] = [];
  const events: StoredEvent[] = [];
  store.events.observe((stored) => events.push(...stored));
  let ids = 0;
  const newId = (): string => `m${(ids += 1)}`;
  const logger = createLogger("debug", (line) => lines.push(line));
  const journal = new Journal(store.events);
  const channel = new LogChannel({ name: "web", journal, streamOf: () => HUB_STREAM, newId, logger });
  const threadId = "t1";
  const ann = { id: "ann", name: "Ann" };
  const notices: string[] = [];
  const shown = () => messagesOf(events, threadId);
  const take = async (incoming: Incoming): Promise<string> => (await channel.take(incoming)).notice ?? "";
  const server = {
    says: async (user: typeof ann, text: string) => {
      const ref = newId();
      // The one who wrote waits for the answer; nobody else does.
      const taken = take({ id: newId(), kind: "text", threadId, user, ref, text });
      taken.then((notice) => notice !== "" && notices.push(notice)).catch(() => undefined);
      return ref;
    },
    presses: async (user: typeof ann, ref: string, label: string) => {
      const { card } = shown().find((it) => it.ref === ref) ?? {};
      const { action = "" } = card?.buttons.flat().find((it) => it.label === label) ?? {};
      return await take({ id: newId(), kind: "press", threadId, user, ref, action });
    },
    shown: () =>
      shown().map(({ ref, card }) => ({
        ref,
        text: [card.title, card.text, card.code, ...(card.facts ?? []).map((it) => `${it.name} ${it.value}`)]
          .filter((it) => it !== undefined)
          .join("\n"),
        buttons: card.buttons.map((row) => row.map(({ label }) => label)),
      })),
    notices: () => notices,
  };
  return { channel, botName: "web", threadId, ann, server, secrets: [], logged: () => lines.join(""), events };
}
