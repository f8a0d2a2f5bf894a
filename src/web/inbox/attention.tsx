import { type ReactNode, useEffect } from "react";
import { useShortcuts } from "../drive/shortcuts.ts";
import { pendingIn } from "../model/pending.ts";
import { useHub, useWorld } from "../model/use-hub.ts";
import { goToNext } from "./place.ts";

/** That something waits is seen wherever one is: in the page's title, by notifications, by the keyboard. */
export function Attention(): ReactNode {
  const hub = useHub();
  const count = useWorld((it) => pendingIn(it).length);
  useShortcuts({ KeyA: () => goToNext(pendingIn(hub.seen().world).map((it) => it.key)) });
  useEffect(() => {
    const stops = import("./notifier.ts").then((it) => it.startNotifying(hub));
    return () => void stops.then((stop) => stop());
  }, [hub]);
  return (
    <>
      <title>{count === 0 ? "Sidestick" : `(${count}) Sidestick`}</title>
      <p className="unseen" role="status">
        {count > 0 && `${count} ${count === 1 ? "thing waits" : "things wait"} in the inbox`}
      </p>
    </>
  );
}
