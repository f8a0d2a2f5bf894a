/** What an agent left behind in the shell that a person took over, and a clean one beside it. Rule WEB-26. */
import { type ReactNode, useEffect, useState } from "react";
import { shownText } from "../../domain/shown-text.ts";
import { type ShellChanges, UNTRUSTED_WORDS } from "../../protocol/control.ts";
import { linkTo } from "../model/route.ts";
import { useAct, useHub } from "../model/use-hub.ts";
import { Dialog } from "../ui/dialog.tsx";

type Shows = { readonly sessionId: string; readonly onClose: () => void };

export function ShellChangesDialog({ sessionId, onClose }: Shows): ReactNode {
  const hub = useHub();
  const [report, setReport] = useState<ShellChanges>();
  const { isBusy, act } = useAct();
  useEffect(() => {
    void hub
      .act((it) => it.control.changes({ sessionId }))
      .then((it) => (it === undefined ? onClose() : setReport(it)));
  }, [hub, sessionId]);
  const openClean = async (): Promise<void> => {
    const taken = await act((it) => it.control.take({ sessionId, fresh: true }));
    if (taken?.freshSessionId === undefined) return;
    onClose();
    location.hash = linkTo("session", taken.freshSessionId);
  };
  return (
    <Dialog title="What changed in this shell" onClose={onClose}>
      {report === undefined ? <p className="soft">The shell is asked …</p> : <Report report={report} />}
      <p className="soft">
        A clean shell starts beside it, in the same directory, with nothing of what the agent set up.
      </p>
      <div className="row">
        <button className="main" type="button" disabled={isBusy} onClick={() => void openClean()}>
          Open a clean shell
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

function Report({ report }: { readonly report: ShellChanges }): ReactNode {
  const { trusted, reason, since, changes, omitted } = report;
  const from = new Date(since).toLocaleString();
  return (
    <>
      {reason !== undefined && <p className="card warn">Not to be trusted: {UNTRUSTED_WORDS[reason]}.</p>}
      {trusted && changes.length === 0 && <p>Nothing changed since {from}.</p>}
      {changes.length > 0 && (
        <dl className="shell-changes" aria-label={`Changed since ${from}`} tabIndex={0}>
          {changes.map(({ kind, name, before, after }) => (
            <div key={`${kind} ${name}`}>
              <dt>
                {kind} <code>{shownText(name)}</code>
              </dt>
              <dd>
                {after === undefined ? "gone" : <code>{shownText(after)}</code>}
                {before !== undefined && (
                  <span className="soft">
                    , was <code>{shownText(before)}</code>
                  </span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {omitted !== undefined && <p className="soft">and {omitted} more</p>}
    </>
  );
}
