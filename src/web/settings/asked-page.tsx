import type { ReactNode } from "react";
import type { SidestickClient } from "../../client/client.ts";
import { useAsked } from "../model/use-asked.ts";

type Page<T> = {
  readonly title: string;
  readonly about?: string;
  readonly ask: (client: SidestickClient) => Promise<T>;
  readonly children: (value: T, again: () => void) => ReactNode;
};

/** What the hub says when it is asked, and a button to ask again. */
export function AskedPage<T>({ title, about, ask, children }: Page<T>): ReactNode {
  const { value, hasFailed, again } = useAsked(ask);
  const unanswered = hasFailed ? "The hub gave no answer. Look again in a moment." : "Asking the hub …";
  return (
    <div className="page">
      <div className="row">
        <h1>{title}</h1>
        <button className="push" type="button" onClick={again}>
          Look again
        </button>
      </div>
      {about !== undefined && <p className="soft">{about}</p>}
      {value === undefined ? <p className="soft">{unanswered}</p> : children(value, again)}
    </div>
  );
}
