/** The commands of a session: how they ended, how long they took; each can be jumped to and copied. Rule WEB-38. */
import { type ReactNode, useEffect, useState } from "react";
import { displayText } from "../../domain/display-text.ts";
import { shownText } from "../../domain/shown-text.ts";
import type { WorkspaceEvent } from "../../protocol/events.ts";
import type { Hub } from "../model/hub.ts";
import { linkTo } from "../model/route.ts";
import { useHub } from "../model/use-hub.ts";
import { type Block, BLOCK_EVENTS, foldBlocks, outcomeText, tookText } from "./blocks.ts";
import { copyText } from "../ui/copy.ts";
import type { LiveScreen } from "./live-screen.ts";
import { Past } from "./past.ts";

const PAGE = 1000;
const COPIED_BYTES = 1024 * 1024;

type Panel = { readonly sessionId: string; readonly live: LiveScreen | undefined; readonly onClose: () => void };

export function BlocksPanel({ sessionId, live, onClose }: Panel): ReactNode {
  const hub = useHub();
  const blocks = useBlocks(hub, sessionId);
  const jump = async ({ cursor }: Block): Promise<void> => {
    // There it covers the terminal.
    if (matchMedia("(width <= 48rem)").matches) onClose();
    if ((await live?.jump(cursor)) !== true) location.hash = `${linkTo("session", sessionId, "replay")}?at=c${cursor}`;
  };
  const copyOutput = async (block: Block): Promise<void> => {
    const copied = await hub.act(() => outputOf(hub, sessionId, block).then(copyText));
    const isCut = (block.end?.cursor ?? 0) - block.cursor > COPIED_BYTES;
    if (copied !== undefined) hub.tell(isCut ? "Copied the first MiB of the output." : "Copied the output.");
  };
  return (
    <aside className="blocks" aria-label="Commands" onKeyDown={(event) => event.key === "Escape" && onClose()}>
      <div className="row">
        <h2>Commands</h2>
        <button className="plain push" type="button" aria-label="Close the list of commands" onClick={onClose}>
          ×
        </button>
      </div>
      {blocks.length === 0 && (
        <p className="soft">
          None yet. What an agent or `sidestick run` runs is listed here; what a person types isn't.
        </p>
      )}
      <ol>
        {blocks.toReversed().map((block) => (
          <li key={block.blockId} data-outcome={block.end?.exitCode ?? "running"}>
            <code>{shownText(block.command)}</code>
            <span className="soft">
              <span className={block.end?.exitCode === 0 ? "good" : block.end === undefined ? "warn" : "bad"}>
                {outcomeText(block)}
              </span>{" "}
              {tookText(block.end?.durationMs)} · {block.by}
            </span>
            <span className="row">
              <button type="button" onClick={() => void jump(block)}>
                Jump
              </button>
              <button type="button" onClick={() => void hub.act(() => copyText(block.command))}>
                Copy command
              </button>
              <button type="button" onClick={() => void copyOutput(block)}>
                Copy output
              </button>
            </span>
          </li>
        ))}
      </ol>
    </aside>
  );
}

function useBlocks(hub: Hub, sessionId: string): readonly Block[] {
  const [blocks, setBlocks] = useState<readonly Block[]>([]);
  useEffect(() => {
    const over = new AbortController();
    const fold = (events: readonly WorkspaceEvent[]): void => setBlocks((before) => events.reduce(foldBlocks, before));
    const load = async (): Promise<void> => {
      for (let after: number | undefined; !over.signal.aborted;) {
        const page = await hub.act((it) => it.event.list({ sessionId, types: [...BLOCK_EVENTS], after, limit: PAGE }));
        if (page === undefined || page.length === 0 || over.signal.aborted) return;
        fold(page);
        after = page.at(-1)?.sequence;
      }
    };
    // What comes while older ones are loaded stands behind them.
    let late: WorkspaceEvent[] | undefined = [];
    const begin = async (): Promise<void> => {
      await load();
      fold(late ?? []);
      late = undefined;
    };
    void begin();
    const unlisten = hub.onEvent((event) => {
      if (event.sessionId !== sessionId) return;
      if (late === undefined) fold([event]);
      else late.push(event);
    });
    return () => {
      over.abort();
      unlisten();
    };
  }, [hub, sessionId]);
  return blocks;
}

async function outputOf(hub: Hub, sessionId: string, { cursor, end }: Block): Promise<string> {
  const to = Math.min(end?.cursor ?? Infinity, cursor + COPIED_BYTES);
  const parts = await new Past(hub.client, sessionId).bytes(cursor, to);
  const bytes = new Uint8Array(await new Blob([...parts] as BlobPart[]).arrayBuffer());
  return displayText(bytes, { headBytes: COPIED_BYTES, tailBytes: COPIED_BYTES }).text;
}
