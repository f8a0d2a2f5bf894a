/** One session: who drives it, what is asked in it, and its terminal. */
import { lazy, type ReactNode, Suspense } from "react";
import type { Session } from "../../domain/session.ts";
import { shownText } from "../../domain/shown-text.ts";
import { DemoGuide } from "../demo/demo-guide.tsx";
import { DriveBar } from "../drive/drive-bar.tsx";
import { Taken } from "../drive/taken.tsx";
import { SessionCards } from "../inbox/session-cards.tsx";
import { titleOf } from "../model/driver.ts";
import { useRoute } from "../model/route.ts";
import { useHub, useMayAct } from "../model/use-hub.ts";
import { Safely } from "../ui/safely.tsx";
import { Sure } from "../ui/sure.tsx";
import { useSession } from "./use-session.ts";

/** The terminal is as large as all the rest: it comes when one is looked at. */
const TerminalView = lazy(async () => ({ default: (await import("../terminal/terminal-view.tsx")).TerminalView }));
const ReplayView = lazy(async () => ({ default: (await import("../replay/replay-view.tsx")).ReplayView }));

export function SessionPage({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useSession(sessionId);
  const { sub } = useRoute();
  if (session === undefined) return <p className="page soft">Loading …</p>;
  if (session === null) {
    return (
      <div className="page">
        <h1>There is no such session</h1>
        <p className="soft">The address may be incomplete. Choose a session from the list.</p>
      </div>
    );
  }
  if (sub === "replay") {
    return (
      <div className="session-page">
        {session.status !== "closed" && <DriveBar session={session} overPast />}
        <Safely what="the replay">
          <Suspense fallback={<p className="page soft">Loading the replay …</p>}>
            <ReplayView session={session} />
          </Suspense>
        </Safely>
      </div>
    );
  }
  return (
    <article className="session-page" aria-label={titleOf(session)}>
      <Head session={session} />
      <DemoGuide sessionId={sessionId} />
      {session.status !== "closed" && <DriveBar session={session} />}
      <Taken session={session} />
      <Safely what="what is asked here">
        <SessionCards sessionId={sessionId} />
      </Safely>
      <Safely what="the terminal">
        <Suspense fallback={<p className="page soft">Loading the terminal …</p>}>
          <TerminalView session={session} />
        </Suspense>
      </Safely>
    </article>
  );
}

const PLACES = {
  guard: "guarded",
  user: "another account",
  open: "open",
} as const satisfies Record<Session["containment"], string>;

function Head({ session }: { readonly session: Session }): ReactNode {
  const hub = useHub();
  const mayAct = useMayAct();
  const { sessionId, status, containment, reason, detail } = session;
  return (
    <header className="session-head">
      <h1 title={titleOf(session)}>{titleOf(session)}</h1>
      <span className={containment === "guard" ? "badge good" : "badge warn"}>{PLACES[containment]}</span>
      {status !== "active" && <span className="badge soft">{status}</span>}
      {status === "closed" && (
        <span className="soft">
          {shownText([reason === "closed" ? "" : reason, detail].filter(Boolean).join(": "))}
        </span>
      )}
      {mayAct && status !== "closed" && (
        <span className="row push">
          {status === "paused" ? (
            <button type="button" onClick={() => void hub.act((it) => it.session.resume({ sessionId }))}>
              Resume
            </button>
          ) : (
            <button type="button" onClick={() => void hub.act((it) => it.session.pause({ sessionId }))}>
              Pause
            </button>
          )}
          <Sure
            does="Close"
            question="What runs in it is ended, for you and for agents, and can't be taken up again. Its past can still be replayed."
            onSure={() => hub.act((it) => it.session.close({ sessionId }))}
          />
        </span>
      )}
    </header>
  );
}
