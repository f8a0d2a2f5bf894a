/** Runs a command in a terminal of its own. */
import { setTimeout as sleep } from "node:timers/promises";
import type { OpenDesks } from "../../src/main/desks.ts";
import { AppError } from "../../src/protocol/errors.ts";

export const ANN = { kind: "person", id: "ann" } as const;

const START_MS = 60_000;
const AGAIN_MS = 500;

/** Answers its session. On a busy machine a shell's own start may take longer than a caller has to wait. */
export async function runIn(desks: OpenDesks, conversationId: string, command: string): Promise<string> {
  const signal = AbortSignal.timeout(START_MS);
  const input = { conversation_id: conversationId, command, wait_ms: 0, max_bytes: 1_000 };
  for (;;) {
    try {
      return (await desks.terminals.execInteractive(input, { actor: ANN, signal })).workspace_session_id;
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== "busy" || signal.aborted) throw error;
      await sleep(AGAIN_MS);
    }
  }
}
