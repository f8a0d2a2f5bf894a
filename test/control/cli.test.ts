/** Control from the command line: a real hub, host and shell, an agent beside it. */
import { once } from "node:events";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually } from "../support/eventually.ts";
import { tokenOf } from "../support/hub.ts";
import { type CliResult, runCliHere, startCli } from "../support/run-cli.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

let made = 0;
const conversation = (): string => `control-cli-${(made += 1)}`;
const cli = (...args: string[]): Promise<CliResult> => runCliHere([...args, "--data-dir", hub.dataDir]);

type Driven = { readonly name: string; readonly sessionId: string };

/** The agent has run something in a terminal of its own. */
async function driven(command = "true"): Promise<Driven> {
  const conversation_id = conversation();
  const { workspace_session_id } = await hub.agent.pty.exec_block({ conversation_id, command, wait_ms: 20_000 });
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
  expect(before.stdout).toMatch(/^drives +agent agent, by itself: nobody attends\nagent +IDLE\nintent +WAIT$/m);
  expect(after.stdout).toMatch(/^drives +operator\nsince +a person took it\nagent +STOPPED\nintent +WAIT$/m);
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
  await hub.agent.pty.exec_interactive({ conversation_id: name, command: "sleep 1000" });
  await hub.agent.pty.wait_for({ conversation_id: name, match: "sleep", timeout_ms: 5_000 });

  const { code, stdout } = await cli("stop", name);

  expect([code, stdout]).toEqual([0, expect.stringMatching(/^Stopped\. killed: .*sleep \(\d+\).*; dropped: nothing/)]);
  expect(await hub.person.control.get({ sessionId })).toMatchObject({ user_intent: "STOP_NOW", control_mode: "USER" });
  const again = JSON.parse((await cli("stop", name, "--all", "--json")).stdout) as object;
  expect(again).toMatchObject({ agent_status: "STOPPING", receipt: { kill_scope: "all", survivors: [] } });
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

test("[CTL-38, CTL-30] an interrupt that comes to no safe point ends after 10 s, offers stop, and can be withdrawn", async () => {
  const { name } = await driven();

  const { code, stdout, stderr } = await cli("interrupt", name);
  const withdrawn = await cli("interrupt", name, "--withdraw");

  expect([code, stdout]).toEqual([124, "It will pause; drives: agent agent, by itself: nobody attends\n"]);
  expect(stderr).toBe(`sidestick: No safe point came. Stop it at once: sidestick stop ${name}\n`);
  expect(withdrawn).toMatchObject({ code: 0, stdout: "drives: agent agent, by itself: nobody attends\n" });
});

test("[CTL-38, CTL-11] an agent asks and waits from the command line; a person declines or grants", async () => {
  const { name, sessionId } = await driven();
  await cli("take", name);
  const env = { SIDESTICK_TOKEN: await tokenOf(hub.dataDir, "agent", "agent") };
  const agentCli = (...args: string[]): Promise<CliResult> => startProcess(args, env).result;
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
  expect([sessionId, held.sessionId, attended].map(drives)).toEqual(["agent", "operator", "(by grant)"]);
});

type Process = {
  readonly stdout: () => string;
  readonly interrupt: () => void;
  readonly result: Promise<CliResult>;
};

function startProcess(args: readonly string[], env: Readonly<Record<string, string>> = {}): Process {
  const child = startCli([...args, "--data-dir", hub.dataDir], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let [stdout, stderr] = ["", ""];
  child.stdout?.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const result = once(child, "close").then(([code]) => ({ code: code as number | null, stdout, stderr }));
  return { stdout: () => stdout, interrupt: () => void child.kill("SIGINT"), result };
}
