/** A real hub in whose terminals real programs ask, and people who answer. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { eventually } from "../support/eventually.ts";
import { passSilence } from "../support/movable-time.ts";
import { temporaryDirectory } from "../support/temporary.ts";

export type Asking = { readonly conversation_id: string; readonly sessionId: string; readonly prompt: AskedPrompt };

let conversations = 0;

/** Runs a program in a new terminal of the agent's. */
export async function started(agent: SidestickClient, command: string): Promise<Omit<Asking, "prompt">> {
  conversations += 1;
  const conversation_id = `asking-${conversations}`;
  const { workspace_session_id: sessionId } = await agent.pty.exec_interactive({ conversation_id, command });
  return { conversation_id, sessionId };
}

/** And waits until a person can answer it. */
export async function asking(
  { agent, person }: { readonly agent: SidestickClient; readonly person: SidestickClient },
  command: string,
): Promise<Asking> {
  const program = await started(agent, command);
  return { ...program, prompt: await pendingIn(person, program.sessionId) };
}

/** A program that asks until it is killed. */
export async function mortal(question: string): Promise<{ readonly command: string; readonly kill: () => void }> {
  const file = join(await temporaryDirectory(), "pid");
  const command = `bash -c 'echo $$ > ${file}; read -p "${question}" x'`;
  return { command, kill: () => void process.kill(Number(readFileSync(file, "utf8")), "SIGKILL") };
}

export function pendingIn(client: SidestickClient, session_id: string, after?: AskedPrompt): Promise<AskedPrompt> {
  return eventually(async () => {
    const pending = await client.prompt.list({ status: "pending", session_id });
    const prompt = pending.find((it) => it.prompt_id !== after?.prompt_id);
    if (prompt === undefined) throw new Error("nothing is asked");
    return prompt;
  });
}

export async function prints(
  client: SidestickClient,
  { conversation_id }: Pick<Asking, "conversation_id">,
  text: string,
) {
  const wait = { conversation_id, match: text, from_cursor: 0, timeout_ms: WAIT_BUDGET_MS };
  expect(await client.pty.wait_for(wait)).toMatchObject({ matched: true });
}

/** Until the program waits for input, or the shell at its prompt. */
export async function waits(
  client: SidestickClient,
  { conversation_id }: Pick<Asking, "conversation_id">,
  match: "INPUT" | "PROMPT" = "INPUT",
) {
  const wait = { conversation_id, match, timeout_ms: WAIT_BUDGET_MS };
  expect(await client.pty.wait_for(wait)).toMatchObject({ matched: true });
}

/** More than the hub collects output for before it records it: what was printed is on record. */
const RECORDED_MS = 200;

type Printed = { readonly cursor?: number; readonly length?: number };

/** Minutes go by in which a program that waits, or the shell at its prompt, prints nothing. */
export async function fallsSilent(
  hub: { readonly dataDir: string; readonly person: SidestickClient },
  it: Omit<Asking, "prompt">,
  match?: "INPUT" | "PROMPT",
) {
  const { sessionId, conversation_id } = it;
  await waits(hub.person, it, match);
  await eventually(async () => {
    const { end_cursor } = await hub.person.pty.read_output({ conversation_id });
    const events = await hub.person.event.list({ sessionId, types: ["input", "stdout", "quiet"], limit: 5000 });
    const { cursor = 0, length = 0 } = (events.findLast((it) => it.type === "stdout")?.payload ?? {}) as Printed;
    // An earlier silence is not this one: what was typed or printed since comes after it.
    expect(cursor + length).toBe(end_cursor);
    expect(Number(events.at(-1)?.payload["ms"])).toBeGreaterThanOrEqual(RECORDED_MS);
  });
  passSilence(hub);
}

export async function feedback(client: SidestickClient, sessionId: string): Promise<unknown[]> {
  const events: WorkspaceEvent[] = await client.event.list({ sessionId, types: ["chat"], limit: 5000 });
  return events.filter((it) => it.payload["kind"] === "feedback").map((it) => it.payload["text"]);
}
