import { type ReactNode, useState } from "react";
import type { ControlState } from "../../domain/control-state.ts";
import { shownText } from "../../domain/shown-text.ts";
import type { Session } from "../../domain/session.ts";
import { useHub, useMayAct } from "../model/use-hub.ts";
import { useStill } from "../ui/still.ts";
import { GrantDialog } from "./hand-over.tsx";

type Request = NonNullable<ControlState["request"]>;

/** Another one in its place is another thing to decide: as a `key`. */
export function requestKey({ agentId, at }: Request): string {
  return `${at} ${agentId}`;
}

/** An agent asks for control, in its own words. */
export function AgentRequest({
  session,
  request,
}: {
  readonly session: Session;
  readonly request: Request;
}): ReactNode {
  const hub = useHub();
  const mayAct = useMayAct();
  const [isGranting, setGranting] = useState(false);
  const { sessionId } = session;
  const decline = { sessionId, agent_id: request.agentId };
  return (
    <div className="card request" {...useStill<HTMLDivElement>()}>
      <p role="alert">
        <strong>{shownText(request.agentId)}</strong> asks for control, and says:
      </p>
      <blockquote>{shownText(request.reason)}</blockquote>
      {mayAct && (
        <div className="row">
          <button className="main" type="button" onClick={() => setGranting(true)}>
            Grant …
          </button>
          <button type="button" onClick={() => void hub.act((it) => it.control.decline(decline))}>
            Decline
          </button>
        </div>
      )}
      {isGranting && <GrantDialog session={session} agentId={request.agentId} onClose={() => setGranting(false)} />}
    </div>
  );
}
