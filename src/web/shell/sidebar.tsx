import type { ReactNode } from "react";
import { SessionList } from "../sessions/session-list.tsx";

const PAGES = [
  ["hosts", "Hosts"],
  ["channels", "Channels"],
  ["policy", "Policy"],
  ["tokens", "Tokens"],
  ["doctor", "Doctor"],
] as const;

type Menu = { readonly page: string; readonly onChosen: () => void; readonly onEscape: () => void };

export function Sidebar({ page: here, onChosen, onEscape }: Menu): ReactNode {
  return (
    <nav
      id="menu"
      className="sidebar"
      aria-label="Sessions and settings"
      onClick={(event) => (event.target as Element).closest("a") !== null && onChosen()}
      onKeyDown={(event) =>
        event.key === "Escape" && (event.target as Element).closest("dialog") === null && onEscape()
      }
    >
      <SessionList />
      <ul className="pages">
        {PAGES.map(([page, name]) => (
          <li key={page}>
            <a href={`#/${page}`} aria-current={page === here ? "page" : undefined}>
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
