import type { ReactNode, RefObject } from "react";
import { linkTo } from "../model/route.ts";
import { useWorld } from "../model/use-hub.ts";
import { pendingIn } from "../model/pending.ts";
import type { LinkState } from "../model/world.ts";

const LINKS: Readonly<Record<LinkState, { readonly sign: string; readonly text: string; readonly tone: string }>> = {
  live: { sign: "●", text: "live", tone: "good" },
  connecting: { sign: "◌", text: "connecting", tone: "soft" },
  catching_up: { sign: "◐", text: "catching up", tone: "warn" },
  offline: { sign: "○", text: "offline, trying again", tone: "bad" },
  guest: { sign: "○", text: "not logged in", tone: "bad" },
  broken: { sign: "✕", text: "broken: load the page again", tone: "bad" },
};

type Bar = {
  readonly menuButton: RefObject<HTMLButtonElement | null>;
  readonly isMenuOpen: boolean;
  readonly onMenu: () => void;
};

export function TopBar({ menuButton, isMenuOpen, onMenu }: Bar): ReactNode {
  const link = useWorld((it) => it.link);
  const me = useWorld((it) => it.me);
  const { sign, text, tone } = LINKS[link];
  const pending = useWorld((it) => pendingIn(it).length);
  return (
    <header className="top-bar">
      <button
        ref={menuButton}
        className="plain menu-button"
        type="button"
        aria-expanded={isMenuOpen}
        aria-controls="menu"
        onClick={onMenu}
      >
        <span aria-hidden="true">☰</span>
        <span className="unseen">Menu</span>
      </button>
      <a className="brand" href="#/">
        Sidestick
      </a>
      <span className={tone} role="status" data-link={link}>
        <span aria-hidden="true">{sign}</span> {text}
      </span>
      <a className="button push" href={linkTo("inbox")} data-count={pending}>
        Inbox
        {pending > 0 && <span className="badge warn">{pending}</span>}
      </a>
      <span className="soft who">
        {me?.id}
        {me?.role === "viewer" && " (only looks)"}
      </span>
    </header>
  );
}
