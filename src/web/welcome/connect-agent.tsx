import { type FormEvent, type ReactNode, useState } from "react";
import { useHub } from "../model/use-hub.ts";
import { Copyable } from "../ui/copyable.tsx";
import { filledIn, oncePressed } from "../ui/form.ts";

const CLIENTS = ["Claude Code", "Codex", "Another MCP client"] as const;
type Client = (typeof CLIENTS)[number];

const PROGRAMS: Readonly<Record<Client, string>> = {
  "Claude Code": "claude",
  Codex: "codex",
  "Another MCP client": "<its program>",
};

/** A token for an agent, and what to paste where. */
export function ConnectAgent(): ReactNode {
  const hub = useHub();
  const [client, setClient] = useState<Client>("Claude Code");
  const [token, setToken] = useState("");
  const make = async (event: FormEvent<HTMLFormElement>): Promise<void> => {
    const name = filledIn(event)("name") || "my-agent";
    const made = await hub.act((it) => it.token.create({ role: "agent", name }));
    if (made !== undefined) setToken(made.token);
  };
  return (
    <section className="card">
      <h2>Connect an agent</h2>
      <p>It speaks MCP with this hub, under a token of its own: it acts, asks, and never decides.</p>
      <form className="row" onSubmit={(event) => void make(event)}>
        <label className="row">
          Its name <input name="name" placeholder="my-agent" maxLength={100} />
        </label>
        <button type="submit" onClick={oncePressed}>
          Make a token
        </button>
        {token !== "" && <span className="soft">It is below, this once; the hub keeps only its digest.</span>}
      </form>
      <div className="row" role="group" aria-label="Which agent">
        {CLIENTS.map((it) => (
          <button key={it} type="button" aria-pressed={it === client} onClick={() => setClient(it)}>
            {it}
          </button>
        ))}
      </div>
      <Copyable text={settingsFor(client, token === "" ? "<token>" : token)} />
      <p className="soft">
        So that it can't get around your control by the terminal that it runs in itself, start it by{" "}
        <code>npx sidestick guard -- {PROGRAMS[client]}</code>.
      </p>
    </section>
  );
}

function settingsFor(client: Client, token: string): string {
  const url = `${location.origin}/mcp`;
  switch (client) {
    case "Claude Code":
      return `claude mcp add --transport http sidestick ${url} --header "Authorization: Bearer ${token}"`;
    case "Codex":
      return [
        `export SIDESTICK_TOKEN='${token}'`,
        "",
        "# in ~/.codex/config.toml",
        "[mcp_servers.sidestick]",
        `url = "${url}"`,
        'bearer_token_env_var = "SIDESTICK_TOKEN"',
      ].join("\n");
    case "Another MCP client": {
      const server = { type: "http", url, headers: { Authorization: `Bearer ${token}` } };
      return JSON.stringify({ mcpServers: { sidestick: server } }, null, 2);
    }
  }
}
