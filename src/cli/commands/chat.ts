import { randomBytes } from "node:crypto";
import { HubUnreachable, type SidestickClient } from "../../client/sidestick.ts";
import { AppError } from "../../protocol/errors.ts";
import { ChatThread } from "../chat-thread.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { untilInterrupted } from "../interruption.ts";
import { printable } from "../printable.ts";
import { sessionOf } from "../terminals.ts";

export const chat = defineCommand({
  name: "chat",
  summary: "Talk to a session as in a chat: what it asks and prints comes as messages, what you write is sent",
  takes: ["[session]"],
  examples: ["sidestick chat", "sidestick chat build", "sidestick chat 3f2a9c01"],
  notes: [
    "Without a session: the only one that runs. What you write answers what is asked (y, 2, any text), and is typed as your own input where nothing is: that takes control. " +
      "A number in brackets is a button. A secret is asked for unseen. /help lists commands: /stop, /take, /grant 10, /status, /use …\n" +
      "Ctrl+C leaves; the session runs on. --json prints each message as a line of JSON.",
  ],
  run: async ({ client, values, given: [name], terminal }) => {
    using interruption = untilInterrupted();
    const session_id = await chosen(client, name);
    const threadId = randomBytes(6).toString("hex");
    const { eventCursor } = await client.snapshot.get();
    await client.conversation.bind({ channel: "cli", thread_id: threadId, session_id });
    const { title } = await client.session.get({ sessionId: session_id });
    terminal.note(`${printable(title)}: write, or /help. Ctrl+C leaves it running.`);
    const { signal } = interruption;
    const isJson = values.json === true;
    const end = await new ChatThread({ client, terminal, threadId, isJson, signal }).run(eventCursor);
    if (end === "over") return EXIT.ok;
    await leave(client, threadId);
    terminal.note("Left; it runs on.");
    return signal.aborted ? interruption.exitCode() : EXIT.ok;
  },
});

/** The others of the session stay; a binding that stays because the hub is away ends by itself. */
async function leave(client: SidestickClient, thread_id: string): Promise<void> {
  try {
    await client.conversation.say({ channel: "cli", thread_id, text: "/leave" });
  } catch (error) {
    if (!(error instanceof HubUnreachable || error instanceof AppError)) throw error;
  }
}

async function chosen(client: SidestickClient, name: string | undefined): Promise<string> {
  if (name !== undefined) return sessionOf(client, name);
  const living = (await client.session.list()).filter(({ status }) => status !== "closed");
  const [only] = living;
  if (only === undefined) throw new AppError("not_found", { detail: "No session runs." });
  if (living.length > 1) {
    throw new UsageError(`${living.length} sessions run: name one.`, { remedy: "See sidestick sessions." });
  }
  return only.sessionId;
}
