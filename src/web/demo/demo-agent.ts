/**
 * An agent for somebody's first minutes: it asks for control, works in steps, meets a password and an approval, and then goes
 * on until it is stopped. It is an agent like any other: it has a token of its own and only what that may do.
 */
import { AppError } from "../../protocol/errors.ts";
import type { SidestickClient } from "../../client/client.ts";

export const DEMO_STEPS = ["asks", "works", "password", "approval", "goes_on", "over"] as const;
export type DemoStep = (typeof DEMO_STEPS)[number];

export type DemoPlace = { readonly sessionId: string; readonly conversation_id: string };

/** Between two steps, so that a person can follow. */
const PACE_MS = 1_200;
const WAIT_MS = 30_000;

export async function runDemo(
  agent: SidestickClient,
  { sessionId, conversation_id }: DemoPlace,
  tell: (step: DemoStep) => void,
  signal: AbortSignal,
): Promise<void> {
  const run = async (command: string, reason: string): Promise<void> => {
    const point = { sessionId, step: reason.slice(0, 200), sequence: 0 };
    const { action } = await agent.control.safe_point(point, { signal });
    if (action !== "CONTINUE") throw new AppError(action === "STOP" ? "stopped" : "paused");
    const began = await agent.pty.exec_block({ conversation_id, command, reason, wait_ms: WAIT_MS }, { signal });
    if (began.exit_code === undefined) await ended(began.cursor, began.position);
    await pause(PACE_MS, signal);
  };
  const ended = async (from_cursor: number, from_position: number): Promise<void> => {
    const awaited = { conversation_id, match: "PROMPT", from_cursor, from_position, timeout_ms: WAIT_MS };
    const { matched, reason } = await agent.pty.wait_for(awaited, { signal });
    if (reason === "revoked" || reason === "closed") throw new AppError("revoked");
    if (!matched) await ended(from_cursor, from_position);
  };
  const driving = async (): Promise<void> => {
    while (!signal.aborted) {
      const { holder } = await agent.control.wait({ sessionId, timeout_ms: WAIT_MS }, { signal });
      if (holder?.kind === "agent") return;
    }
  };

  tell("asks");
  await agent.control.request({ sessionId, reason: "I want to show you what I do in a terminal. May I drive?" });
  await driving();
  tell("works");
  await run("uname -sm; date", "see where I am");
  await run("printf 'one\\ntwo\\nthree\\n' | sort -r", "do some work");
  tell("password");
  await run(
    "read -rsp 'Password for the demo vault: ' secret; echo; echo \"${#secret} characters, thank you\"",
    "open the vault",
  );
  tell("approval");
  await run("rm -f /opt/sidestick-demo-note.txt", "clean up a note (there is none)").catch(unlessDenied);
  tell("goes_on");
  await run("while :; do date; sleep 1; done", "go on until somebody stops me");
}

/** No is an answer; everything else ends it. */
function unlessDenied(error: unknown): void {
  const isAnswer =
    error instanceof AppError && ["approval_rejected", "approval_expired", "policy_denied"].includes(error.code);
  if (!isAnswer) throw error;
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => (clearTimeout(timer), reject(signal.reason as Error)), { once: true });
  });
}
