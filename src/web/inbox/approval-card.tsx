/** An approval: what would be done, letter by letter, why it is asked, and what was decided. Rules WEB-40..WEB-44. */
import { memo, type ReactNode } from "react";
import { approvalShown } from "../../domain/approval-words.ts";
import type { Approval } from "../../domain/approval.ts";
import { whatCameOf } from "../../domain/approval-outcome.ts";
import { shownText } from "../../domain/shown-text.ts";
import { linkTo } from "../model/route.ts";
import { useMayAct } from "../model/use-hub.ts";
import { decisionText, toneOf } from "./approval-words.ts";
import { Decide, TimeLeft } from "./decide.tsx";
import { useSeenToEnd } from "./use-seen.ts";

export const ApprovalCard = memo(function ApprovalCard({
  approval,
  waits,
}: {
  readonly approval: Approval;
  readonly waits: boolean;
}): ReactNode {
  const mayAct = useMayAct();
  const sight = useSeenToEnd();
  const { requestedBy, edit } = approval;
  const { headline, code, ownWords, facts, meaning, agentSays } = approvalShown(approval);
  return (
    <>
      <h2>{shownText(headline)}</h2>
      {ownWords ? <Words of={requestedBy} text={code} isExact /> : <pre className="command">{shownText(code)}</pre>}
      <span ref={sight.end} className="code-end" />
      {edit !== undefined && (
        <>
          <p>Approved instead:</p>
          <pre className="command">{shownText(edit.command)}</pre>
        </>
      )}
      <dl className="facts">
        {facts.map(({ name, value }, at) => (
          <div key={`${at} ${name}`}>
            <dt>{shownText(name)}</dt>
            <dd>{shownText(value)}</dd>
          </div>
        ))}
      </dl>
      {agentSays !== undefined && <Words of={requestedBy} text={agentSays} />}
      {meaning !== undefined && waits && <p className="warn">{shownText(meaning)}</p>}
      {!waits && <Decided approval={approval} />}
      {waits && (mayAct ? <Decide approval={approval} sight={sight} /> : <TimeLeft approval={approval} />)}
    </>
  );
});

type WordsOf = {
  readonly of: string;
  readonly text: string;
  /** They are what is decided about. */ readonly isExact?: boolean;
};

/** What an agent says stands apart from what the hub knows. */
function Words({ of, text, isExact = false }: WordsOf): ReactNode {
  return (
    <figure className="words">
      <figcaption className="soft">{shownText(of)} says, in its own words:</figcaption>
      <blockquote className={isExact ? "exact" : undefined}>{shownText(text)}</blockquote>
    </figure>
  );
}

function Decided({ approval }: { readonly approval: Approval }): ReactNode {
  const { sign, tone } = toneOf(approval);
  const came = whatCameOf(approval);
  const opened = approval.result?.["sessionId"];
  return (
    <p className="outcome" role="status">
      <strong className={tone}>
        <span aria-hidden="true">{sign}</span> {shownText(decisionText(approval))}
      </strong>
      {came !== undefined && <span>{shownText(`${came.outcome === "not_run" ? "But " : ""}${came.words}`)}</span>}
      {typeof opened === "string" && <a href={linkTo("session", opened)}>It goes on in the new open session</a>}
    </p>
  );
}
