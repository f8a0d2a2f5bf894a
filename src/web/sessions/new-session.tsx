import type { FormEvent, ReactNode } from "react";
import { shownText } from "../../domain/shown-text.ts";
import { linkTo } from "../model/route.ts";
import { useAsked } from "../model/use-asked.ts";
import { useAct, useWorld } from "../model/use-hub.ts";
import { Dialog, DialogButtons } from "../ui/dialog.tsx";
import { filledIn } from "../ui/form.ts";

export function NewSession({ onClose }: { readonly onClose: () => void }): ReactNode {
  const { isBusy, act } = useAct();
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const text = filledIn(event);
    const made = await act((client) =>
      client.session.create({
        kind: "terminal",
        interactive: true,
        ...(text("title") !== "" && { title: text("title") }),
        workspaceId: text("workspace"),
        ...(text("containment") === "guard" && { containment: "guard" }),
      }),
    );
    if (made === undefined) return;
    location.hash = linkTo("session", made.sessionId);
    onClose();
  };
  return (
    <Dialog title="New terminal" onClose={onClose}>
      <form onSubmit={(event) => void make(event)}>
        <label>
          Title
          <input name="title" maxLength={100} placeholder="terminal" autoFocus />
        </label>
        <Workspaces />
        <label>
          Where its programs run
          <select name="containment" defaultValue="open">
            <option value="open">Open: as you, with all that you reach</option>
            <option value="guard">Guarded: an agent in it can't reach Sidestick or your keys</option>
          </select>
        </label>
        <DialogButtons does="Start" isBusy={isBusy} onClose={onClose} />
      </form>
    </Dialog>
  );
}

const DEFAULT_WORKSPACE = "default";
const LOCAL_HOST = "local";

function Workspaces(): ReactNode {
  const hosts = useWorld((it) => it.hosts);
  const { value: workspaces = [] } = useAsked((client) => client.workspace.list());
  return (
    <label>
      Workspace
      <select name="workspace" defaultValue={DEFAULT_WORKSPACE}>
        <option>{DEFAULT_WORKSPACE}</option>
        {workspaces
          .filter(({ workspaceId }) => workspaceId !== DEFAULT_WORKSPACE)
          .map(({ workspaceId, hostId }) => (
            <option key={workspaceId} value={workspaceId}>
              {shownText(`${workspaceId}${hostId === LOCAL_HOST ? "" : `, on ${hosts.get(hostId)?.name ?? hostId}`}`)}
            </option>
          ))}
      </select>
    </label>
  );
}
