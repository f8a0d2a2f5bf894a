import { type FormEvent, type ReactNode, useState } from "react";
import { commandOf, isAction, isExact, isTyped } from "../../domain/approval-words.ts";
import type { Approval } from "../../domain/approval.ts";
import { editDiff } from "../../domain/edit-diff.ts";
import { shownText } from "../../domain/shown-text.ts";
import type { Input } from "../../protocol/operations.ts";
import { useAct } from "../model/use-hub.ts";
import { Countdown } from "../ui/time.tsx";
import type { SeenToEnd } from "./use-seen.ts";

type Decided = { readonly approval: Approval; readonly sight: Pick<SeenToEnd, "isSeen" | "show"> };
type Verdict = Omit<Input<"approval.resolve">, "requestId">;

/** Approve, approve something else, or deny with a reason. The first decision stands, wherever it is made. */
export function Decide({ approval, sight: { isSeen, show } }: Decided): ReactNode {
  const { isBusy, act } = useAct();
  const [open, setOpen] = useState<"edit" | "deny" | undefined>();
  const { requestId } = approval;
  const onDecide = (it: Verdict): void => void act((client) => client.approval.resolve({ requestId, ...it }));
  const form = { approval, isBusy, onDecide, onBack: () => setOpen(undefined) };
  if (open === "edit") return <Edit {...form} />;
  if (open === "deny") return <Deny {...form} />;
  return (
    <div className="row decide">
      <button
        className="main"
        type="button"
        disabled={isBusy || !isSeen}
        onClick={() => onDecide({ status: "approved", approved: true })}
      >
        Approve
      </button>
      {mayBeEdited(approval) && (
        <button type="button" disabled={isBusy || !isSeen} onClick={() => setOpen("edit")}>
          Edit …
        </button>
      )}
      <button type="button" disabled={isBusy} onClick={() => setOpen("deny")}>
        Deny …
      </button>
      {!isSeen && (
        <button type="button" onClick={show}>
          Read to the end
        </button>
      )}
      <TimeLeft approval={approval} />
    </div>
  );
}

/** By the hub's clock. */
export function TimeLeft({ approval }: { readonly approval: Approval }): ReactNode {
  return (
    <span className="soft push">
      <Countdown until={Date.parse(approval.expiresAt)} over="0:00" /> left<span className="to-decide"> to decide</span>
    </span>
  );
}

/** Masks and signs would be taken for the command. */
function mayBeEdited(approval: Approval): boolean {
  return isAction(approval) && !isTyped(approval) && isExact(approval);
}

type Form = {
  readonly approval: Approval;
  readonly isBusy: boolean;
  readonly onDecide: (verdict: Verdict) => void;
  readonly onBack: () => void;
};

function Edit({ approval, isBusy, onDecide, onBack }: Form): ReactNode {
  const before = commandOf(approval);
  const [command, setCommand] = useState(before);
  const isChanged = command !== before && command.trim() !== "";
  const send = (event: FormEvent): void => {
    event.preventDefault();
    onDecide({ status: "approved", approved: true, edit: { command } });
  };
  return (
    <form className="stack" onSubmit={send}>
      <label>
        Run this instead
        <textarea
          className="command"
          rows={Math.min(10, command.split("\n").length + 1)}
          value={command}
          spellCheck={false}
          autoFocus
          onChange={(event) => setCommand(event.target.value)}
        />
      </label>
      {isChanged && <Diff before={before} after={command} />}
      <div className="row decide">
        <button className="main" type="submit" disabled={isBusy || !isChanged}>
          Approve as edited
        </button>
        <button type="button" onClick={onBack}>
          Back
        </button>
        <TimeLeft approval={approval} />
      </div>
    </form>
  );
}

function Diff({ before, after }: { readonly before: string; readonly after: string }): ReactNode {
  return (
    <pre className="diff" aria-label="What you changed">
      {editDiff(before, after).map(({ sign, text }, line) => (
        <span key={`${line}${sign}`} data-sign={sign}>
          {`${sign} ${shownText(text)}\n`}
        </span>
      ))}
    </pre>
  );
}

function Deny({ approval, isBusy, onDecide, onBack }: Form): ReactNode {
  const send = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const [field] = event.currentTarget.elements as unknown as [HTMLInputElement];
    const reason = field.value.trim();
    onDecide({ status: "rejected", approved: false, ...(reason !== "" && { reason }) });
  };
  return (
    <form className="stack" onSubmit={send}>
      <label>
        Why not? The agent is told.
        <input maxLength={2000} autoComplete="off" autoFocus />
      </label>
      <div className="row decide">
        <button className="danger" type="submit" disabled={isBusy}>
          Deny
        </button>
        <button type="button" onClick={onBack}>
          Back
        </button>
        <TimeLeft approval={approval} />
      </div>
    </form>
  );
}
