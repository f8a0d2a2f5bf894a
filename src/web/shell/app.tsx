/** The frame around every view: where one is, how the page stands with the hub, what was told. */
import { lazy, type ReactNode, Suspense, useLayoutEffect, useRef, useState } from "react";
import { useRoute } from "../model/route.ts";
import { useHub, useWorld } from "../model/use-hub.ts";
import { Attention } from "../inbox/attention.tsx";
import { InboxPage } from "../inbox/inbox-page.tsx";
import { SessionPage } from "../sessions/session-page.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Notices } from "./notices.tsx";
import { TopBar } from "./top-bar.tsx";
import { Welcome } from "../welcome/welcome.tsx";
import { Safely } from "../ui/safely.tsx";
import { Guest } from "../welcome/guest.tsx";
import "./shell.css";

const Settings = lazy(() => import("../settings/settings.tsx"));

export function App(): ReactNode {
  const hub = useHub();
  const link = useWorld((it) => it.link);
  const isKnown = useWorld(({ me }) => me !== undefined);
  const { page, id, sub } = useRoute();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  const closeMenu = (): void => {
    setMenuOpen(false);
    menuButton.current?.focus();
  };
  const main = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    // Each view is shown from its beginning, before it goes to a card of its own, and not behind the menu that led to it.
    setMenuOpen(false);
    if (main.current !== null) main.current.scrollTop = 0;
    hub.dismissAll();
  }, [hub, page, id, sub]);
  if (link === "guest") return <Guest wasIn={isKnown} />;
  return (
    <div className="shell" data-menu={isMenuOpen}>
      <button className="skip" type="button" onClick={() => document.getElementById("main")?.focus()}>
        Skip to the content
      </button>
      <TopBar menuButton={menuButton} isMenuOpen={isMenuOpen} onMenu={() => setMenuOpen(!isMenuOpen)} />
      <Safely what="the list of sessions">
        <Sidebar page={page} onChosen={() => setMenuOpen(false)} onEscape={closeMenu} />
      </Safely>
      <main ref={main} id="main" tabIndex={-1}>
        {isKnown ? (
          <Safely key={`${page}/${id}`} what="this view">
            <View page={page} id={id} />
          </Safely>
        ) : (
          <p className="page soft">Connecting to the hub …</p>
        )}
      </main>
      <Notices />
      <Attention />
    </div>
  );
}

function View({ page, id }: { readonly page: string; readonly id: string }): ReactNode {
  switch (page) {
    case "session":
      return <SessionPage sessionId={id} />;
    case "inbox":
      return <InboxPage />;
    case "channels":
    case "doctor":
    case "hosts":
    case "policy":
    case "tokens":
      return (
        <Suspense fallback={<p className="page soft">Loading …</p>}>
          <Settings page={page} />
        </Suspense>
      );
    default:
      return <Welcome />;
  }
}
