/** Everything that waits for a person, over all sessions, and what was decided lately. Rule WEB-52. */
import type { ReactNode } from "react";
import { commandOf } from "../../domain/approval-words.ts";
import { shownText } from "../../domain/shown-text.ts";
import { type Asked, askedIn } from "../model/pending.ts";
import { useWorld } from "../model/use-hub.ts";
import { Ago } from "../ui/time.tsx";
import { AskedCard, outcomeText } from "./asked-card.tsx";
import { SessionLink } from "./card-frame.tsx";
import { NotifyButton } from "./notify-button.tsx";
import { useShown } from "./use-shown.ts";

const LATELY_SHOWN = 20;

export function InboxPage(): ReactNode {
  const asked = useWorld(askedIn);
  const { shown, dismiss } = useShown(asked);
  const cards = new Set(shown.map((it) => it.key));
  const lately = asked.filter((it) => !it.waits && !cards.has(it.key)).toReversed();
  return (
    <div className="page">
      <div className="row">
        <h1>Inbox</h1>
        <span className="soft inbox-key">
          <kbd>Alt+Shift+A</kbd> goes to the next
        </span>
        <NotifyButton />
      </div>
      {!shown.some((it) => it.waits) && (
        <p className="card" role="status">
          Nothing waits for you. What agents and programs ask appears here, and in its session.
        </p>
      )}
      {shown.map((it) => (
        <AskedCard key={it.key} asked={it} withSession onDismiss={() => dismiss(it.key)} />
      ))}
      {lately.length > 0 && <Lately asked={lately.slice(0, LATELY_SHOWN)} />}
    </div>
  );
}

function Lately({ asked }: { readonly asked: readonly Asked[] }): ReactNode {
  return (
    <section className="stack" aria-label="Decided lately">
      <h2>Decided lately</h2>
      <ul className="lately">
        {asked.map((it) => (
          <li key={it.key}>
            <SessionLink sessionId={it.sessionId} />
            <span>{shownText(subjectOf(it))}</span>
            <strong>{shownText(outcomeText(it))}</strong>
            <span className="soft">
              <Ago at={new Date(it.at).toISOString()} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function subjectOf(asked: Asked): string {
  switch (asked.kind) {
    case "approval":
      return asked.approval.edit?.command ?? (commandOf(asked.approval) || asked.approval.action);
    case "prompt":
      return asked.prompt.question;
    case "plan":
      return asked.plan.title;
    case "request":
      return asked.request.agentId;
  }
}
