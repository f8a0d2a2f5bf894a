import { type ReactNode, useState } from "react";
import { Dialog } from "./dialog.tsx";

/** A button for what can't be undone: it asks first. */
export function Sure({
  does,
  question,
  onSure,
}: {
  readonly does: string;
  readonly question: string;
  readonly onSure: () => Promise<unknown>;
}): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const sure = async (): Promise<void> => {
    setAsking(false);
    await onSure();
  };
  return (
    <>
      <button type="button" onClick={() => setAsking(true)}>
        {does}
      </button>
      {isAsking && (
        <Dialog title={does} onClose={() => setAsking(false)}>
          <p>{question}</p>
          <div className="row">
            <button className="danger" type="button" onClick={() => void sure()}>
              {does}
            </button>
            <button type="button" autoFocus onClick={() => setAsking(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
