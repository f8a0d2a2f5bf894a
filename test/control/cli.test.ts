/** Control from the command line: a real hub, host and shell, an agent beside it. */
import { once } from "node:events";
import { userInfo } from "node:os";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { receiptOf } from "../../src/cli/commands/stop.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { tokenOf } from "../support/hub.ts";
import { type CliResult, runCliHere, startCli } from "../support/run-cli.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
let agentToken: string;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  agentToken = await tokenOf(hub.dataDir, "agent", "agent");
  return opened.stop;
});

/** As the operator's socket knows us. */
const ME = userInfo().username;
let made = 0;
const conversation = (): string => `control-cli-${(made += 1)}`;
const asAgent = (...args: string[]): Process => startProcess(args, { SIDESTICK_TOKEN: agentToken });
/** One at a time, and nothing of a person's meanwhile: who calls is in the environment. */
const agentsCli = (...args: string[]): Promise<CliResult> =>
  runCliHere([args[0]!, "--data-dir", hub.dataDir, ...args.slice(1)], { env: { SIDESTICK_TOKEN: agentToken } });
const cli = (...args: string[]): Promise<CliResult> => runCliHere([...args, "--data-dir", hub.dataDir]);

type Driven = { readonly name: string; readonly sessionId: string };

/** The agent has run something in a terminal of its own. */
async function driven(command = "true"): Promise<Driven> {
  const conversation_id = conversation();
  const { workspace_session_id } = await hub.agent.pty.exec_block({
    conversation_id,
    command,
    wait_ms: WAIT_BUDGET_MS,
  });
  return { name: conversation_id, sessionId: workspace_session_id };
}

test("[CTL-38] control says who drives, in what state, who asks and why", async () => {
  const { name, sessionId } = await driven();
  const before = await cli("control", name);
  await hub.person.control.take({ sessionId });
  await hub.agent.control.request({ sessionId, reason: "to\u001b[2J go on" });

  const after = await cli("control", sessionId.slice(0, 13));
  const json = await cli("control", sessionId, "--json");

  expect(before).toMatchObject({ code: 0, stderr: "" });
  expect(before.stdout).toMatch(
    /^drives +agent agent, by itself: nobody attends\nagent +idle\nintent +none \(WAIT\)$/m,
  );
  expect(after.stdout).toMatch(
    /^drives +operator\nsince +a person took it\nagent +has lost control; what it started runs on$/m,
  );
  expect(after.stdout).toMatch(/^asks +agent agent, \ds ago: to\\e\[2J go on$/m);
  expect(JSON.parse(json.stdout)).toEqual(await hub.person.control.get({ sessionId }));
});

test("[CTL-38] grant makes the session interactive by itself; take and release change who drives", async () => {
  const { name, sessionId } = await driven();

  const granted = await cli("grant", name, "--lease", "10m", "--note", "only the tests");
  const state = await hub.person.control.get({ sessionId });
  const taken = await cli("take", name);
  const released = await cli("release", name);
  const handed = await cli("release", name, "--lease", "90", "--agent", "other", "--note", "your turn");

  expect([granted, taken, released, handed].map(({ code, stdout }) => [code, stdout])).toEqual([
    [0, expect.stringMatching(/^drives: agent agent, granted by \S+, (?:9|10)m left\n$/)],
    [0, expect.stringMatching(/^drives: \S+\n$/)],
    [0, "drives: nobody; the first agent that acts\n"],
    [0, expect.stringMatching(/^drives: agent other, granted by \S+, 1m left\n$/)],
  ]);
  expect(state).toMatchObject({ interactive: true, lease_seconds: 600, handback_note: "only the tests" });
  expect(await hub.person.control.get({ sessionId })).toMatchObject({ handback_note: "your turn" });
});

test.each([
  { args: ["grant", "x", "--lease", "2h"], told: '--lease is "2h", but should be more than 0 and at most an hour.' },
  { args: ["grant", "x", "--lease", "0"], told: '--lease is "0", but should be more than 0 and at most an hour.' },
  { args: ["release", "x", "--agent", "a"], told: "--agent needs --lease: for how long?" },
  { args: ["request", "x"], told: "--reason is needed: the person reads it." },
])("[CTL-38] $args is told before anything is done", async ({ args, told }) => {
  const { code, stderr } = await cli(...args);

  expect([code, stderr]).toEqual([2, `sidestick: ${told} See --help.\n`]);
});

test("[CTL-38] an unknown session is told", async () => {
  const { code, stderr } = await cli("stop", "nowhere");

  expect(code).toBe(1);
  expect(stderr).toContain('No session has an id that begins with "nowhere".');
});

test("[CTL-38, CTL-32] stop waits for the receipt and says what was killed", async () => {
  const { name, sessionId } = await driven();
  // It says so itself: the shell's word comes before there is anything to kill.
  const started = { conversation_id: name, command: "sh -c 'echo on; sleep 1000'" };
  const { cursor } = await hub.agent.pty.exec_interactive(started);
  await hub.agent.pty.wait_for({
    conversation_id: name,
    match: "on\n",
    from_cursor: cursor,
    timeout_ms: WAIT_BUDGET_MS,
  });

  const { code, stdout } = await cli("stop", name);

  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Stopped\. killed: .*sh \(\d+\).*; dropped: nothing/)]);
  expect(await hub.person.control.get({ sessionId })).toMatchObject({ user_intent: "STOP_NOW", control_mode: "USER" });
  const again = JSON.parse((await cli("stop", name, "--all", "--json")).stdout) as object;
  expect(again).toMatchObject({ agent_status: "STOPPING", receipt: { kill_scope: "all", survivors: [] } });
});

test("[CTL-38] stop waits for its own receipt, not for that of a stop before it", async () => {
  const { name, sessionId } = await driven();
  const started = { conversation_id: name, command: "sh -c 'echo on; sleep 1000'" };
  const { cursor } = await hub.agent.pty.exec_interactive(started);
  await hub.agent.pty.wait_for({
    conversation_id: name,
    match: "on\n",
    from_cursor: cursor,
    timeout_ms: WAIT_BUDGET_MS,
  });

  const stop = { sessionId, intent: "STOP_NOW" } as const;
  const stops = await Promise.all([
    hub.person.control.user_intent(stop),
    hub.person.control.user_intent({ ...stop, scope: "all" }),
  ]);
  const receipts = await Promise.all(stops.map((state) => receiptOf(hub.person, state)));

  expect(receipts.map((it) => it?.stop_epoch)).toEqual(stops.map((it) => it.epoch));
});

test("[CTL-38, CTL-28] interrupt waits for the pause", async () => {
  const { name, sessionId } = await driven();

  const interrupted = cli("interrupt", name);
  await eventually(async () =>
    expect(await hub.person.control.get({ sessionId })).toMatchObject({ user_intent: "SAFE_INTERRUPT" }),
  );
  const point = await hub.agent.control.safe_point({ sessionId, step: "next", sequence: 1 });

  expect(point.action).toBe("PAUSE");
  expect(await interrupted).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Paused; drives: \S+\n$/) as string,
  });
});

test("[CTL-38] before interrupt waits it says what was asked, and how to take it back", async () => {
  const { name, sessionId } = await driven();

  const waiting = startProcess(["interrupt", name]);
  await eventually(() =>
    expect(waiting.stderr()).toBe(
      "sidestick: Asked; the agent will pause before the next thing it does. Waiting up to 10 s for it. " +
        `Take it back: sidestick interrupt ${name} --withdraw\n`,
    ),
  );
  await hub.agent.control.safe_point({ sessionId, step: "next", sequence: 1 });

  expect((await waiting.result).code).toBe(0);
});

test("[CTL-38, CTL-30] an interrupt that comes to no safe point in time offers stop, and can be withdrawn", async () => {
  const impatient = await openTerminalHub({}, undefined, ["--overdue-ms", "50"]);
  onTestFinished(impatient.stop);
  const here = (...args: string[]): Promise<CliResult> => runCliHere([...args, "--data-dir", impatient.dataDir]);
  const name = conversation();
  const block = { conversation_id: name, command: "true", wait_ms: WAIT_BUDGET_MS };
  const { workspace_session_id: sessionId } = await impatient.agent.pty.exec_block(block);

  const { code, stdout, stderr } = await here("interrupt", name);
  const withdrawn = await here("interrupt", name, "--withdraw");

  expect([code, stdout]).toEqual([124, "It will pause; drives: agent agent, by itself: nobody attends\n"]);
  expect(stderr.split("\n").slice(1)).toEqual([
    `sidestick: No safe point came yet; it stays asked. Stop it at once: sidestick stop ${name}`,
    "",
  ]);
  expect(withdrawn).toMatchObject({ code: 0, stdout: "drives: agent agent, by itself: nobody attends\n" });
  // The gate answers before the log has it.
  await eventually(async () => {
    const told = await impatient.person.event.list({ sessionId, types: ["intent"] });
    expect(told.map((it) => it.payload["offer"])).toEqual([undefined, "STOP_NOW", undefined]);
  });
});

test("[CTL-38] a grant to an agent without a token stands, with a note; so does a decline where nobody asks", async () => {
  const { name } = await driven();

  const known = await cli("grant", name, "--agent", "agent");
  const unknown = await cli("grant", name, "--agent", "nobody-such");
  const declined = await cli("decline", name);

  const note =
    "sidestick: No agent's token is named nobody-such. The grant stands; who there is: sidestick token list\n";
  expect(known.stderr).not.toContain("token");
  expect(unknown).toMatchObject({ code: 0, stdout: expect.stringMatching(/^drives: agent nobody-such, granted by/) });
  expect(unknown.stderr).toContain(note);
  expect(declined).toMatchObject({ code: 0, stderr: "sidestick: Nobody asks for control there.\n" });
});

test("[CTL-38, CTL-11] an agent asks and waits from the command line; a person declines or grants", async () => {
  const { name, sessionId } = await driven();
  await cli("take", name);
  const agentCli = (...args: string[]): Promise<CliResult> => asAgent(...args).result;
  const asked = async (): Promise<void> =>
    eventually(async () =>
      expect((await hub.person.control.get({ sessionId })).requested_by).toMatchObject({ reason: "to go on" }),
    );

  const declined = agentCli("request", name, "--reason", "to go on");
  await asked();
  await cli("decline", name);
  const { code, stderr } = await declined;
  const granted = agentCli("request", name, "--reason", "to go on", "--json");
  await asked();
  await cli("grant", name, "--note", "go");

  expect([code, stderr]).toEqual([6, "sidestick: Declined.\n"]);
  const answer = await granted;
  expect(answer.code).toBe(0);
  expect(JSON.parse(answer.stdout)).toMatchObject({ control_mode: "AGENT", handback_note: "go" });
});

test("[CTL-38] control --follow prints each change until the session is over", async () => {
  const { name, sessionId } = await driven();
  const following = startProcess(["control", name, "--follow"]);
  await eventually(() => expect(following.stdout()).toBe("drives: agent agent, by itself: nobody attends\n"));

  await cli("grant", name, "--lease", "60", "--note", "again");
  await hub.agent.control.renew({ sessionId });
  await cli("stop", name);
  await cli("sessions", "close", sessionId);
  const { code, stdout } = await following.result;

  expect(code).toBe(0);
  const changes = stdout.trimEnd().split("\n").slice(1);
  expect(changes.map((line) => line.slice("2026-01-01T00:00:00.000Z  ".length))).toEqual([
    expect.stringMatching(/^\S+ granted 60 s \(again\); drives: agent agent, granted by \S+, (?:\d+s|1m) left$/),
    "agent agent renewed its lease, 60 s",
    expect.stringMatching(/^\S+ says STOP_NOW$/),
    expect.stringMatching(/^\S+ stopped the agent; drives: \S+$/),
    "killed: nothing; dropped: nothing",
    "the session is over",
  ]);
});

test("[CTL-38] control --follow ends with 130 at Ctrl+C", async () => {
  const { name } = await driven();
  const following = startProcess(["control", name, "--follow"]);
  await eventually(() => expect(following.stdout()).toContain("drives: "));

  following.interrupt();

  expect((await following.result).code).toBe(130);
});

test("[CTL-38, CTL-6] sessions says who drives each; one made with --interactive waits for a grant", async () => {
  const { sessionId } = await driven();
  const held = await driven();
  await hub.person.control.take({ sessionId: held.sessionId });
  const attended = (await cli("sessions", "create", "--kind", "terminal", "--interactive")).stdout.trim();

  const { stdout } = await cli("sessions");

  const drives = (id: string): string | undefined =>
    stdout
      .split("\n")
      .find((line) => line.startsWith(id.slice(0, 8)))
      ?.split(/ {2,}/)[4];
  expect([sessionId, held.sessionId, attended].map(drives)).toEqual(["agent", "operator", "nobody"]);
});

test("[CTL-38, CLI-4] a refusal says who drives, and what to do in that very session", async () => {
  const { name } = await driven();
  const refused = async () => (await agentsCli("send", name, "--text", "x")).stderr;
  const todo = (whom: string): string =>
    `An agent asks for control: sidestick request ${whom} --reason TEXT; a person takes it: sidestick take ${whom}\n`;

  await cli("take", name);
  const persons = await refused();
  const ran = await agentsCli("run", "--conversation", name, "--", "true");
  await cli("grant", name, "--agent", "other");
  const others = await refused();

  expect(persons).toBe(`sidestick: Control was refused: ${ME} drives. ${todo(name)}`);
  expect([ran.code, ran.stderr]).toEqual([125, persons]);
  expect(others).toBe(`sidestick: Control was refused: agent other drives. ${todo(name)}`);
});

test("[CTL-38, CTL-7] where the workspace wants a grant everywhere, control says so", async () => {
  const workspaceId = "granted";
  await hub.person.workspace.put({ workspaceId, settings: { agents_may_acquire: false } });
  const { sessionId } = await hub.person.session.create({ kind: "terminal", workspaceId });

  const { stdout } = await cli("control", sessionId);
  const refused = await agentsCli("call", "session.input", JSON.stringify({ sessionId, data: "x" }));

  expect(stdout).toMatch(/^drives +nobody; an agent needs a grant$/m);
  expect(stdout).toMatch(/^interactive +no, but the workspace has agents act only when granted$/m);
  expect(refused.stderr).toContain("Control was refused: nobody drives, and an agent needs a person's grant here.");
});

test("[TCL-8, CTL-38] run says that a person stopped the agent, where the shell says only that it was killed", async () => {
  const { name } = await driven();
  const running = asAgent("run", "--conversation", name, "--", "sh", "-c", "echo on; sleep 1000");
  await eventually(() => expect(running.stdout()).toBe("on\n"));

  await cli("stop", name);
  const { code, stderr } = await running.result;

  expect(stderr).toBe(
    `sidestick: ${ME} stopped the agent, and with it this command. It may ask: sidestick request ${name} --reason TEXT\n`,
  );
  // By whichever signal the shell saw first: what is to be killed is made to stand still before.
  expect([130, 137, 147]).toContain(code);
});

test("[TCL-13] what an agent runs without a name runs in a conversation of its own", async () => {
  const { code, stdout } = await agentsCli("run", "--json", "--", "true");

  const { workspace_session_id: sessionId } = JSON.parse(stdout) as { workspace_session_id: string };
  expect(code).toBe(0);
  expect((await hub.person.session.get({ sessionId })).conversationId).toBe("agent-agent");
});

test("[CLI-9] sessions pause, resume and close take a conversation, too", async () => {
  const { name, sessionId } = await driven();
  const status = async (): Promise<string> => (await hub.person.session.get({ sessionId })).status;

  const seen = [];
  for (const verb of ["pause", "resume", "close"])
    seen.push([(await cli("sessions", verb, name)).code, await status()]);

  expect(seen).toEqual([
    [0, "paused"],
    [0, "active"],
    [0, "closed"],
  ]);
});

type Process = {
  readonly stdout: () => string;
  readonly stderr: () => string;
  readonly interrupt: () => void;
  readonly result: Promise<CliResult>;
};

function startProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}): Process {
  const [command = "", ...rest] = args;
  const child = startCli([command, "--data-dir", hub.dataDir, ...rest], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const result = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { stdout: () => stdout, stderr: () => stderr, interrupt: () => void child.kill("SIGINT"), result };
}
