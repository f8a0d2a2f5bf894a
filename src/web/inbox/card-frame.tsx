import { type ReactNode, useEffect, useRef } from "react";
import { HUB_STREAM } from "../../domain/event.ts";
import { titleOf } from "../model/driver.ts";
import type { Asked } from "../model/pending.ts";
import { linkTo, useRoute } from "../model/route.ts";
import { useWorld } from "../model/use-hub.ts";
import { useStill } from "../ui/still.ts";
import { Ago } from "../ui/time.tsx";
import { CARD, cardId, leaveCard, lookAt } from "./place.ts";

const KINDS = {
  approval: "Approval",
  prompt: "Question",
  plan: "Plan",
  request: "Control",
} as const satisfies Record<Asked["kind"], string>;

type Framed = {
  readonly asked: Asked;
  /** Where cards of several sessions stand together. */
  readonly withSession: boolean;
  readonly onDismiss: () => void;
  readonly children: ReactNode;
};

/** Around what is asked: what it is, where, since when. */
export function CardFrame({ asked, withSession, onDismiss, children }: Framed): ReactNode {
  const { key, kind, sessionId, at, waits } = asked;
  const { query } = useRoute();
  const { ref: place, onClickCapture } = useStill<HTMLElement>();
  const hadKeyboard = useRef(false);
  const isMeant = query.get(CARD) === key;
  useEffect(() => {
    if (isMeant && place.current !== null) lookAt(place.current);
  }, [isMeant, place]);
  useEffect(() => {
    // What had the keyboard went with the decision: whoever works by keys stays where they were.
    const isLost = hadKeyboard.current && document.activeElement === document.body;
    if (!waits && isLost) place.current?.focus({ preventScroll: true });
  }, [waits, place]);
  const dismiss = (): void => {
    leaveCard(key);
    onDismiss();
  };
  return (
    <article
      ref={place}
      onClickCapture={onClickCapture}
      id={cardId(key)}
      className="card ask"
      data-kind={kind}
      data-waits={waits}
      tabIndex={-1}
      onFocus={() => (hadKeyboard.current = true)}
      onBlur={({ relatedTarget }) => (hadKeyboard.current = relatedTarget === null)}
      aria-label={`${KINDS[kind]}${waits ? "" : ", decided"}`}
    >
      <header className="row">
        <span className={`badge ${waits ? "warn" : "soft"}`}>{KINDS[kind]}</span>
        {withSession && <SessionLink sessionId={sessionId} />}
        <span className="soft push">
          <Ago at={new Date(at).toISOString()} />
        </span>
        {!waits && (
          <button className="plain" type="button" aria-label="Dismiss" onClick={dismiss}>
            ×
          </button>
        )}
      </header>
      {children}
    </article>
  );
}

export function SessionLink({ sessionId }: { readonly sessionId: string }): ReactNode {
  const session = useWorld(({ sessions }) => sessions.get(sessionId));
  if (sessionId === HUB_STREAM) return <span className="soft">of no session</span>;
  return <a href={linkTo("session", sessionId)}>{titleOf(session ?? { title: "", sessionId })}</a>;
}
