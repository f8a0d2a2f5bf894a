/** A hub that talks in chats, and what a test does with it. */
import { expect, onTestFinished } from "vitest";
import type { StoredEvent } from "../../src/domain/event.ts";
import type { Thread } from "../../src/domain/conversation.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { ANN, type HubTerms, openChatDesks } from "./chat-desks.ts";
import { messagesOf, type Message } from "./log-stage.ts";

export { ANN };
export const BOT = { kind: "agent", id: "bot" } as const;
export const HOME = { channel: "web", threadId: "home" } as const;
export const THREAD = { channel: "web", threadId: "1" } as const;

export type ChattingHub = Awaited<ReturnType<typeof openChattingHub>>;

export async function openChattingHub(dataDir: string, terms: HubTerms = {}) {
  const desks = await openChatDesks(dataDir, terms);
  const events = async (): Promise<readonly StoredEvent[]> => {
    const all: StoredEvent[] = [];
    for await (const batch of desks.log.scan(["chat"])) all.push(...batch);
    return all;
  };
  /** Nothing waits any more. */
  const drained = () => eventually(() => expect(desks.outbox.waiting("web")).toBe(0));
  const messages = async ({ threadId }: { readonly threadId: string } = THREAD): Promise<readonly Message[]> =>
    messagesOf(await events(), threadId);
  const note = async (sessionId: string, type: StoredEvent["type"], payload: StoredEvent["payload"], source = ANN) => {
    const [stored] = await desks.journal.note(sessionId, "process", [{ type, payload, source }]);
    await desks.announcer.announced(stored?.sequence ?? 0);
  };
  /** A terminal that echoes, and a thread that listens to it. */
  const terminal = async (place: Thread | null = THREAD, title = "build"): Promise<string> => {
    const config = { kind: "terminal", workspaceId: "default", interactive: true, title } as const;
    const { sessionId } = await desks.sessions.create(config, ANN);
    await eventually(() => expect(desks.sessions.get(sessionId).status).toBe("active"));
    if (place !== null) await bind(place, sessionId);
    return sessionId;
  };
  const bind = async (place: Thread, sessionId: string): Promise<void> => {
    await desks.threads.bind(place, sessionId, ANN);
    await eventually(() =>
      expect(desks.outbox.forwarded).toContainEqual(expect.objectContaining({ ...place, sessionId })),
    );
  };
  /** Resolves when the log tells of it. */
  const print = async (sessionId: string, text: string): Promise<void> => {
    await desks.sessions.input(sessionId, { bytes: Buffer.from(text), by: ANN, class: "drive" });
    const size = await desks.output.size(sessionId);
    await eventually(async () => {
      const { cursor, length } = (await desks.log.last(sessionId, "stdout"))?.payload ?? {};
      expect(Number(cursor) + Number(length)).toBe(size);
    });
  };
  return { ...desks, note, terminal, bind, print, events, messages, drained };
}

/** For one test. */
export async function chattingHub(terms: HubTerms = {}): Promise<ChattingHub & { readonly dataDir: string }> {
  const dataDir = await temporaryDirectory();
  const hub = await openChattingHub(dataDir, terms);
  onTestFinished(hub.close);
  return { ...hub, dataDir };
}
