import { createContext, use, useEffect, useState, useSyncExternalStore } from "react";
import type { ControlState } from "../../domain/control-state.ts";
import { type Driver, driverOf, myId } from "./driver.ts";
import type { Hub, Notice } from "./hub.ts";
import type { World } from "./world.ts";

export const HubContext = createContext<Hub | undefined>(undefined);

export function useHub(): Hub {
  const hub = use(HubContext);
  if (hub === undefined) throw new Error("outside of the page");
  return hub;
}

/** A part of the world: the view is drawn again when that part is another one. */
export function useWorld<T>(part: (world: World) => T): T {
  const hub = useHub();
  return useSyncExternalStore(hub.subscribe, () => part(hub.seen().world));
}

export function useNotices(): readonly Notice[] {
  const hub = useHub();
  return useSyncExternalStore(hub.subscribe, () => hub.seen().notices);
}

export function useControl(sessionId: string): ControlState | undefined {
  return useWorld(({ controls }) => controls.get(sessionId));
}

export function useMyId(): string | undefined {
  return useWorld(myId);
}

export function useDriver(sessionId: string): Driver {
  return driverOf(useControl(sessionId), useMyId());
}

/** `hub.act`, and whether it still does: most buttons that were pressed aren't pressed twice. */
export function useAct(): { readonly isBusy: boolean; readonly act: Hub["act"] } {
  const hub = useHub();
  const [underWay, setUnderWay] = useState(0);
  const act: Hub["act"] = async (doing) => {
    setUnderWay((it) => it + 1);
    const done = await hub.act(doing);
    setUnderWay((it) => it - 1);
    return done;
  };
  return { isBusy: underWay > 0, act };
}

/** Whether this person may decide, or only look. */
export function useMayAct(): boolean {
  return useWorld(({ me }) => me?.role === "operator");
}

/** The hub's time, told anew so often. */
export function useNow(everyMs: number): number {
  const clockAheadMs = useWorld((it) => it.clockAheadMs);
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now + clockAheadMs;
}
