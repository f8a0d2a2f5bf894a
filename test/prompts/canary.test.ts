/** Passwords that persons supply, and every place where something is written or sent: none of them is anywhere. */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { legacyCall } from "../mcp/messages.ts";
import { ask } from "../support/http.ts";
import { tokenOf } from "../support/hub.ts";
import { runCli } from "../support/run-cli.ts";
import { startTerminalHub } from "../support/terminal-hub.ts";
import { TestViewer } from "../support/viewer.ts";
import { eventually } from "../support/eventually.ts";
import { storedFiles } from "../support/stored-files.ts";
import { asking, pendingIn, prints } from "./asking-hub.ts";

const canary = (): string => `canary-${randomBytes(9).toString("hex")}`;

test("[PMT-111] Password safety, No secret leakage: a supplied secret is in no sink (needs ps)", async () => {
  const hub = await startTerminalHub();
  const [first, shown, late] = [canary(), canary(), canary()];
  const operator = await tokenOf(hub.dataDir, "operator", "sweeper");
  const viewer = await TestViewer.open(hub.url, { token: operator });
  viewer.send({ type: "subscribe", after: 0 });
  const program = "import getpass; getpass.getpass(); print('OVER', getpass.getpass())";
  const it = await asking(hub, `python3 -c "${program}"`);
  viewer.send({ type: "attach", sessionId: it.sessionId, from: 0, input: false });
  const supplied = async (value: string, prompt: { prompt_id: string; nonce: string }) => {
    const { prompt_id, nonce } = prompt;
    const idempotencyKey = `key-${value.length}-${nonce.slice(0, 8)}`;
    return hub.person.prompt.reply({ prompt_id, nonce, value, wait_ms: OUTCOME_WAIT_MAX_MS }, { idempotencyKey });
  };

  const answers: unknown[] = [await supplied(first, it.prompt)];
  answers.push(await supplied(shown, await pendingIn(hub.person, it.sessionId, it.prompt)));
  const refusal = await hub.person.prompt.reply({ ...named(it.prompt), value: late }).catch((error: unknown) => error);
  await prints(hub.agent, it, "OVER");
  await eventually(() => expect(JSON.stringify(viewer.frames)).toContain("secret supplied"));

  const token = operator;
  const output = await hub.agent.pty.read_output({ conversation_id: it.conversation_id, from_cursor: 0, view: "raw" });
  const exported = await runCli(["export", it.conversation_id, "--data-dir", hub.dataDir]);
  const mcp = await fetch(`${hub.url}/mcp`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
    },
    body: JSON.stringify(legacyCall(1, "prompt_list")),
  });
  const sinks: Record<string, string> = {
    mcp: await mcp.text(),
    answers: JSON.stringify([answers, refusal]),
    prompts: JSON.stringify(await hub.agent.prompt.list()),
    events: JSON.stringify(await hub.person.event.list({ limit: 5000 })),
    frames: JSON.stringify(viewer.frames),
    screen: JSON.stringify(await hub.agent.pty.read_screen({ conversation_id: it.conversation_id })),
    output: JSON.stringify(output),
    exported: JSON.stringify(exported),
    metrics: JSON.stringify(await ask(hub.url, { path: "/metrics", token })),
    audit: readFileSync(join(hub.dataDir, "audit.jsonl"), "utf8"),
    processes: execFileSync("ps", ["axeww", "-o", "args"], { encoding: "utf8", maxBuffer: 2 ** 26 }),
  };
  // Database with its WAL, segments, logs, audit lines, the host's spool.
  const everything = Object.entries({ ...sinks, ...(await storedFiles(hub.dataDir)) });
  const hits = [first, shown, late].flatMap((secret) =>
    everything.flatMap(([name, text]) => (text.includes(secret) ? [name] : [])),
  );

  expect(hits).toEqual([]);
  expect(sinks["mcp"]).toContain(it.prompt.prompt_id);
  expect(Object.values(sinks).every((text) => text !== "")).toBe(true);
});

function named({ prompt_id, nonce }: { readonly prompt_id: string; readonly nonce: string }) {
  return { prompt_id, nonce };
}
