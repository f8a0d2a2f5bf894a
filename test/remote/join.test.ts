import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { enrolLight, LightHost } from "../support/light-host.ts";
import { eventually } from "../support/eventually.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { joinHost, type RemoteHostProcess, seen } from "../support/remote-host.ts";
import { runCli, runCliHere } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

const FACTS = { os: "Linux", arch: "x64", shells: [], version: "1" };

let hub: TerminalHub;
/** Joined and running when a test begins, and when it ends. */
let build: RemoteHostProcess;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  build = await joined("build");
  return async () => {
    await build.end();
    await opened.stop();
  };
});

async function joined(name: string): Promise<RemoteHostProcess> {
  const host = await joinHost({ url: hub.url, person: hub.person, name, workspaceId: name });
  await hub.person.workspace.put({ workspaceId: name, settings: { containment: "open" } });
  return host;
}

const status = async ({ dataDir }: RemoteHostProcess): Promise<object> =>
  JSON.parse((await runCliHere(["host", "status", "--data-dir", dataDir, "--json"])).stdout) as object;

const enrol = (body: object) => ask(hub.url, { method: "POST", path: "/hosts/enroll", body: { ...FACTS, ...body } });

test("[RML-3, RML-9] a machine joins with a code and runs sessions as the hub's own does", async () => {
  const session = await hub.agent.session.create({ kind: "terminal", workspaceId: "build", conversationId: "c1" });
  const ran = await hub.agent.pty.exec_block({
    conversation_id: "c1",
    command: "echo $((6*7))",
    wait_ms: WAIT_BUDGET_MS,
  });
  const here = await hub.agent.pty.exec_block({ conversation_id: "c2", command: "echo here", wait_ms: WAIT_BUDGET_MS });

  expect(session.hostId).toBe(build.hostId);
  expect([ran.output, here.output]).toEqual(["42\n", "here\n"]);
  expect(statSync(join(build.dataDir, "membership.json")).mode & 0o777).toBe(0o600);
});

test("[RML-3, RML-12, RML-42] later starts need no code, and whoever looks sees it come and go, there and here", async () => {
  await eventually(async () =>
    expect(await status(build)).toMatchObject({ joined: true, running: true, online: true }),
  );
  await build.kill("SIGTERM");
  onTestFinished(async () => {
    if (build.child.exitCode !== null) await build.again();
  });
  const gone = await seen(hub.person, "build", false);
  const ended = await status(build);

  await build.again();

  expect(ended).toMatchObject({ joined: true, running: false, online: false, name: "build" });
  const back = await hub.person.host.get({ hostId: build.hostId });
  expect(back).toMatchObject({ name: "build", online: true, os: expect.stringMatching(/^Linux/), sessions: 0 });
  expect(back.since! > gone.since!).toBe(true);
  const links = await eventually(async () => {
    const events = await hub.person.event.list({ types: ["host_link"], limit: 1000 });
    const its = events.filter((it) => it.payload["hostId"] === build.hostId).map((it) => it.payload["online"]);
    expect(its.at(-1)).toBe(true);
    return its;
  });
  expect(links[0]).toBe(true);
});

test("[RML-3] a code is good once", async () => {
  const { code } = await hub.person.host.invite({});
  const first = await enrol({ code, name: "once" });
  const second = await enrol({ code, name: "twice" });
  const wrong = await enrol({ code: "nonsense", name: "never" });

  expect([first, second, wrong].map(verdict)).toEqual(["201", "401 unauthenticated", "401 unauthenticated"]);
});

test("[RML-4] names are unique, `local` is taken, and a code that was refused for its name stays good", async () => {
  const { code } = await hub.person.host.invite({});
  await enrol({ code: (await hub.person.host.invite({ name: "taken" })).code });

  const refused = [await enrol({ code, name: "taken" }), await enrol({ code, name: "local" })].map(verdict);
  const accepted = await enrol({ code, name: "free" });

  expect(refused).toEqual(["409 invalid_transition", "409 invalid_transition"]);
  expect(verdict(accepted)).toBe("201");
  await expect(hub.person.host.invite({ name: "taken" })).rejects.toMatchObject({ code: "invalid_transition" });
  await expect(hub.person.host.remove({ hostId: "local" })).rejects.toMatchObject({ code: "invalid_transition" });
});

test("[RML-6] a host whose token is revoked ends what it runs, and itself", async () => {
  const host = await joined("revoked");
  onTestFinished(host.end);
  await hub.agent.session.create({ kind: "terminal", workspaceId: "revoked", conversationId: "c3" });
  const command = `trap "" HUP; echo pid-$$-; sleep 1000`;
  await hub.agent.pty.exec_block({ conversation_id: "c3", command, wait_ms: 0 });
  const { tokenId = "" } = await hub.person.host.get({ hostId: "revoked" });

  await hub.person.token.revoke({ tokenId });
  await seen(hub.person, "revoked", false);

  await eventually(() => expect(host.child.exitCode).toBe(3));
  expect(host.lines.join("\n")).toContain("The hub has removed this host");
});

test("[RML-8] a host doesn't talk to another hub than the one that it joined", async () => {
  const other = await startTestHub();
  const person = operatorClient(other.dataDir);
  const host = await joinHost({ url: other.url, person, name: "confused" });
  onTestFinished(host.end);
  await host.kill("SIGTERM");
  const file = join(host.dataDir, "membership.json");
  const { default: membership } = (await import(file, { with: { type: "json" } })) as { default: object };
  writeFileSync(file, JSON.stringify({ ...membership, hubId: "another" }), { mode: 0o600 });

  await expect(Promise.race([host.again(), told(host, "another hub")])).resolves.toBe("told");
});

test("[RML-42, RML-3] a second one in the same directory says so and ends; the first one's status is its own", async () => {
  const host = await joinHost({ url: hub.url, person: hub.person, name: "first" });
  onTestFinished(host.end);

  const { code, stdout } = await runCli(["host", "join", "--data-dir", host.dataDir]);
  const status = await runCliHere(["host", "status", "--data-dir", host.dataDir, "--json"]);

  expect([code, stdout]).toEqual([0, `A host already runs there (pid ${host.child.pid}).\n`]);
  expect(JSON.parse(status.stdout)).toMatchObject({ running: true, online: true, name: "first" });
});

async function told(host: RemoteHostProcess, words: string): Promise<string> {
  await eventually(async () => {
    const { stdout } = await runCliHere(["host", "status", "--data-dir", host.dataDir, "--json"]);
    expect((JSON.parse(stdout) as { detail?: string }).detail).toContain(words);
  });
  return "told";
}

test("[RML-1, RML-7] a host that comes anew replaces what the hub still believes in", async () => {
  const membership = await enrolLight(hub.url, hub.person, "eager");
  const first = new LightHost(membership);
  const second = new LightHost(membership);
  onTestFinished(() => [first, second].forEach((it) => it.close()));
  await first.connect();
  await seen(hub.person, "eager", true);

  await second.connect();
  await first.closed();

  await eventually(async () => expect((await hub.person.host.get({ hostId: "eager" })).online).toBe(true));
  expect(second.isOpen).toBe(true);
});

test("[RML-40] the command line lists hosts, invites and removes", async () => {
  const at = ["--data-dir", hub.dataDir];
  const invited = await runCliHere(["host", "invite", "--name", "cli-host", ...at]);
  const [, code] = /--code (\S+)/.exec(invited.stdout) ?? [];
  await enrol({ code });

  const listed = await runCliHere(["hosts", ...at]);
  const removed = await runCliHere(["host", "remove", "cli-host", ...at]);

  expect(invited.stdout).toMatch(/^sidestick host join http:\/\/127\.0\.0\.1:\d+ --code \S+\n$/);
  expect(listed.stdout).toMatch(/^local +online/m);
  expect(listed.stdout).toMatch(/^cli-host +offline/m);
  expect(removed.stderr).toBe("Removed cli-host.\n");
});

test("[RML-41] install prints a unit for systemd, and refuses where nothing was joined", async () => {
  const empty = await temporaryDirectory();

  const unit = await runCliHere(["host", "install", "--dry-run", "--data-dir", build.dataDir]);
  const system = await runCliHere(["host", "install", "--system", "--user", "builder", "--dry-run"]);
  const refused = await runCliHere(["host", "install", "--dry-run", "--data-dir", empty]);

  const lines = unit.stdout.split("\n");
  expect(lines.filter((it) => it.startsWith("["))).toEqual(["[Unit]", "[Service]", "[Install]"]);
  expect(lines).toContainEqual(
    expect.stringMatching(new RegExp(`^ExecStart=.* host join --data-dir ${build.dataDir}$`)),
  );
  expect(unit.stdout).toContain("RestartPreventExitStatus=3");
  expect(unit.stderr).toContain(
    "systemctl --user enable --now sidestick-host".replace("enable", "daemon-reload && systemctl --user enable"),
  );
  expect(system.stdout).toContain("User=builder");
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining("joined no hub")]);
});

test("[TCL-27, TRM-1] run --workspace makes the terminal on that workspace's host, where the next one is too", async () => {
  const run = (...args: string[]) => runCliHere(["run", "--data-dir", hub.dataDir, ...args]);
  const onBuild = ["--conversation", "c9", "--workspace", "build"];
  const first = await run(...onBuild, "--", "pwd");
  const elsewhere = await run("--conversation", "c9", "--workspace", "default", "--", "true");
  const unknown = await run("--conversation", "c10", "--workspace", "nope", "--", "true");
  const [closed] = await hub.person.session.list({ conversationId: "c9" });
  await hub.person.session.close({ sessionId: closed?.sessionId ?? "" });
  const next = await run("--conversation", "c9", "--", "pwd");

  expect([first, next].map(({ code, stdout }) => ({ code, stdout }))).toEqual(
    [1, 2].map(() => ({ code: 0, stdout: `${join(build.dataDir, "host/home")}\n` })),
  );
  expect(elsewhere).toMatchObject({
    code: 125,
    stderr: expect.stringContaining("The conversation's terminal is in the workspace build, not in default: choose"),
  });
  expect(unknown).toMatchObject({
    code: 125,
    stderr: 'sidestick: There is no workspace "nope". See: sidestick workspaces\n',
  });
  const made = await hub.person.session.list({ conversationId: "c9" });
  expect(made.map((it) => it.hostId)).toEqual([build.hostId, build.hostId]);
});

test("[RML-3] the first join needs an address and a code, and both are named", async () => {
  const { code, stderr } = await runCli(["host", "join", "--data-dir", await temporaryDirectory()]);

  expect([code, stderr]).toEqual([
    2,
    "sidestick: This machine has joined no hub: sidestick host join URL --code CODE. The hub tells both: sidestick host invite\n",
  ]);
});

test("[RML-40, CLI-21] hosts have their names in lists; where one was removed that is said, with what helps", async () => {
  const cli = (...args: string[]) => runCliHere([...args, "--data-dir", hub.dataDir]);
  const light = await enrolLight(hub.url, hub.person, "brief");
  await hub.person.workspace.put({ workspaceId: "short", hostId: "brief" });
  const before = await cli("workspaces");
  const removed = await cli("host", "remove", "brief");
  const refused = await cli("sessions", "create", "--kind", "terminal", "--workspace", "short");
  const put = `sidestick call workspace.put '{"workspaceId":"short","hostId":"local"}'`;

  expect(before.stdout).toMatch(/^short +brief /m);
  expect((await cli("workspaces")).stdout).toContain(`${light.hostId} (removed)`);
  expect(removed.stderr).toBe(`Removed brief.\nThe workspace short still names it. To name another: ${put}\n`);
  expect(refused.stderr).toBe(
    `sidestick: The host of the workspace short was removed, so nothing can start there. Name another, of sidestick hosts: ${put}\n`,
  );
  expect((await cli("sessions", "get", "c1")).stdout).toMatch(/^host +build$/m);
});
