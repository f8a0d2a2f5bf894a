import { useEffect, useState } from "react";
import type { SidestickClient } from "../../client/client.ts";
import { useHub, useWorld } from "./use-hub.ts";

/** `hasFailed`: the last time. What was answered before stays. */
export type Asked<T> = { readonly value: T | undefined; readonly hasFailed: boolean; readonly again: () => void };

/** Asks once the view is there, when told to, and after each lost connection. Undefined: not answered yet. */
export function useAsked<T>(ask: (client: SidestickClient) => Promise<T>): Asked<T> {
  const hub = useHub();
  const isLive = useWorld(({ link }) => link === "live");
  const [value, setValue] = useState<T>();
  const [hasFailed, setFailed] = useState(false);
  const [count, setCount] = useState(0);
  useEffect(() => {
    if (!isLive) return undefined;
    let isOver = false;
    const look = async (): Promise<void> => {
      setFailed(false);
      const answer = await hub.act(ask);
      if (isOver) return;
      setFailed(answer === undefined);
      if (answer !== undefined) setValue(answer);
    };
    void look();
    return () => {
      isOver = true;
    };
    // What is asked is the view's own, and never changes.
  }, [hub, isLive, count]);
  return { value, hasFailed, again: () => setCount((it) => it + 1) };
}
