/** Search in what the terminal has; older output on demand. The addon is loaded with the first search. */
import type { SearchAddon } from "@xterm/addon-search";
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from "react";
import type { LiveScreen, Older } from "./live-screen.ts";

const COLOURS = {
  matchBackground: "#8a6d1d",
  activeMatchBackground: "#c9971c",
  matchOverviewRuler: "#8a6d1d",
  activeMatchColorOverviewRuler: "#c9971c",
};

type Searching = { readonly live: LiveScreen; readonly older: Older; readonly onClose: () => void };

export function SearchBar({ live, older, onClose }: Searching): ReactNode {
  const [text, setText] = useState("");
  const { search, told, setTold } = useSearch(live, () => find("findPrevious"));
  const find = (way: "findNext" | "findPrevious", wanted = text): void => {
    if (wanted === "") setTold("");
    else search.current?.[way](wanted, { decorations: COLOURS });
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "Escape") onClose();
    if (event.key === "Enter") find(event.shiftKey ? "findNext" : "findPrevious");
  };
  return (
    <div className="search-bar row" role="search" aria-label="Search in the terminal">
      <input
        aria-label="Search for"
        placeholder="Search"
        value={text}
        autoFocus
        onChange={(event) => {
          setText(event.target.value);
          find("findPrevious", event.target.value);
        }}
        onKeyDown={onKey}
      />
      <button type="button" aria-label="Older match" onClick={() => find("findPrevious")}>
        ↑
      </button>
      <button type="button" aria-label="Newer match" onClick={() => find("findNext")}>
        ↓
      </button>
      <span className="soft" role="status">
        {told}
      </span>
      {older === "maybe" && (
        <button type="button" onClick={() => void live.older().then(() => find("findPrevious"))}>
          Search older output
        </button>
      )}
      <button className="plain push" type="button" aria-label="Close the search" onClick={onClose}>
        ×
      </button>
    </div>
  );
}

/** `onReady`: whoever types before the addon is there wants what is typed by then. */
function useSearch(live: LiveScreen, onReady: () => void) {
  const search = useRef<SearchAddon>(undefined);
  const ready = useRef(onReady);
  ready.current = onReady;
  const [told, setTold] = useState("");
  useEffect(() => {
    const over = new AbortController();
    const load = async (): Promise<void> => {
      const addon = await import("@xterm/addon-search").catch(() => undefined);
      if (over.signal.aborted) return;
      if (addon === undefined) return setTold("The search could not be loaded. Open it again.");
      search.current = new addon.SearchAddon();
      live.screen.terminal.loadAddon(search.current);
      search.current.onDidChangeResults(({ resultIndex, resultCount }) =>
        setTold(
          resultCount === 0 ? "Nothing found" : `${resultIndex < 0 ? "many" : resultIndex + 1} of ${resultCount}`,
        ),
      );
      ready.current();
    };
    void load();
    return () => {
      over.abort();
      search.current?.dispose();
      live.screen.terminal.focus();
    };
  }, [live]);
  return { search, told, setTold };
}
