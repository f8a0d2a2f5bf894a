import { type ReactNode, useState } from "react";
import { linkTo } from "../model/route.ts";
import { useDemo } from "./use-demo.ts";

/** Starts the demo and goes where it runs. */
export function StartDemo({ does }: { readonly does: string }): ReactNode {
  const demo = useDemo();
  const [isBusy, setBusy] = useState(false);
  const start = async (): Promise<void> => {
    setBusy(true);
    const sessionId = await demo.start();
    setBusy(false);
    if (sessionId !== undefined) location.hash = linkTo("session", sessionId);
  };
  return (
    <button className="main" type="button" disabled={isBusy} onClick={() => void start()}>
      {does}
    </button>
  );
}
