import type { ReactNode } from "react";
import { shownText } from "../../domain/shown-text.ts";
import { useHub, useNotices } from "../model/use-hub.ts";

export function Notices(): ReactNode {
  const hub = useHub();
  return (
    <div className="notices" role="log" aria-live="polite" aria-label="What happened">
      {useNotices().map(({ id, tone, text }) => (
        <p key={id} className={`card notice ${tone}`}>
          <span>{shownText(text)}</span>
          <button className="plain" type="button" aria-label="Dismiss" onClick={() => hub.dismiss(id)}>
            ×
          </button>
        </p>
      ))}
    </div>
  );
}
