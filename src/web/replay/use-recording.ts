import { useEffect, useState } from "react";
import { pause } from "../../client/retry.ts";
import type { Timeline, TimelineItem } from "../../protocol/history.ts";
import { untilAnswered } from "../model/until-answered.ts";
import { useHub } from "../model/use-hub.ts";
import { grown, type Recording, recordingOf } from "./recording.ts";

const POINTS = 10_000;
const PAGE = 2000;
const FOLLOW_MS = 2_000;

/** A long one comes page by page; one that lives grows. */
export function useRecording(sessionId: string): Recording | undefined {
  const hub = useHub();
  const [recording, setRecording] = useState<Recording>();
  useEffect(() => {
    const over = new AbortController();
    const load = async (): Promise<void> => {
      let items: readonly TimelineItem[] = [];
      let head: Timeline | undefined;
      let isThere = false;
      while (!over.signal.aborted) {
        const after = items.at(-1)?.sequence;
        // What has grown for long is thinned out by the hub.
        const points = head === undefined || head.activity.length > 2 * POINTS ? POINTS : 0;
        const asked = { sessionId, after, limit: PAGE, points };
        // A hub that is away for a while says so once, in the bar.
        const page =
          head === undefined
            ? await untilAnswered(hub, (it) => it.session.timeline(asked), over.signal)
            : await hub.client.session.timeline(asked).catch(() => undefined);
        if (over.signal.aborted) return;
        if (page !== undefined) {
          head = head === undefined ? page : grown(head, page);
          items = [...items, ...page.items];
          setRecording(recordingOf(head, items));
          isThere ||= page.items.length === 0;
          if (!isThere) continue;
          if (!page.live && page.items.length === 0) return;
        }
        await pause(FOLLOW_MS, over.signal);
      }
    };
    void load();
    return () => over.abort();
  }, [hub, sessionId]);
  return recording;
}
