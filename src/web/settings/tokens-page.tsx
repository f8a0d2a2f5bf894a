import { type FormEvent, type ReactNode, useState } from "react";
import { ROLES } from "../../domain/actor.ts";
import { shownText } from "../../domain/shown-text.ts";
import type { Token } from "../../protocol/credentials.ts";
import { useAct, useHub, useMayAct, useNow, useWorld } from "../model/use-hub.ts";
import { Copyable } from "../ui/copyable.tsx";
import { filledIn, oncePressed } from "../ui/form.ts";
import { Sure } from "../ui/sure.tsx";
import { Ago } from "../ui/time.tsx";
import { AskedPage } from "./asked-page.tsx";

export function TokensPage(): ReactNode {
  return useMayAct() ? <Tokens /> : <p className="page">Only whoever decides sees tokens.</p>;
}

function Tokens(): ReactNode {
  const now = useNow(60_000);
  return (
    <AskedPage
      title="Tokens and logins"
      about="Who may speak with this hub. Secrets are shown once, when they are made."
      ask={(client) => client.token.list()}
    >
      {(tokens, again) => (
        <>
          <NewToken onMade={again} />
          <div className="wide">
            <table className="stacks">
              <thead>
                <tr>
                  <th>Name</th>
                  <th>Role</th>
                  <th className="spare">Made</th>
                  <th>Ends</th>
                  <th>
                    <span className="unseen">Revoke</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {tokens
                  .filter((it) => isLive(it, now))
                  .toReversed()
                  .map((it) => (
                    <TokenRow key={it.tokenId} token={it} onRevoked={again} />
                  ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </AskedPage>
  );
}

function TokenRow({ token, onRevoked }: { readonly token: Token; readonly onRevoked: () => void }): ReactNode {
  const hub = useHub();
  // A host's token is named after its id.
  const hostName = useWorld(({ hosts }) => hosts.get(token.name)?.name);
  const name = shownText(hostName ?? token.name);
  const { tokenId, role, kind, createdAt, expiresAt } = token;
  const revoke = async (): Promise<void> => {
    await hub.act((it) => it.token.revoke({ tokenId }));
    onRevoked();
  };
  return (
    <tr>
      <td>{name}</td>
      <td data-name="Role">{kind === "cookie" ? `${role}, a browser` : role}</td>
      <td className="spare">
        <Ago at={createdAt} />
      </td>
      <td data-name="Ends">{expiresAt === undefined ? "when revoked" : endText(expiresAt)}</td>
      <td>
        <Sure
          does="Revoke"
          question={`Revoke ${name} (${role})? Whoever uses it is cut off at once.`}
          onSure={revoke}
        />
      </td>
    </tr>
  );
}

function isLive({ revokedAt, expiresAt }: Token, now: number): boolean {
  return revokedAt === undefined && (expiresAt === undefined || Date.parse(expiresAt) > now);
}

function endText(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "short", timeStyle: "short" });
}

const LIFETIMES = [
  [86_400, "a day"],
  [30 * 86_400, "30 days"],
  [365 * 86_400, "a year"],
  [0, "until revoked"],
] as const;

function NewToken({ onMade }: { readonly onMade: () => void }): ReactNode {
  const { isBusy, act } = useAct();
  const [secret, setSecret] = useState("");
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const field = filledIn(event);
    const seconds = Number(field("lifetime"));
    const made = await act((client) =>
      client.token.create({
        role: field("role") as Token["role"],
        name: field("name"),
        ...(seconds > 0 && { expiresInSeconds: seconds }),
      }),
    );
    if (made === undefined) return;
    setSecret(made.token);
    onMade();
  };
  return (
    <section className="card">
      <form className="row" onSubmit={(event) => void make(event)}>
        <label>
          Name
          <input name="name" required maxLength={100} />
        </label>
        <label>
          Role
          <select name="role" defaultValue="agent">
            {ROLES.map((it) => (
              <option key={it}>{it}</option>
            ))}
          </select>
        </label>
        <label>
          Valid for
          <select name="lifetime" defaultValue={30 * 86_400}>
            {LIFETIMES.map(([seconds, text]) => (
              <option key={seconds} value={seconds}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <button className="main" type="submit" disabled={isBusy} onClick={oncePressed}>
          Make a token
        </button>
      </form>
      {secret !== "" && (
        <>
          <p>This is its secret. It is shown this once:</p>
          <Copyable text={secret} />
        </>
      )}
    </section>
  );
}
