import type { SidestickClient } from "../../client/client.ts";
import { pause } from "../../client/retry.ts";
import type { Hub } from "./hub.ts";

const ASK_AGAIN_MS = 2_000;

/** For what a view can't begin without: asked until there is an answer. That there is none yet is told once. Undefined: it was aborted. */
export async function untilAnswered<T>(
  hub: Hub,
  ask: (client: SidestickClient) => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  let answer = await hub.act(ask);
  while (answer === undefined && !signal.aborted) {
    await pause(ASK_AGAIN_MS, signal);
    if (!signal.aborted) answer = await ask(hub.client).catch(() => undefined);
  }
  return signal.aborted ? undefined : answer;
}
