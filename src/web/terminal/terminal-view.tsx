/** A session's terminal in the page: watched from the beginning, driven from the first key on. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { Session } from "../../domain/session.ts";
import { useShortcuts } from "../drive/shortcuts.ts";
import { linkTo } from "../model/route.ts";
import { useDriver, useHub, useMayAct } from "../model/use-hub.ts";
import { BlocksPanel } from "./blocks-panel.tsx";
import { copyText } from "../ui/copy.ts";
import { LiveScreen, type LiveState } from "./live-screen.ts";
import { PasteDialog } from "./paste-dialog.tsx";
import { needsLook, pasteable } from "./paste-text.ts";
import { SearchBar } from "./search-bar.tsx";
import { ShellChangesDialog } from "./shell-changes.tsx";
import "@xterm/xterm/css/xterm.css";
import "./terminal.css";

type Open = "search" | "blocks" | "changes";

export function TerminalView({ session }: { readonly session: Session }): ReactNode {
  const { sessionId } = session;
  const place = useRef<HTMLDivElement>(null);
  const [open, setOpen] = useState<Open | undefined>();
  const { live, state } = useLive(place, sessionId);
  const { pasted, setPasted, paste } = usePaste(place, live);
  useTerminalKeys(live, () => setOpen("search"));
  const tools = useRef<HTMLDivElement>(null);
  const leave = (): void => tools.current?.querySelector("button")?.focus();
  useShortcuts({ KeyL: leave });
  const close = (): void => setOpen(undefined);
  const closeBlocks = (): void => {
    close();
    leave();
  };
  return (
    <section className="terminal" aria-label="Terminal">
      <Tools place={tools} session={session} live={live} state={state} open={open} onOpen={setOpen} />
      {open === "search" && live !== undefined && <SearchBar live={live} older={state.older} onClose={close} />}
      <div className="terminal-body">
        {!state.isThere && <p className="terminal-wait soft">Attaching …</p>}
        <div
          ref={place}
          className="terminal-place"
          data-session={sessionId}
          data-older={state.older}
          data-there={state.isThere}
        />
        {open === "blocks" && <BlocksPanel sessionId={sessionId} live={live} onClose={closeBlocks} />}
      </div>
      {open === "changes" && <ShellChangesDialog sessionId={sessionId} onClose={close} />}
      {pasted !== undefined && <PasteDialog text={pasted} onPaste={paste} onClose={() => setPasted(undefined)} />}
    </section>
  );
}

type ToolsOf = {
  readonly place: React.RefObject<HTMLDivElement | null>;
  readonly session: Session;
  readonly live: LiveScreen | undefined;
  readonly state: LiveState;
  readonly open: Open | undefined;
  readonly onOpen: (open: Open | undefined) => void;
};

function Tools({ place, session: { sessionId, status }, live, state, open, onOpen }: ToolsOf): ReactNode {
  const hub = useHub();
  const { isMe } = useDriver(sessionId);
  const drives = isMe && status !== "closed";
  const toggle = (what: Open) => () => onOpen(open === what ? undefined : what);
  const fit = (): void => {
    if (live === undefined) return;
    const { cols, rows } = live.screen.capacity();
    hub.stream.resize(sessionId, cols, rows);
    live.screen.terminal.focus();
  };
  return (
    <div ref={place} className="terminal-tools row" role="group" aria-label="Terminal tools">
      <button type="button" aria-pressed={open === "blocks"} onClick={toggle("blocks")}>
        Commands
      </button>
      <button
        type="button"
        aria-pressed={open === "search"}
        aria-keyshortcuts="Control+Shift+F"
        onClick={toggle("search")}
      >
        Search
      </button>
      {state.hasSelection && (
        <button type="button" onClick={() => void hub.act(() => copyText(live?.screen.terminal.getSelection() ?? ""))}>
          Copy
        </button>
      )}
      {drives && (
        <>
          <button type="button" onClick={fit}>
            Fit to this window
          </button>
          <button type="button" onClick={toggle("changes")}>
            Shell changes …
          </button>
        </>
      )}
      {live !== undefined && <ScreenReaderButton live={live} />}
      <a className="button" href={linkTo("session", sessionId, "replay")}>
        Replay
      </a>
      <span className="soft" role="status">
        {OLDER[state.older]}
      </span>
    </div>
  );
}

function ScreenReaderButton({ live: { screen } }: { readonly live: LiveScreen }): ReactNode {
  const [isReadable, setIsReadable] = useState(screen.isReadable);
  const toggle = (): void => {
    screen.isReadable = !isReadable;
    setIsReadable(!isReadable);
  };
  return (
    <button type="button" aria-pressed={isReadable} title="Lets a screen reader read the terminal" onClick={toggle}>
      Screen reader
    </button>
  );
}

const OLDER: Readonly<Record<LiveState["older"], string>> = {
  maybe: "",
  loading: "Loading older output …",
  all: "All kept output is here.",
  far: "What is older is in the replay.",
};

function useLive(place: React.RefObject<HTMLDivElement | null>, sessionId: string) {
  const hub = useHub();
  const mayType = useMayAct();
  const [live, setLive] = useState<LiveScreen>();
  const [state, setState] = useState<LiveState>({ isThere: false, older: "maybe", hasSelection: false });
  useEffect(() => {
    if (place.current === null) return undefined;
    const made = new LiveScreen(hub, sessionId, { place: place.current, mayType, onState: setState });
    setLive(made);
    // Whoever fills in something meanwhile, a password perhaps, goes on there.
    if (document.activeElement?.matches("input, textarea, select") !== true) made.screen.terminal.focus();
    return () => made.end();
  }, [hub, place, sessionId, mayType]);
  return { live, state };
}

/** Before the terminal has it: one plain line goes in, all else is shown first. */
function usePaste(place: React.RefObject<HTMLDivElement | null>, live: LiveScreen | undefined) {
  const mayType = useMayAct();
  const [pasted, setPasted] = useState<string>();
  const paste = (text: string): void => {
    live?.screen.terminal.paste(pasteable(text));
    live?.screen.terminal.focus();
  };
  useEffect(() => {
    const element = place.current;
    const onPaste = (event: ClipboardEvent): void => {
      event.preventDefault();
      event.stopPropagation();
      const text = event.clipboardData?.getData("text/plain") ?? "";
      if (!mayType || text === "") return;
      if (needsLook(text)) setPasted(text);
      else live?.screen.terminal.paste(text);
    };
    element?.addEventListener("paste", onPaste, { capture: true });
    return () => element?.removeEventListener("paste", onPaste, { capture: true });
  }, [place, live, mayType]);
  return { pasted, setPasted, paste };
}

/** What the page takes of the keys before the program gets them. */
function useTerminalKeys(live: LiveScreen | undefined, onSearch: () => void): void {
  const hub = useHub();
  const search = useRef(onSearch);
  search.current = onSearch;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isControl(event) || !event.shiftKey || event.code !== "KeyF") return;
      event.preventDefault();
      event.stopPropagation();
      search.current();
    };
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, []);
  useEffect(() => {
    live?.screen.terminal.attachCustomKeyEventHandler((event) => {
      const text = live.screen.terminal.getSelection();
      if (event.type !== "keydown" || !isControl(event) || event.code !== "KeyC" || text === "") return true;
      event.preventDefault();
      void hub.act(() => copyText(text));
      live.screen.terminal.clearSelection();
      return false;
    });
  }, [hub, live]);
}

function isControl({ ctrlKey, altKey, metaKey }: KeyboardEvent): boolean {
  return ctrlKey && !altKey && !metaKey;
}
