import type { ReactNode } from "react";
import { shownText } from "../../domain/shown-text.ts";
import { useHub, useMyId, useWorld } from "../model/use-hub.ts";
import { Ago } from "../ui/time.tsx";

type Told = {
  readonly dropped_inputs?: number;
  readonly dropped_bytes?: number;
  readonly killed?: readonly Process[];
  readonly killed_count?: number;
  readonly respawned?: boolean;
  readonly survivors?: readonly (Process & { readonly reason: string })[];
  readonly failed?: string;
};
type Process = { readonly pid: number; readonly program: string };

/** Who stopped, and what that dropped and killed; closed by whoever has read it. */
export function ReceiptCard({ sessionId }: { readonly sessionId: string }): ReactNode {
  const hub = useHub();
  const me = useMyId();
  const receipt = useWorld(({ receipts }) => receipts.get(sessionId));
  if (receipt === undefined) return null;
  const told = receipt.told as Told;
  const { killed = [], killed_count = 0, survivors = [], dropped_inputs = 0, dropped_bytes = 0 } = told;
  const { respawned, failed } = told;
  const by = receipt.by === undefined ? "" : ` by ${receipt.by === me ? "you" : shownText(receipt.by)}`;
  return (
    <div className="card receipt">
      <div className="row">
        {/* Without the time: it would be read aloud each minute. */}
        <span role="status">
          <strong>{failed === undefined ? `Stopped${by}.` : `The stop${by} failed: ${shownText(failed)}`}</strong>{" "}
          {killed_count} {killed_count === 1 ? "process" : "processes"} killed, {dropped_inputs}{" "}
          {dropped_inputs === 1 ? "input" : "inputs"} ({dropped_bytes} bytes) dropped
          {respawned === true && ", the shell was started anew"}.
        </span>{" "}
        <span className="soft push">
          <Ago at={receipt.at} />
        </span>
        <button
          className="plain"
          type="button"
          aria-label="Close the receipt"
          onClick={() => hub.closeReceipt(sessionId)}
        >
          ×
        </button>
      </div>
      {survivors.length > 0 && (
        <p className="bad" role="status">
          Still there: {survivors.map((it) => `${nameOf(it)}: ${shownText(it.reason)}`).join(", ")}
        </p>
      )}
      {killed.length > 0 && <p className="soft">Killed: {killed.map(nameOf).join(", ")}</p>}
    </div>
  );
}

function nameOf({ program, pid }: Process): string {
  return `${shownText(program)} (${pid})`;
}
