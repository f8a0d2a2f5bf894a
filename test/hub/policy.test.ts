/** Policy through the hub's own doors. */
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { operation, operationNames } from "../../src/protocol/operations.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { operatorClient, spawnTestHub, startTestHub, tokenOf } from "../support/hub.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { runCli, runCliHere } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { startTerminalHub } from "../support/terminal-hub.ts";

const RULE = { id: "no-x", decision: "deny", reason: "x is bad", command: "x" } as const;
const SAYS =
  "extends: none\ndefault: auto\nunclear: ask\nrules: [{id: no-x, decision: deny, reason: x is bad, command: x}]\n";

async function judgedHub(text = SAYS) {
  const dataDir = await temporaryDirectory();
  const file = join(dataDir, "policy.yaml");
  const write = (content: string) => writeFile(file, content, { mode: 0o600 });
  await write(text);
  const hub = await startTestHub({ dataDir, policy: "own" });
  const { url } = hub;
  const agent = new SidestickClient({ url, token: hub.agentToken });
  const viewer = new SidestickClient({ url, token: await tokenOf(dataDir, "viewer", "vic") });
  return { dataDir, file, write, person: operatorClient(dataDir), agent, viewer };
}

test("[POL-18] operators and viewers see what applies, and from where; agents don't", async () => {
  const { person, viewer, agent, file } = await judgedHub();

  const state = await person.policy.get();

  expect(state).toEqual({
    global: {
      version: expect.stringMatching(/^[0-9a-f]{16}$/),
      file,
      policy: { extends: "none", default: "auto", unclear: "ask", rules: [RULE] },
    },
    workspaces: [],
    problems: [],
  });
  expect(await viewer.policy.get()).toEqual(state);
  expect(await codeOf(agent.policy.get())).toBe("forbidden");
});

test("[POL-18] an agent, a viewer and a person get the same explanation", async () => {
  const { person, viewer, agent } = await judgedHub();
  const asked = { command: "cd sub && x --all", cwd: "/srv/project", containment: "open" } as const;

  const verdict = await person.policy.explain(asked);

  expect(verdict).toMatchObject({
    decision: "deny",
    rule: "no-x",
    reason: "x is bad",
    policyVersion: (await person.policy.get()).global.version,
    parts: [
      { program: "cd", decision: "auto" },
      { text: "x --all", program: "x", decision: "deny", rule: "no-x" },
    ],
  });
  expect([await viewer.policy.explain(asked), await agent.policy.explain(asked)]).toEqual([verdict, verdict]);
});

test("[POL-18] what is asked is one thing, of a workspace and session that there are", async () => {
  const { person } = await judgedHub();
  const codes = await Promise.all(
    [
      {},
      { command: "x", action: { kind: "exec", text: "x" } as const },
      { action: { kind: "remote_command" as const, text: "x", argv: ["x"] } },
      { action: { kind: "exec" as const, argv: ["x"] } },
      { action: { kind: "remote_command" } as const },
      { command: "x", workspaceId: "nowhere" },
      { command: "x", sessionId: "nothing" },
      { action: { kind: "remote_command" as const, argv: ["x"] } },
      { action: { kind: "remote_command" as const, text: "x" } },
    ].map((it) => codeOf(person.policy.explain(it))),
  );

  const wrong = Array.from({ length: 5 }, () => "invalid_request");
  expect(codes).toEqual([...wrong, "not_found", "not_found", "ok", "ok"]);
});

test("[POL-18, RMC-9] a project's command is explained by the rules for such, with a hub and without", async () => {
  const rule = "{id: far, actions: [remote_command], decision: deny, reason: not from afar, command: make}";
  const { person, dataDir, file } = await judgedHub(`extends: none\ndefault: auto\nunclear: ask\nrules: [${rule}]\n`);
  const text = "cd sub && make install";
  const cli = async (...args: string[]) =>
    JSON.parse(
      (await runCliHere(["policy", "explain", "--json", "--data-dir", dataDir, ...args, text])).stdout,
    ) as object;

  const verdict = await person.policy.explain({ action: { kind: "remote_command", text } });

  expect(verdict).toMatchObject({ decision: "deny", rule: "far", parts: [{ decision: "auto" }, { decision: "deny" }] });
  expect((await person.policy.explain({ command: text })).decision).toBe("auto");
  for (const by of [[], ["--policy", file]]) {
    expect(await cli("--as", "remote_command", ...by)).toMatchObject({ decision: "deny", rule: "far" });
    expect(await cli(...by)).toMatchObject({ decision: "auto" });
  }
});

test("[POL-18] in a session it is explained as it would be judged there", async () => {
  const hub = await startTerminalHub("own");
  // Not its home: that lies in the data directory, where nobody may write.
  const project = await temporaryDirectory();
  const { workspace_session_id: sessionId } = await hub.person.pty.exec_block({
    conversation_id: "c",
    command: `cd ${project} && mkdir .git src && cd src`,
    wait_ms: WAIT_BUDGET_MS,
  });

  const { parts } = await hub.person.policy.explain({ sessionId, command: "rm ../one ../../two" });

  expect(parts[0]?.touches).toEqual([
    { how: "delete", path: `${project}/one`, place: "inside" },
    expect.objectContaining({ how: "delete", path: join(dirname(project), "two") }),
  ]);
  expect(parts[0]?.touches[1]?.place).not.toBe("inside");
});

test("[POL-14] a broken change is in doctor and in what applies, until it is mended", async () => {
  const { person, file, write } = await judgedHub();
  const check = async () => (await person.hub.doctor()).checks.find((it) => it.name === "policy");
  const before = await check();
  await write("rules: [{id: 1}]\n");
  await eventually(async () => expect((await person.policy.get()).problems).not.toEqual([]));

  const { global, problems } = await person.policy.get();
  expect(before).toMatchObject({ state: "ready", detail: expect.stringContaining(file) });
  expect(global.policy.rules).toEqual([RULE]);
  expect(problems[0]).toEqual({
    file,
    line: 1,
    column: 9,
    message: "decision must be one of auto, ask, deny",
    remedy: "`sidestick policy schema` says what is allowed.",
  });
  expect(await check()).toMatchObject({ state: "degraded", detail: expect.stringContaining(`${file}:1:`) });

  await write(SAYS);
  await eventually(async () => expect((await check())?.state).toBe("ready"));
});

test("[POL-14] a broken file stops the start: nothing is left open, and the message says where", async () => {
  const dataDir = await temporaryDirectory();
  await writeFile(join(dataDir, "policy.yaml"), "rules:\n  - id: Ä\n", { mode: 0o600 });
  const { code, stdout, stderr } = await runCli(["up", "--port", "0", "--data-dir", dataDir]);

  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain(`sidestick: The policy can't be used:\n  ${dataDir}/policy.yaml:2:5: id must be`);
});

test("[POL-10] --policy names the file, which has to be there and in a directory of its own", async () => {
  const dataDir = await temporaryDirectory();
  const file = join(await temporaryDirectory(), "mine.yaml");
  const missing = await runCli(["up", "--port", "0", "--data-dir", dataDir, "--policy", file]);
  const shared = await runCli(["up", "--port", "0", "--data-dir", dataDir, "--policy", "/tmp/mine.yaml"]);
  await writeFile(file, SAYS, { mode: 0o600 });
  await spawnTestHub(dataDir, ["--policy", file]);

  expect([missing.code, missing.stderr]).toEqual([
    1,
    expect.stringContaining(`${file}: The file can't be read (ENOENT)`),
  ]);
  expect([shared.code, shared.stderr]).toEqual([
    2,
    expect.stringContaining("should be a file in a directory of its own"),
  ]);
  const { policy } = operatorClient(dataDir);
  expect((await policy.get()).global).toMatchObject({ file, policy: { rules: [RULE] } });
});

test("[POL-15] a guard hides the directory of the file also where its host was started without it", async () => {
  const file = join(await temporaryDirectory(), "mine.yaml");
  await writeFile(file, SAYS, { mode: 0o600 });
  const driver = new MemoryDriver("terminal", { available: true, missing: [] });
  const hub = await startTestHub({ drivers: [driver], args: ["--policy", file] });
  const agent = new SidestickClient({ url: hub.url, token: hub.agentToken });
  const { sessionId } = await agent.session.create({ kind: "terminal" });

  const terms = await eventually(() => driver.terms.get(sessionId) ?? expect.fail("not started"));
  expect(terms.guard?.hidden).toEqual([dirname(file)]);
});

test("[POL-15] no operation changes a policy", () => {
  const effects = operationNames.filter((it) => it.startsWith("policy.")).map((it) => operation(it).effect);

  expect(new Set(effects)).toEqual(new Set(["read"]));
});
