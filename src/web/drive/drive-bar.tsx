/**
 * Who drives, unmistakably: the holder, the lease's end, what the person wants, how the agent stands; and the three choices that
 * a person always has. Rules WEB-20..WEB-26 in docs/spec/web.md.
 */
import { type ReactNode, useState } from "react";
import type { ControlState, Intent } from "../../domain/control-state.ts";
import type { Session } from "../../domain/session.ts";
import { agentText, DRIVER_SIGNS, driverText, factsOf } from "../model/driver.ts";
import { useAct, useControl, useDriver, useHub, useMayAct } from "../model/use-hub.ts";
import { Safely } from "../ui/safely.tsx";
import { Countdown } from "../ui/time.tsx";
import { AgentRequest, requestKey } from "./agent-request.tsx";
import { GrantDialog, HandBackDialog } from "./hand-over.tsx";
import { ReceiptCard } from "./receipt-card.tsx";
import { useShortcuts } from "./shortcuts.ts";
import "./drive.css";

type Bar = {
  readonly session: Session;
  /** It stands over the past, and says that it is the present. */
  readonly overPast?: boolean;
};

export function DriveBar({ session, overPast = false }: Bar): ReactNode {
  const mayAct = useMayAct();
  const control = useControl(session.sessionId);
  const driver = useDriver(session.sessionId);
  if (control === undefined) return null;
  return (
    <section className="drive" data-driver={driver.kind} aria-label="Who drives">
      <div className="drive-bar">
        <p className="driver">
          {overPast && <span className="badge">now</span>}
          <span className="driver-sign" aria-hidden="true">
            {DRIVER_SIGNS[driver.kind]}
          </span>
          {/* Without the time that is left: it would be read aloud each second. */}
          <span role="status">
            <strong>{driverText(driver)}</strong> <span className="soft">{factsOf(control, driver)}</span>
          </span>
          {control.lease !== null && (
            <span className="badge soft">
              lease <Countdown until={control.lease.endsAt} />
            </span>
          )}
          <AgentState control={control} />
        </p>
        {mayAct && <Choices session={session} control={control} />}
      </div>
      {control.request !== null && (
        <AgentRequest key={requestKey(control.request)} session={session} request={control.request} />
      )}
      <Safely what="the receipt of the last stop">
        <ReceiptCard sessionId={session.sessionId} />
      </Safely>
    </section>
  );
}

function AgentState({ control }: { readonly control: ControlState }): ReactNode {
  const text = agentText(control);
  return text === "" ? null : <span className="badge warn">{text}</span>;
}

type Chosen = { readonly session: Session; readonly control: ControlState };

function Choices({ session, control }: Chosen): ReactNode {
  const hub = useHub();
  const [open, setOpen] = useState<"grant" | "hand_back" | undefined>();
  const { sessionId } = session;
  const { isMe: isMine } = useDriver(sessionId);
  const take = () => void hub.act((it) => it.control.take({ sessionId }));
  const handBack = () => (isMine ? setOpen("hand_back") : undefined);
  useShortcuts({ KeyT: take, KeyG: () => setOpen("grant"), KeyH: handBack });
  return (
    <div className="choices" role="group" aria-label="Your choices">
      {isMine ? (
        <button type="button" aria-keyshortcuts="Alt+Shift+H" onClick={handBack}>
          Hand back …
        </button>
      ) : (
        <button type="button" aria-keyshortcuts="Alt+Shift+T" onClick={take}>
          Take control
        </button>
      )}
      <button type="button" aria-keyshortcuts="Alt+Shift+G" onClick={() => setOpen("grant")}>
        Grant …
      </button>
      <Three session={session} control={control} />
      {open === "grant" && (
        <GrantDialog session={session} agentId={control.request?.agentId} onClose={() => setOpen(undefined)} />
      )}
      {open === "hand_back" && <HandBackDialog session={session} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

/** STOP NOW can be pressed again while it is on its way: whoever doubts that it went out has nothing else. */
function Three({ session: { sessionId }, control }: Chosen): ReactNode {
  const hub = useHub();
  const { isBusy: isStopping, act: actToStop } = useAct();
  const want = (intent: Intent) => () => void hub.act((it) => it.control.user_intent({ sessionId, intent }));
  const stop = () => void actToStop((it) => it.control.user_intent({ sessionId, intent: "STOP_NOW" }));
  useShortcuts({ KeyW: want("WAIT"), KeyI: want("SAFE_INTERRUPT"), KeyX: stop });
  return (
    <span className="three">
      <button
        type="button"
        aria-keyshortcuts="Alt+Shift+W"
        aria-pressed={control.intent === "WAIT"}
        onClick={want("WAIT")}
      >
        Wait
      </button>
      <button
        type="button"
        aria-keyshortcuts="Alt+Shift+I"
        aria-pressed={control.intent === "SAFE_INTERRUPT"}
        onClick={want("SAFE_INTERRUPT")}
      >
        Interrupt safely
      </button>
      <button className="danger" type="button" aria-keyshortcuts="Alt+Shift+X" aria-busy={isStopping} onClick={stop}>
        {isStopping ? "Stopping …" : "STOP NOW"}
      </button>
    </span>
  );
}
