import { type FormEvent, type ReactNode, useState } from "react";
import { grantWarning } from "../../domain/containment.ts";
import type { Session } from "../../domain/session.ts";
import { useAct } from "../model/use-hub.ts";
import { Dialog, DialogButtons } from "../ui/dialog.tsx";
import { filledIn } from "../ui/form.ts";

const LEASES = [
  [60, "1 minute"],
  [300, "5 minutes"],
  [900, "15 minutes"],
  [3600, "1 hour"],
] as const;

type Grants = {
  readonly session: Session;
  /** Who asked for it. */
  readonly agentId: string | undefined;
  readonly onClose: () => void;
};

export function GrantDialog({ session, agentId, onClose }: Grants): ReactNode {
  const { isBusy, act } = useAct();
  const { sessionId, containment, user, ownerAgentId } = session;
  const warning = grantWarning(containment, user);
  // As it was when the dialog opened: who asks afterwards must not get into a field that is about to be sent.
  const [asked] = useState(agentId ?? ownerAgentId ?? "");
  const grant = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const field = filledIn(event);
    const [agent, note] = [field("agent"), field("note")];
    const granted = await act((client) =>
      client.control.grant({
        sessionId,
        attend: true,
        lease_seconds: Number(field("lease")),
        ...(agent !== "" && { agent_id: agent }),
        ...(note !== "" && { note }),
      }),
    );
    if (granted !== undefined) onClose();
  };
  return (
    <Dialog title="Grant control to an agent" onClose={onClose}>
      <form onSubmit={(event) => void grant(event)}>
        {warning !== undefined && <p className="card warn">{warning}</p>}
        <label>
          Agent
          <input name="agent" defaultValue={asked} placeholder="the first agent that acts" maxLength={128} />
        </label>
        <Lease />
        <label>
          Note for the agent
          <textarea name="note" rows={2} maxLength={4000} />
        </label>
        <DialogButtons does="Grant" isBusy={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

export function HandBackDialog({ session, onClose }: Pick<Grants, "session" | "onClose">): ReactNode {
  const { isBusy, act } = useAct();
  const { sessionId } = session;
  const release = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const field = filledIn(event);
    const note = field("note");
    const lease = Number(field("lease"));
    const released = await act((client) =>
      client.control.release({ sessionId, ...(note !== "" && { note }), ...(lease > 0 && { lease_seconds: lease }) }),
    );
    if (released !== undefined) onClose();
  };
  return (
    <Dialog title="Hand back" onClose={onClose}>
      <form onSubmit={(event) => void release(event)}>
        <label>
          What the agent should know
          <textarea name="note" rows={3} maxLength={4000} autoFocus />
        </label>
        <Lease none="Nobody: agents may take it where the workspace lets them" />
        <DialogButtons does="Hand back" isBusy={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

function Lease({ none }: { readonly none?: string }): ReactNode {
  return (
    <label>
      {none === undefined ? "For how long" : "To whom"}
      <select name="lease" defaultValue={300}>
        {none !== undefined && <option value={0}>{none}</option>}
        {LEASES.map(([seconds, text]) => (
          <option key={seconds} value={seconds}>
            {none === undefined ? text : `The agent, for ${text}`}
          </option>
        ))}
      </select>
    </label>
  );
}
