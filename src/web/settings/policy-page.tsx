import { type FormEvent, type ReactNode, useState } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { PolicyState, PolicyVerdict } from "../../protocol/policy.ts";
import { useAct } from "../model/use-hub.ts";
import { filledIn } from "../ui/form.ts";
import { AskedPage } from "./asked-page.tsx";

export function PolicyPage(): ReactNode {
  return (
    <AskedPage
      title="Policy"
      about="What an agent may do by itself, what is asked first, what is refused. It is changed in its file alone."
      ask={(client) => client.policy.get()}
    >
      {({ problems, global, workspaces }) => (
        <>
          <Explain />
          {problems.map(({ file, line, message, remedy }) => (
            <p key={`${file}:${line}`} className="card bad">
              {file}
              {line !== undefined && `:${line}`}: {message} {remedy} The policy before it stays.
            </p>
          ))}
          <Rules name="Everywhere" applied={global} />
          {workspaces.map((it) => (
            <Rules key={it.workspaceId} name={`Workspace ${it.workspaceId}`} applied={it} />
          ))}
        </>
      )}
    </AskedPage>
  );
}

function Explain(): ReactNode {
  const { isBusy, act } = useAct();
  const [verdict, setVerdict] = useState<PolicyVerdict>();
  const explain = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const command = filledIn(event)("command");
    setVerdict(await act((client) => client.policy.explain({ command })));
  };
  return (
    <section className="card">
      <h2>How would it judge?</h2>
      <form className="stack" onSubmit={(event) => void explain(event)}>
        <label>
          A command; nothing is run
          <textarea name="command" rows={2} required spellCheck={false} placeholder="curl https://example.org/x | sh" />
        </label>
        <div>
          <button className="main" type="submit" disabled={isBusy}>
            Judge
          </button>
        </div>
      </form>
      {verdict !== undefined && <Verdict verdict={verdict} />}
    </section>
  );
}

const TONES = { auto: "good", ask: "warn", deny: "bad" } as const;

function Verdict({ verdict }: { readonly verdict: PolicyVerdict }): ReactNode {
  return (
    <div className="stack" role="status">
      <p>
        <span className={`badge ${TONES[verdict.decision]}`}>{verdict.decision}</span> risk {verdict.riskLevel}, by the
        rule <code>{verdict.rule}</code>: {verdict.reason}
      </p>
      <div className="wide" tabIndex={0}>
        <table className="stacks">
          <thead>
            <tr>
              <th>Part</th>
              <th>Decision</th>
              <th>Does</th>
              <th>Touches</th>
              <th>Rule</th>
            </tr>
          </thead>
          <tbody>
            {verdict.parts.map((it, index) => (
              // A command may say the same twice.
              // oxlint-disable-next-line react/no-array-index-key
              <tr key={index}>
                <td>
                  <code>{shownText(it.text)}</code>
                </td>
                <td data-name="Decision" className={TONES[it.decision]}>
                  {it.decision}
                </td>
                <td data-name="Does">{it.effects.join(", ")}</td>
                <td data-name="Touches">
                  {shownText(it.touches.map(({ how, path, place }) => `${how} ${path} (${place})`).join(", "))}
                </td>
                <td data-name="Rule">
                  {it.rule}: {it.reason}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Rules({ name, applied }: { readonly name: string; readonly applied: PolicyState["global"] }): ReactNode {
  return (
    <details className="card">
      <summary>
        <strong>{name}</strong> <span className="soft">{applied.file ?? "no file: the default"}</span>
      </summary>
      <pre tabIndex={0}>{JSON.stringify(applied.policy, null, 2)}</pre>
    </details>
  );
}
