/** Taking over a shell that an agent used: what it changed there, and a fresh one beside it; by HTTP and the command line. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { startOnTerminal } from "../support/cli-on-terminal.ts";
import { eventually } from "../support/eventually.ts";
import { ask, verdict } from "../support/http.ts";
import { tokenOf } from "../support/hub.ts";
import { type CliResult, runCliHere } from "../support/run-cli.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

let made = 0;
const cli = (...args: string[]): Promise<CliResult> => runCliHere([...args, "--data-dir", hub.dataDir]);

type Used = { readonly name: string; readonly sessionId: string; readonly place: string };

/** An agent's shell, in a directory of its own, in which the agent ran this. */
async function used(...commands: readonly string[]): Promise<Used> {
  const name = `fresh-${(made += 1)}`;
  const place = await mkdtemp(join(tmpdir(), "sidestick-"));
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  let sessionId = "";
  for (const command of [`cd ${place}`, ...commands]) {
    const told = await hub.agent.pty.exec_block({ conversation_id: name, command, wait_ms: WAIT_BUDGET_MS });
    sessionId = told.workspace_session_id;
  }
  return { name, sessionId, place };
}

const POISON = [
  "sudo() { echo mine; }; export -f sudo",
  "alias ls='echo mine'",
  "trap 'echo mine' USR1",
  "PATH=/tmp/evil:$PATH",
  "export POISON=1 BASH_ENV=/tmp/evil",
];

/** What a person's shell says of the poison. */
const LOOK =
  'type -t sudo ls; trap -p USR1; case $PATH in */tmp/evil*) echo path;; esac; echo "env=${POISON-}${BASH_ENV-}"; pwd';

async function looked(sessionId: string): Promise<readonly string[]> {
  const directory = await mkdtemp(join(tmpdir(), "sidestick-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, "seen");
  await hub.person.session.input({ sessionId, data: `{ ${LOOK}; } >${file}.new 2>&1; mv ${file}.new ${file}\r` });
  const seen = await eventually(() => readFile(file, "utf8"));
  return seen.trimEnd().split("\n");
}

test("[GRD-27] a fresh shell beside the agent's is in the same directory and has nothing else of it", async () => {
  const { sessionId, place } = await used(...POISON);
  const { title } = await hub.person.session.get({ sessionId });

  const { freshSessionId = "", ...state } = await hub.person.control.take({ sessionId, fresh: true });

  expect(state).toMatchObject({ control_mode: "USER", holder: { kind: "person" }, reason: "taken" });
  await eventually(async () =>
    expect(await hub.person.session.get({ sessionId: freshSessionId })).toMatchObject({
      status: "active",
      kind: "terminal",
      containment: "open",
      interactive: true,
      workspaceId: "default",
      title: `beside ${title}`,
      besideSessionId: sessionId,
    }),
  );
  expect((await looked(freshSessionId)).filter((line) => line !== "file")).toEqual(["env=", place]);
});

test("[GRD-27] where the agent's directory is gone the fresh shell is at home", async () => {
  const gone = await used("rmdir $PWD");

  const { freshSessionId: sessionId = "" } = await hub.person.control.take({ sessionId: gone.sessionId, fresh: true });

  await eventually(async () => expect(await hub.person.session.get({ sessionId })).toMatchObject({ status: "active" }));
  expect((await looked(sessionId)).at(-1)).toMatch(/^\/.*home/);
});

test("[GRD-27] an agent gets neither; a plain take opens nothing", async () => {
  const { sessionId } = await used();
  const before = (await hub.person.session.list({})).length;

  const plain = await hub.person.control.take({ sessionId });

  expect(plain).not.toHaveProperty("freshSessionId");
  expect((await hub.person.session.list({})).length).toBe(before);
  await expect(hub.agent.control.take({ sessionId, fresh: true })).rejects.toMatchObject({ code: "forbidden" });
  await expect(hub.agent.control.changes({ sessionId })).rejects.toMatchObject({ code: "forbidden" });
});

test("[GRD-27] take --fresh says how to use it, and with --attach it is used at once", async () => {
  const { name, place } = await used(...POISON);

  const { code, stdout, stderr } = await cli("take", name, "--fresh");
  const attached = startOnTerminal(["take", name, "--fresh", "--attach", "--data-dir", hub.dataDir]);

  const [, id = ""] = /^drives: \S+\nfresh: ([\da-f-]{36})\n$/.exec(stdout) ?? [];
  expect([code, stderr]).toEqual([0, `sidestick: Use it: sidestick attach ${id.slice(0, 8)}\n`]);
  await eventually(() => expect(attached.screen()).toMatch(/\$ |# /));
  attached.type("type -t sudo; pwd\r");
  await eventually(() => expect(attached.screen()).toContain(place));
  expect(attached.screen()).not.toContain("function");
  attached.type("exit\r");
  expect((await attached.exited).exitCode).toBe(0);
});

test.each([
  { args: ["take", "x", "--attach"], told: "--attach needs --fresh: the new shell is used here." },
  { args: ["take", "x", "--fresh", "--attach"], told: "Nobody can type here, for this is no terminal." },
  { args: ["control", "x", "--changes", "--follow"], told: "--changes is told once, --follow goes on: leave one out." },
])("[GRD-27] $args is told before anything is done", async ({ args, told }) => {
  const { code, stderr } = await cli(...args);

  expect(code).toBe(2);
  expect(stderr).toContain(told);
});

test("[GRD-28] what the agent changed is told by HTTP and on the command line, to operators and viewers", async () => {
  const { name, sessionId } = await used(...POISON, "export API_TOKEN=ghp_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
  await hub.person.control.take({ sessionId });
  const path = `/sessions/${sessionId}/control/changes`;

  const answer = await ask(hub.url, { path, token: await tokenOf(hub.dataDir, "viewer", "looker") });
  const told = await cli("control", name, "--changes");
  const json = await cli("control", name, "--changes", "--json");

  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    trusted: true,
    changes: [
      { kind: "function", name: "sudo" },
      { kind: "alias", name: "ls", after: "echo mine" },
      { kind: "trap", name: "USR1", after: "echo mine" },
      { kind: "path", name: "PATH" },
      { kind: "environment", name: "API_TOKEN" },
      { kind: "environment", name: "BASH_ENV", after: "/tmp/evil" },
      { kind: "environment", name: "POISON", after: "1" },
    ],
  });
  expect(answer.text).not.toContain("aB3dE5fG7h");
  expect(JSON.parse(json.stdout)).toEqual(answer.body);
  expect(told).toMatchObject({ code: 0, stderr: "" });
  expect(told.stdout).toMatch(
    /^changed since \S+:\n {2}function sudo: sudo \(\) \{ echo mine \}.*\n {2}alias ls: echo mine$/m,
  );
  expect(told.stdout).toContain(`A shell without any of it: sidestick take ${name} --fresh\n`);
});

test("[GRD-29] what can't be known is told as that: while an agent drives, while a program runs, after the end", async () => {
  const { name, sessionId } = await used();
  const driven = await cli("control", name, "--changes");
  await hub.person.control.take({ sessionId });
  const clean = await cli("control", name, "--changes");
  await hub.person.session.input({ sessionId, data: "sleep 1000\r" });
  await eventually(async () =>
    expect(await hub.person.control.changes({ sessionId })).toMatchObject({ reason: "busy" }),
  );
  await hub.person.session.close({ sessionId });

  const ended = await cli("control", sessionId, "--changes");
  const none = await ask(hub.url, {
    path: "/sessions/nothing/control/changes",
    token: await tokenOf(hub.dataDir, "operator", "asker"),
  });

  expect([driven.code, driven.stdout.split("\n")[0]]).toEqual([
    1,
    "not to be trusted: an agent drives; take control first",
  ]);
  expect([clean.code, clean.stdout]).toEqual([0, expect.stringMatching(/^nothing changed since \S+\n$/)]);
  expect([ended.code, ended.stdout.split("\n")[0]]).toEqual([1, "not to be trusted: it has ended"]);
  expect(verdict(none)).toBe("404 not_found");
});
