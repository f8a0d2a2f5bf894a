/** The first page: what to do next, and what works here. */
import { type ReactNode, useState } from "react";
import { NewSession } from "../sessions/new-session.tsx";
import { useMayAct, useWorld } from "../model/use-hub.ts";
import { StartDemo } from "../demo/start-demo.tsx";
import { ConnectAgent } from "./connect-agent.tsx";
import "./welcome.css";

export function Welcome(): ReactNode {
  const mayAct = useMayAct();
  const hasSessions = useWorld(({ sessions }) => [...sessions.values()].some((it) => it.status !== "closed"));
  return (
    <div className="page">
      <header>
        <h1>{hasSessions ? "Choose a session, or begin another" : "Nothing runs yet. Begin here"}</h1>
        <p className="soft">Live sessions that an AI agent and a person share. The person always wins.</p>
      </header>
      {mayAct ? (
        <>
          <div className="beginnings">
            <TryIt />
            <StartTerminal />
          </div>
          <ConnectAgent />
          <Shortcuts />
        </>
      ) : (
        <p>You look: choose a session from the list. Whoever decides has another login.</p>
      )}
      <p className="soft">
        <a href="/docs">API reference</a> · <a href="/openapi.json">OpenAPI</a>
      </p>
    </div>
  );
}

function TryIt(): ReactNode {
  return (
    <section className="card">
      <h2>Try it</h2>
      <p>
        A scripted agent asks you for control, works, meets a password and an approval, and is stopped by you. Two
        minutes.
      </p>
      <div>
        <StartDemo does="Start the demo" />
      </div>
    </section>
  );
}

function StartTerminal(): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <section className="card">
      <h2>Start a terminal</h2>
      <p>
        Yours, in this page and by <code>npx sidestick attach</code>. Grant it to an agent when you like.
      </p>
      <div>
        <button type="button" onClick={() => setOpen(true)}>
          New terminal
        </button>
      </div>
      {isOpen && <NewSession onClose={() => setOpen(false)} />}
    </section>
  );
}

const KEYS = [
  ["X", "STOP NOW"],
  ["I", "Interrupt safely"],
  ["W", "Wait"],
  ["T", "Take control"],
  ["G", "Grant"],
  ["H", "Hand back"],
  ["A", "Next thing that waits for you"],
  ["L", "Leave the terminal, which takes the Tab key for itself"],
] as const;

function Shortcuts(): ReactNode {
  return (
    <section className="card">
      <h2>Keys</h2>
      <p className="soft">Everywhere in a session, also while the terminal has the keyboard:</p>
      <dl className="keys">
        {KEYS.map(([key, does]) => (
          <div key={key}>
            <dt>
              <kbd>Alt</kbd>+<kbd>Shift</kbd>+<kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
