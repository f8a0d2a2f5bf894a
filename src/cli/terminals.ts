/** Which terminal is meant: a conversation by its name, or a session by any unique begin of its id. */
import { userInfo } from "node:os";
import type { SidestickClient, WorkspaceSession } from "../client/sidestick.ts";
import { AppError } from "../protocol/errors.ts";
import type { Hub } from "./hub.ts";
import { resolveId } from "./ids.ts";

/** Where `run` runs when nothing else is said: an agent is not whoever it runs as. */
export async function ownConversation({ client, hasToken }: Pick<Hub, "client" | "hasToken">): Promise<string> {
  const { kind, id } = hasToken ? await client.hub.whoami() : { kind: "person", id: "" };
  return kind === "agent" ? `agent-${id}` : `cli-${userInfo().username}`;
}

/** The terminal that runs, else the one that ran last. */
export async function terminalOf(client: SidestickClient, given: string): Promise<WorkspaceSession> {
  const ofConversation = (await client.session.list({ conversationId: given })).filter(isTerminal);
  const found = ofConversation.findLast((it) => it.status !== "closed") ?? ofConversation.at(-1);
  if (found !== undefined) return found;
  const sessions = (await client.session.list()).filter(isTerminal);
  const sessionId = await idOf(given, sessions);
  return sessions.find((it) => it.sessionId === sessionId) ?? client.session.get({ sessionId });
}

/** Of any kind: what a conversation has, else a session by any unique begin of its id. */
export async function sessionOf(client: SidestickClient, given: string): Promise<string> {
  const ofConversation = await client.session.list({ conversationId: given });
  const found = ofConversation.findLast((it) => it.status !== "closed") ?? ofConversation.at(-1);
  if (found !== undefined) return found.sessionId;
  return resolveId(given, "session", async () => (await client.session.list()).map((it) => it.sessionId));
}

/** What the operations on terminals call it. */
export async function conversationOf(client: SidestickClient, given: string): Promise<string> {
  return ownerOf(await terminalOf(client, given));
}

/** The conversation that a terminal belongs to. */
export function ownerOf({ conversationId, sessionId }: WorkspaceSession): string {
  if (conversationId !== undefined) return conversationId;
  throw new AppError("not_found", {
    detail: `The session ${sessionId} belongs to no conversation; attach to it instead`,
  });
}

async function idOf(given: string, sessions: readonly WorkspaceSession[]): Promise<string> {
  try {
    return await resolveId(given, "terminal", async () => sessions.map((it) => it.sessionId));
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    const detail = `There is no terminal of a conversation "${given}", and none whose id begins so. The first command makes one: sidestick run --conversation ${given} -- COMMAND`;
    throw new AppError("not_found", { detail }, { cause: error });
  }
}

function isTerminal({ kind }: WorkspaceSession): boolean {
  return kind === "terminal";
}
