import { useEffect, useState } from "react";
import type { Session } from "../../domain/session.ts";
import type { SidestickClient } from "../../client/client.ts";
import { AppError } from "../../protocol/errors.ts";
import { untilAnswered } from "../model/until-answered.ts";
import { useHub, useWorld } from "../model/use-hub.ts";

/** As the world has it; one that was closed so long ago that it hasn't is asked for. Null: there is none. */
export function useSession(sessionId: string): Session | null | undefined {
  const hub = useHub();
  const known = useWorld(({ sessions }) => sessions.get(sessionId));
  const [asked, setAsked] = useState<Session | null>();
  const isUnknown = known === undefined;
  useEffect(() => {
    if (!isUnknown) return undefined;
    const over = new AbortController();
    const ask = (client: SidestickClient) => sessionOf(client, sessionId);
    void untilAnswered(hub, ask, over.signal).then((it) => over.signal.aborted || setAsked(it));
    return () => over.abort();
  }, [hub, sessionId, isUnknown]);
  return known ?? asked;
}

async function sessionOf(client: SidestickClient, sessionId: string): Promise<Session | null> {
  try {
    return await client.session.get({ sessionId });
  } catch (error) {
    // Only what the hub says: that it doesn't answer tells nothing of the session. What can't be an id is none either.
    if (error instanceof AppError && (error.code === "not_found" || error.code === "invalid_request")) return null;
    throw error;
  }
}
