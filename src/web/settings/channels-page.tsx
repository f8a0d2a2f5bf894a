import { type FormEvent, type ReactNode, useState } from "react";
import { shownText } from "../../domain/shown-text.ts";
import type { ChannelInfo, ChannelInvitation } from "../../protocol/channels.ts";
import { useAct, useHub, useMayAct } from "../model/use-hub.ts";
import { Fact } from "../ui/fact.tsx";
import { filledIn } from "../ui/form.ts";
import { Sure } from "../ui/sure.tsx";
import { AskedPage } from "./asked-page.tsx";

export function ChannelsPage(): ReactNode {
  return useMayAct() ? <Channels /> : <p className="page">Only whoever decides sees channels.</p>;
}

function Channels(): ReactNode {
  const [invitation, setInvitation] = useState<ChannelInvitation>();
  return (
    <AskedPage
      title="Channels"
      about="Chats in which you are asked, and answer. Only people on a channel's list are heard."
      ask={(client) => client.channel.list()}
    >
      {(channels, again) => (
        <>
          {channels.length === 0 && <p>None is connected.</p>}
          {channels.map((it) => (
            <ChannelCard key={it.name} channel={it} onChange={again} onInvited={setInvitation} />
          ))}
          {invitation !== undefined && <Invitation invitation={invitation} />}
          <AddChannel
            onAdded={(added) => {
              setInvitation(added);
              again();
            }}
          />
        </>
      )}
    </AskedPage>
  );
}

type CardProps = {
  readonly channel: ChannelInfo;
  readonly onChange: () => void;
  readonly onInvited: (invitation: ChannelInvitation) => void;
};

function ChannelCard({ channel, onChange, onInvited }: CardProps): ReactNode {
  const hub = useHub();
  const { name, kind, bot, health, people, waiting, refused, last_error: lastError } = channel;
  const invite = async (): Promise<void> => {
    const made = await hub.act((it) => it.channel.invite({ name }));
    if (made !== undefined) onInvited(made);
  };
  const test = async (): Promise<void> => {
    const sent = await hub.act((it) => it.channel.test({ name }));
    if (sent !== undefined) hub.tell("A test message was sent.");
  };
  const remove = async (): Promise<void> => {
    await hub.act((it) => it.channel.remove({ name }));
    onChange();
  };
  return (
    <section className="card">
      <div className="row">
        <h2>{name}</h2>
        <span className={health.state === "up" ? "badge good" : "badge bad"}>{health.state}</span>
        <span className="row push">
          <button type="button" onClick={() => void invite()}>
            Invite
          </button>
          <button type="button" onClick={() => void test()}>
            Test
          </button>
          <Sure does="Remove" question={`Disconnect ${name}? Its token is forgotten.`} onSure={remove} />
        </span>
      </div>
      <dl className="facts">
        <Fact name="Platform" value={kind} />
        <Fact name="Bot" value={shownText(bot ?? "")} />
        <Fact name="People" value={shownText(people.map((it) => `${it.name} (${it.id})`).join(", "))} />
        <Fact name="Waiting" value={String(waiting)} />
        <Fact name="Refused" value={refused === 0 ? "" : `${refused} messages of people who aren't on the list`} />
        <Fact name="Last error" value={shownText(health.detail ?? lastError ?? "")} />
      </dl>
    </section>
  );
}

function Invitation({ invitation }: { readonly invitation: ChannelInvitation }): ReactNode {
  const { bot, pairing_code: code, expires_at: end } = invitation;
  return (
    <p className="card" role="status">
      Write <code>/start {code}</code> or <code>pair {code}</code> to {shownText(bot)}, before{" "}
      {new Date(end).toLocaleTimeString()}. Whoever writes it first is on the list.
    </p>
  );
}

function AddChannel({ onAdded }: { readonly onAdded: (invitation: ChannelInvitation) => void }): ReactNode {
  const { isBusy, act } = useAct();
  const [kind, setKind] = useState<"telegram" | "slack">("telegram");
  const add = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const place = event.currentTarget;
    const field = filledIn(event);
    const added = await act((client) =>
      client.channel.add({
        kind,
        token: field("token"),
        ...(kind === "slack" && { app_token: field("app_token") }),
      }),
    );
    place.reset();
    if (added !== undefined) onAdded(added);
  };
  return (
    <section className="card">
      <h2>Connect a chat</h2>
      <form className="row" onSubmit={(event) => void add(event)}>
        <label>
          Platform
          <select value={kind} onChange={(event) => setKind(event.target.value as "telegram" | "slack")}>
            <option value="telegram">Telegram</option>
            <option value="slack">Slack</option>
          </select>
        </label>
        <label>
          The bot's token
          <input name="token" type="password" autoComplete="off" required minLength={8} />
        </label>
        {kind === "slack" && (
          <label>
            The app-level token
            <input name="app_token" type="password" autoComplete="off" required minLength={8} placeholder="xapp-…" />
          </label>
        )}
        <button className="main" type="submit" disabled={isBusy}>
          Connect
        </button>
      </form>
    </section>
  );
}
