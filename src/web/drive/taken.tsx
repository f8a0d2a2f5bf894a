/** Typing took control from an agent: says so, and gives it back in one click. Rule WEB-24. */
import { type ReactNode, useEffect, useRef, useState } from "react";
import type { ControlState } from "../../domain/control-state.ts";
import type { Session } from "../../domain/session.ts";
import { shownText } from "../../domain/shown-text.ts";
import { driverOf } from "../model/driver.ts";
import { leaseBack } from "./lease-back.ts";
import { useControl, useHub, useMyId, useWorld } from "../model/use-hub.ts";

type From = { readonly agentId: string; readonly endsAt: number | undefined };

export function Taken({ session: { sessionId } }: { readonly session: Session }): ReactNode {
  const hub = useHub();
  const clockAheadMs = useWorld((it) => it.clockAheadMs);
  const [from, setFrom] = useTakenFrom(useControl(sessionId), useMyId());
  if (from === undefined) return null;
  const handBack = async (): Promise<void> => {
    const lease_seconds = leaseBack(from.endsAt, Date.now() + clockAheadMs);
    const asked = { sessionId, agent_id: from.agentId, lease_seconds };
    if ((await hub.act((it) => it.control.release(asked))) !== undefined) setFrom(undefined);
  };
  return (
    <p className="taken row" role="status">
      <span>You took control from {shownText(from.agentId)}.</span>
      <button type="button" onClick={() => void handBack()}>
        Hand back
      </button>
      <button className="plain" type="button" aria-label="Keep control" onClick={() => setFrom(undefined)}>
        ×
      </button>
    </p>
  );
}

function useTakenFrom(control: ControlState | undefined, me: string | undefined) {
  const before = useRef<From>(undefined);
  const [from, setFrom] = useState<From>();
  useEffect(() => {
    const { holder = null, reason, lease } = control ?? {};
    if (holder?.kind === "agent") {
      before.current = { agentId: holder.id, endsAt: lease?.endsAt };
      setFrom(undefined);
      return;
    }
    const isMine = driverOf(control, me).isMe;
    const agent = before.current;
    before.current = undefined;
    if (!isMine) setFrom(undefined);
    else if (agent !== undefined && reason === "user_input_override") setFrom(agent);
  }, [control, me]);
  return [from, setFrom] as const;
}
