import { type FormEvent, type ReactNode, useState } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { Host } from "../../protocol/hosts.ts";
import { useAct, useHub, useMayAct, useWorld } from "../model/use-hub.ts";
import { Copyable } from "../ui/copyable.tsx";
import { filledIn, oncePressed } from "../ui/form.ts";
import { Fact } from "../ui/fact.tsx";
import { Sure } from "../ui/sure.tsx";
import { Ago } from "../ui/time.tsx";

export function HostsPage(): ReactNode {
  const hosts = useWorld((it) => it.hosts);
  const sessions = useWorld((it) => it.sessions);
  const open = Map.groupBy(
    [...sessions.values()].filter((it) => it.status !== "closed"),
    (it) => it.hostId,
  );
  return (
    <div className="page">
      <h1>Hosts</h1>
      <p className="soft">
        The machines on which sessions run. Another one dials out to this hub; nothing is opened on it.
      </p>
      {[...hosts.values()].map((it) => (
        <HostCard key={it.hostId} host={it} open={open.get(it.hostId)?.length ?? 0} />
      ))}
      {useMayAct() && <Invite />}
    </div>
  );
}

function HostCard({ host, open }: { readonly host: Host; readonly open: number }): ReactNode {
  const hub = useHub();
  const mayAct = useMayAct();
  const { hostId, name, online, since, os, arch, shells = [], version, guard } = host;
  return (
    <section className="card">
      <div className="row">
        <h2>{shownText(name)}</h2>
        <span className={online ? "badge good" : "badge bad"}>{online ? "● online" : "○ offline"}</span>
        {since !== undefined && (
          <span className="soft">
            since <Ago at={since} />
          </span>
        )}
        {mayAct && hostId !== "local" && (
          <Sure
            does="Remove"
            question={`Forget ${shownText(name)}? Its sessions are closed and its token is revoked.`}
            onSure={() => hub.act((it) => it.host.remove({ hostId }))}
          />
        )}
      </div>
      <dl className="facts">
        <Fact name="System" value={shownText([os, arch].filter(Boolean).join(", ")) || "not told yet"} />
        <Fact name="Shells" value={shownText(shells.join(", "))} />
        <Fact name="Version" value={shownText(version ?? "")} />
        <Fact name="Guard" value={guardText(guard)} />
        <Fact name="Sessions" value={String(open)} />
      </dl>
    </section>
  );
}

function guardText(guard: Host["guard"]): string {
  if (guard === undefined) return "not told yet";
  const lacks = guard.missing.map(({ layer, reason }) => `${layer}: ${reason}`).join("; ");
  return shownText([guard.available ? "works" : "can't be had", lacks].filter(Boolean).join(" — "));
}

function Invite(): ReactNode {
  const { isBusy, act } = useAct();
  const [command, setCommand] = useState("");
  const invite = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const text = filledIn(event);
    const invited = await act((client) =>
      client.host.invite({
        ...(text("name") !== "" && { name: text("name") }),
        ...(text("workspace") !== "" && { workspaceId: text("workspace") }),
      }),
    );
    if (invited !== undefined) setCommand(invited.command);
  };
  return (
    <section className="card">
      <h2>Invite a machine</h2>
      <form className="row" onSubmit={(event) => void invite(event)}>
        <label>
          Its name
          <input name="name" placeholder="as it calls itself" pattern="[a-z0-9][a-z0-9._\-]*" maxLength={63} />
        </label>
        <label>
          Workspace whose sessions run there
          <input name="workspace" placeholder="none yet" />
        </label>
        <button className="main" type="submit" disabled={isBusy} onClick={oncePressed}>
          Make a code
        </button>
      </form>
      {command !== "" && (
        <>
          <p>Run this on the machine, within ten minutes, once:</p>
          <Copyable text={command} />
        </>
      )}
    </section>
  );
}
