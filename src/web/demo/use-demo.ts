import { createContext, use, useSyncExternalStore } from "react";
import type { Demo, DemoState } from "./demo.ts";

export const DemoContext = createContext<Demo | undefined>(undefined);

export function useDemo(): Demo {
  const demo = use(DemoContext);
  if (demo === undefined) throw new Error("outside of the page");
  return demo;
}

export function useDemoState(): DemoState | undefined {
  const demo = useDemo();
  return useSyncExternalStore(demo.subscribe, demo.state);
}
