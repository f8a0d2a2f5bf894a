import { type ReactNode, useLayoutEffect, useRef, useState } from "react";
import { useNotices } from "../model/use-hub.ts";

/** Modal while it is there; Escape and the button "Cancel" close it. What goes wrong meanwhile is told in it: all else is behind it. */
export function Dialog({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}): ReactNode {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // One that is only taken away doesn't give the keyboard back to where it was.
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} aria-label={title} onClose={onClose}>
      <div className="stack">
        <h2>{title}</h2>
        {children}
        <Trouble />
      </div>
    </dialog>
  );
}

/** At the end of its form. */
export function DialogButtons({
  does,
  isBusy,
  onClose,
}: {
  readonly does: string;
  readonly isBusy: boolean;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <div className="row">
      <button className="main" type="submit" disabled={isBusy}>
        {does}
      </button>
      <button type="button" onClick={onClose}>
        Cancel
      </button>
    </div>
  );
}

function Trouble(): ReactNode {
  const notices = useNotices();
  const [toldBefore] = useState(() => notices.at(-1)?.id ?? 0);
  const trouble = notices.findLast(({ id, tone }) => tone === "bad" && id > toldBefore);
  return (
    <p className="bad" role="alert">
      {trouble?.text}
    </p>
  );
}
