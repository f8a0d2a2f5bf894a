import { useEffect, useRef } from "react";

/** By the key's place, with Alt and Shift: no shell or editor gets those, and they work on every keyboard. */
export type Shortcuts = Readonly<Record<string, () => void>>;

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!event.altKey || !event.shiftKey || event.ctrlKey || event.metaKey) return;
      const act = latest.current[event.code];
      if (act === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      if (!event.repeat) act();
    };
    // Before the terminal sees it.
    addEventListener("keydown", onKey, { capture: true });
    return () => removeEventListener("keydown", onKey, { capture: true });
  }, []);
}
