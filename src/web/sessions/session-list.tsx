/** All sessions by workspace and host: what they are, who drives, what is pending. */
import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import type { Session } from "../../domain/session.ts";
import { driverText, titleOf } from "../model/driver.ts";
import { pendingCounts } from "../model/pending.ts";
import { linkTo, useRoute } from "../model/route.ts";
import { useDriver, useMayAct, useWorld } from "../model/use-hub.ts";
import { NewSession } from "./new-session.tsx";
import "./sessions.css";

export function SessionList(): ReactNode {
  const sessions = useWorld((it) => it.sessions);
  const hosts = useWorld((it) => it.hosts);
  const mayAct = useMayAct();
  const { page, id } = useRoute();
  const [isMaking, setMaking] = useState(false);
  const groups = useMemo(() => groupsOf(sessions), [sessions]);
  return (
    <section className="session-list" aria-label="Sessions">
      <div className="row">
        <h2>Sessions</h2>
        {mayAct && (
          <button className="push" type="button" onClick={() => setMaking(true)}>
            New terminal
          </button>
        )}
      </div>
      {groups.length === 0 && <p className="soft">No open session.</p>}
      {groups.map(([place, there]) => (
        <div key={place}>
          <h3 className="session-place">{placeText(place, (hostId) => hosts.get(hostId)?.name)}</h3>
          <ul>
            {there.map((it) => (
              <Row key={it.sessionId} session={it} isHere={page === "session" && id === it.sessionId} />
            ))}
          </ul>
        </div>
      ))}
      {isMaking && <NewSession onClose={() => setMaking(false)} />}
    </section>
  );
}

type RowProps = { readonly session: Session; readonly isHere: boolean };

const Row = memo(function Row({ session, isHere }: RowProps): ReactNode {
  const driver = useDriver(session.sessionId);
  const pending = useWorld((it) => pendingCounts(it).get(session.sessionId) ?? 0);
  const { kind } = driver;
  const isOpen = session.status !== "closed";
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    // One of many may be out of sight.
    if (isHere) link.current?.scrollIntoView({ block: "nearest" });
  }, [isHere]);
  return (
    <li className="session-row" data-driver={isOpen ? kind : "nobody"}>
      <a ref={link} href={linkTo("session", session.sessionId)} aria-current={isHere ? "page" : undefined}>
        <span className="session-title">{titleOf(session)}</span>
        <span className="soft">
          {session.kind}
          {session.status === "active" ? "" : `, ${session.status}`}
          {isOpen && kind !== "nobody" && ` · ${driverText(driver)}`}
        </span>
      </a>
      {pending > 0 && (
        <span className="badge warn">
          {pending}
          <span className="unseen"> waiting for you</span>
        </span>
      )}
    </li>
  );
});

/** Open ones first; of the closed ones those that were closed last. */
function groupsOf(sessions: ReadonlyMap<string, Session>): readonly (readonly [string, readonly Session[]])[] {
  const open = [...sessions.values()].filter((it) => it.status !== "closed");
  const closed = [...sessions.values()].filter((it) => it.status === "closed");
  const byPlace = Map.groupBy(open, (it) => `${it.workspaceId}\n${it.hostId}`);
  const latest = closed.toSorted((a, b) => (a.updatedAt > b.updatedAt ? -1 : 1));
  return [...byPlace, ...(latest.length === 0 ? [] : [["closed", latest] as const])];
}

function placeText(place: string, nameOf: (hostId: string) => string | undefined): string {
  const [workspace = "", host] = place.split("\n");
  if (host === undefined) return "Closed";
  return host === "local" ? workspace : `${workspace} on ${nameOf(host) ?? host}`;
}
