import { Fragment, type ReactNode } from "react";
import { AskedPage } from "./asked-page.tsx";

const STATES = {
  ready: { sign: "✓", tone: "good" },
  degraded: { sign: "!", tone: "warn" },
  missing: { sign: "✗", tone: "bad" },
} as const;

export function DoctorPage(): ReactNode {
  return (
    <AskedPage title="What works here" ask={(client) => client.hub.doctor()}>
      {({ version, checks }) => (
        <>
          <p className="soft">Sidestick {version}</p>
          <table className="stacks">
            <tbody>
              {checks.map(({ name, state, detail, remedy }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <State state={state} isAlarming={remedy !== undefined} />
                  <td className="breaks">
                    <BreaksAtSlashes text={detail} />
                    {remedy !== undefined && (
                      <p className="soft">
                        <BreaksAtSlashes text={remedy} />
                      </p>
                    )}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </>
      )}
    </AskedPage>
  );
}

/** A path is read by its parts. */
function BreaksAtSlashes({ text }: { readonly text: string }): ReactNode {
  return text.split(/(?<=\/)/u).map((part, at) => (
    // The same part may come twice.
    // oxlint-disable-next-line react/no-array-index-key
    <Fragment key={at}>
      {part}
      <wbr />
    </Fragment>
  ));
}

/** What nobody can do anything about is told, without an alarm. */
function State({
  state,
  isAlarming,
}: {
  readonly state: keyof typeof STATES;
  readonly isAlarming: boolean;
}): ReactNode {
  const { sign, tone } = state === "missing" && !isAlarming ? { sign: "–", tone: "soft" } : STATES[state];
  return (
    <td className={`state ${tone}`}>
      <span aria-hidden="true">{sign}</span> {state}
    </td>
  );
}
