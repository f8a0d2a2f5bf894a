/** The commands against a real hub. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { operatorClient, spawnTestHub, startTestHub } from "../../test/support/hub.ts";
import { runCli, runCliHere, startCli } from "../../test/support/run-cli.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";

type Run = (...args: string[]) => ReturnType<typeof runCli>;

async function startHub(): Promise<{ run: Run; hub: Awaited<ReturnType<typeof startTestHub>> }> {
  const hub = await startTestHub();
  const run: Run = (...args) => runCliHere([...args, "--data-dir", hub.dataDir]);
  return { run, hub };
}

test("[CLI-11] token create prints a token that works, and nothing else", async () => {
  const { run, hub } = await startHub();

  const { code, stdout, stderr } = await run("token", "create", "--role", "agent", "--name", "bot", "--expires", "30d");

  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^[\w-]+\n$/);
  const who = await runCli(["call", "hub.whoami", "--url", hub.url], { env: { SIDESTICK_TOKEN: stdout.trim() } });
  expect(JSON.parse(who.stdout)).toEqual({ role: "agent", kind: "agent", id: "bot" });
});

test("[CLI-8, CLI-3] a revoked token is refused with 4, on the socket too", async () => {
  const { run, hub } = await startHub();
  const env = { SIDESTICK_TOKEN: hub.agentToken };
  const listed = JSON.parse((await run("token", "list", "--json")).stdout) as { tokenId: string; name: string }[];
  const id = listed.find(({ name }) => name === "bot")?.tokenId ?? "";

  const before = await runCli(["sessions", "--data-dir", hub.dataDir], { env });
  const revoked = await run("token", "revoke", id.slice(0, 10));
  const after = await runCli(["sessions", "--data-dir", hub.dataDir], { env });

  expect([before.code, revoked.code, after.code]).toEqual([0, 0, 4]);
  expect((await run("token", "list")).stdout).toMatch(new RegExp(`^${id.slice(0, 8)} .* bot .* revoked$`, "m"));
});

test("[CLI-19] revoking again says since when it has been revoked", async () => {
  const { run, hub } = await startHub();
  const operator = operatorClient(hub.dataDir);
  const { tokenId } = await operator.token.create({ role: "agent", name: "claude" });

  const first = await run("token", "revoke", tokenId);
  const again = await run("token", "revoke", tokenId);

  const since = (await operator.token.list()).find((it) => it.tokenId === tokenId)?.revokedAt;
  expect([first.code, first.stderr]).toEqual([0, "Revoked claude (agent).\n"]);
  expect([again.code, again.stderr]).toEqual([0, `claude (agent) was already revoked, at ${since}.\n`]);
});

test("[CLI-11] login-link prints the link alone", async () => {
  const { run, hub } = await startHub();

  const { stdout } = await run("login-link");

  expect(stdout.startsWith(`${hub.url}/login#code=`)).toBe(true);
  expect(stdout.trimEnd()).toMatch(/^\S+$/);
});

test("[CLI-9, CLI-11] a session from create to close, by the begin of its id", async () => {
  const { run } = await startHub();

  const id = (
    await run("sessions", "create", "--kind", "terminal", "--title", "nightly", "--interactive")
  ).stdout.trim();
  const begin = id.slice(0, 12);
  const got = await run("sessions", "get", begin);
  const statuses: unknown[] = [];
  for (const verb of ["pause", "resume", "close"]) {
    statuses.push((JSON.parse((await run("sessions", verb, begin, "--json")).stdout) as { status: string }).status);
  }

  expect(got.stdout).toMatch(/^title +nightly$/m);
  expect(got.stdout).toMatch(/^interactive +true$/m);
  expect(statuses).toEqual(["paused", "active", "closed"]);
  expect((await run("sessions", "--all")).stdout).toMatch(
    new RegExp(`^ID .*\n${id.slice(0, 8)}  terminal  closed .* default +nightly$`, "m"),
  );
  expect((await run("sessions", "close", begin)).code).toBe(1);
});

test("[CLI-20] sessions shows the living ones, --all closed ones too", async () => {
  const { run } = await startHub();
  const idsOf = async (...args: string[]): Promise<string[]> =>
    (JSON.parse((await run("sessions", ...args, "--json")).stdout) as { sessionId: string }[]).map(
      (it) => it.sessionId,
    );
  const create = async () => (await run("sessions", "create", "--kind", "terminal")).stdout.trim();
  const [first, second, third] = [await create(), await create(), await create()];
  await run("sessions", "pause", first);
  await run("sessions", "close", second);

  expect(await idsOf()).toEqual([first, third]);
  expect(await idsOf("--all")).toEqual([first, second, third]);
  expect(await idsOf("--status", "closed")).toEqual([second]);
  await run("sessions", "close", first);
  await run("sessions", "close", third);
  expect((await run("sessions")).stderr).toContain("closed ones: sidestick sessions --all");
});

test("[CLI-17] the first decision stands", async () => {
  const { run, hub } = await startHub();
  const operator = operatorClient(hub.dataDir);
  const asked = { kind: "tool", payload: { target: "prod" }, action: "deploy" } as const;
  const { requestId, requestedBy } = await operator.approval.request(asked);

  const pending = await run("approvals", "--status", "pending");
  const first = await run("approve", requestId.slice(0, 8), "--reason", "as agreed");
  const second = await run("deny", requestId.slice(0, 8));

  expect(pending.stdout).toMatch(/ pending, [45]m left .* deploy {2}\{"target":"prod"\}$/m);
  const told = `approved: deploy {"target":"prod"} (asked by ${requestedBy})\n`;
  expect(first).toEqual({ code: 0, stdout: "", stderr: told });
  expect([second.code, second.stdout]).toEqual([1, ""]);
  expect(second.stderr).toContain(`${requestedBy} approved it: as agreed. The first decision stands`);
  expect(await operator.approval.get({ requestId })).toMatchObject({ status: "approved", reason: "as agreed" });
});

test("[CLI-13] call takes JSON as an argument or on stdin", async () => {
  const { run, hub } = await startHub();

  const made = await run("call", "workspace.put", '{"workspaceId":"w1"}');
  const stdin = '{"workspaceId":"w1"}';
  const read = await runCli(["call", "workspace.get", "-", "--data-dir", hub.dataDir], { stdin });
  const wrong = await run("call", "workspace.get", '{"workspaceId":".."}');

  expect(JSON.parse(read.stdout)).toEqual(JSON.parse(made.stdout));
  expect((await run("workspaces")).stdout).toMatch(/^w1 +local +≤ 200 +≤ 20 +-$/m);
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("workspaceId is missing or is not an id")]);
});

test("[CLI-12] events lists what is kept, page after page", async () => {
  const { run, hub } = await startHub();
  const operator = operatorClient(hub.dataDir);
  await Promise.all(Array.from({ length: 6 }, () => operator.approval.request({ kind: "tool", payload: {} })));
  const kept = await operator.event.list();

  const all = await run("events", "--json");
  const some = await run("events", "--after", String(kept[1]?.sequence), "--limit", "3", "--json");
  const plain = await run("events", "--limit", "1");

  const lines = (stdout: string): unknown[] =>
    stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  expect(lines(all.stdout)).toEqual(kept);
  expect(lines(some.stdout)).toEqual(kept.slice(2, 5));
  expect(plain.stdout).toMatch(/^\d+ {2}\d{4}-\S+Z {2}hub {7}approval_request {2}person:\S+ {2}\{.*\}\n$/);
});

function linesOf(child: ChildProcess): AsyncIterator<string> {
  if (child.stdout === null) throw new Error("no stdout");
  onTestFinished(() => void child.kill("SIGKILL"));
  return createInterface({ input: child.stdout })[Symbol.asyncIterator]();
}

test("[CLI-12] follow goes on across a killed hub, each event once, and ends with 130 at Ctrl+C", async () => {
  const dataDir = await temporaryDirectory();
  const first = await spawnTestHub(dataDir);
  const ask = (): Promise<{ requestId: string }> =>
    operatorClient(dataDir).approval.request({ kind: "tool", payload: {} });
  await ask();
  const child = startCli([
    "events",
    "--follow",
    "--after",
    "0",
    "--types",
    "approval_request",
    "--json",
    "--data-dir",
    dataDir,
  ]);
  const stderr = child.stderr === null ? undefined : text(child.stderr);
  const lines = linesOf(child);
  const sequences: number[] = [];
  const next = async (): Promise<number> =>
    sequences.push((JSON.parse((await lines.next()).value as string) as { sequence: number }).sequence);

  await next();
  await ask();
  await next();
  await first.kill();
  await spawnTestHub(dataDir);
  await ask();
  await next();
  const exited = once(child, "exit");
  child.kill("SIGINT");

  expect(await exited).toEqual([130, null]);
  const stored = await operatorClient(dataDir).event.list({ types: ["approval_request"] });
  expect(sequences).toEqual(stored.map(({ sequence }) => sequence));
  expect(await stderr).toBe("The hub is away; waiting for it …\nThe hub is back.\n");
});

test("[CLI-12] follow begins at the present end, and ends after --limit", async () => {
  const { hub } = await startHub();
  const operator = operatorClient(hub.dataDir);
  await operator.workspace.put({ workspaceId: "before" });
  const follow = ["events", "--follow", "--limit", "1", "--types", "workspace", "--json", "--data-dir", hub.dataDir];
  const child = startCli(follow);
  const exited = once(child, "exit");
  let maxSessions = 0;
  // Nothing tells from outside that it follows now, so there is something new until it does.
  const changing = setInterval(() => {
    maxSessions += 1;
    void operator.workspace.put({ workspaceId: "after", limits: { maxSessions } }).catch(() => undefined);
  }, 50);
  onTestFinished(() => clearInterval(changing));

  const line = await linesOf(child).next();

  expect(JSON.parse(line.value as string)).toMatchObject({ type: "workspace", payload: { workspaceId: "after" } });
  expect(await exited).toEqual([0, null]);
});

test("[CLI-12, CLI-3] follow without a hub does not wait for one", async () => {
  const { code } = await runCli(["events", "--follow", "--after", "0", "--data-dir", await temporaryDirectory()]);

  expect(code).toBe(3);
});

test("[CLI-15] doctor asks the running hub", async () => {
  const { run, hub } = await startHub();

  const { code, stdout } = await run("doctor", "--json");

  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(await operatorClient(hub.dataDir).hub.doctor());
});

const whoami = { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "hub_whoami", arguments: {} } };
const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "t", version: "1" } },
};

type Reply = { result: { structuredContent?: unknown; isError?: boolean } };

/** Starts `sidestick mcp`; `ask` sends one message and reads one. */
function startMcp(dataDir: string, { args = [], env = {} }: { args?: string[]; env?: Record<string, string> }) {
  const child = startCli(["mcp", ...args, "--data-dir", dataDir], { env });
  const lines = linesOf(child);
  const ask = async (message: object): Promise<Reply> => {
    child.stdin?.write(`${JSON.stringify(message)}\n`);
    return JSON.parse((await lines.next()).value as string) as Reply;
  };
  return { child, ask };
}

test("[CLI-16] mcp acts with the credential's role, and tells when the hub is away", async () => {
  const { hub } = await startHub();
  const { child, ask } = startMcp(hub.dataDir, { env: { SIDESTICK_TOKEN: hub.agentToken } });

  await ask(initialize);
  const known = await ask(whoami);
  await hub.stop();
  const away = await ask({ ...whoami, id: 3 });
  const exited = once(child, "exit");
  child.stdin?.end();

  expect(known.result.structuredContent).toEqual({ role: "agent", kind: "agent", id: "bot" });
  expect(away.result).toMatchObject({
    isError: true,
    structuredContent: { detail: expect.stringContaining("The hub isn't running") as string },
  });
  expect(await exited).toEqual([0, null]);
});

test("[CLI-16, CLI-3] mcp without a token does not start by accident", async () => {
  const { hub } = await startHub();
  const withToken = { env: { SIDESTICK_TOKEN: hub.agentToken } };

  const bare = await runCli(["mcp", "--data-dir", hub.dataDir]);
  const both = await runCli(["mcp", "--as-operator", "--data-dir", hub.dataDir], withToken);

  expect([bare.code, bare.stdout, both.code, both.stdout]).toEqual([2, "", 2, ""]);
  expect(bare.stderr).toBe(
    'sidestick: "mcp" needs the token of the agent that it serves. Make one: sidestick token create --role agent ' +
      "--name NAME, then: SIDESTICK_TOKEN=… sidestick mcp (or say --as-operator, to let the agent do all that you may)\n",
  );
  expect(both.stderr).toContain("A token is given, so --as-operator means nothing");
});

test("[CLI-16] mcp says when it acts as the operator", async () => {
  const { hub } = await startHub();
  const { child, ask } = startMcp(hub.dataDir, { args: ["--as-operator"] });
  const stderr = child.stderr === null ? undefined : text(child.stderr);

  await ask(initialize);
  child.stdin?.end();

  expect(await stderr).toContain("These tools act as the operator");
});

test("[CLI-8] $SIDESTICK_URL stands for --url, unless a data directory is given", async () => {
  const hub = await startTestHub();
  const env = { SIDESTICK_URL: hub.url, SIDESTICK_TOKEN: hub.agentToken };

  const here = await runCli(["call", "hub.whoami"], { env });
  const there = await runCli(["call", "hub.whoami", "--data-dir", "/nowhere"], { env });
  const wrong = await runCli(["call", "hub.whoami"], { env: { SIDESTICK_URL: "nowhere" } });

  expect(JSON.parse(here.stdout)).toMatchObject({ role: "agent", id: "bot" });
  expect(there.code).toBe(3);
  expect(wrong.stderr).toMatch(/^sidestick: \$SIDESTICK_URL is "nowhere", but should be an address/);
});
