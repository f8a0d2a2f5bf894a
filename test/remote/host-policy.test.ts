/** The host's own policy is above any hub. */
import { readFileSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "unbash";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { HostPolicy } from "../../src/host/host-policy.ts";
import { runHostJoin } from "../../src/main/host-join.ts";
import { HostPolicyFile } from "../../src/protocol/host-policy.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { joinHost } from "../support/remote-host.ts";
import { runCli, runCliHere } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

const BASH = { dialect: "bash", cwd: "/srv", home: "/home/u" } as const;

function policyOf(file: object): HostPolicy {
  return new HostPolicy(HostPolicyFile.parse(file), parse);
}

function verdictOn(file: object, text: string, decided = false): string {
  try {
    policyOf(file).command(text, BASH, decided);
    return "runs";
  } catch (error) {
    return String((error as { details?: { rule?: string } }).details?.rule);
  }
}

describe("what it says", () => {
  test.each([
    [{}, "rm -rf /", "runs"],
    [{ deny: ["rm"] }, "ls", "runs"],
    [{ deny: ["rm"] }, "rm -rf x", "host:deny-1"],
    [{ deny: ["rm"] }, "ls; sudo rm x", "host:deny-1"],
    [{ deny: ["rm"] }, "echo $(rm x)", "host:deny-1"],
    [{ deny: ["git push"], allow: ["git"] }, "git push --force", "host:deny-1"],
    [{ default: "deny", allow: ["git", "ls"] }, "git status && ls", "runs"],
    [{ default: "deny", allow: ["git"] }, "git status && curl x", "host:otherwise"],
    [{ ask: ["apt"] }, "apt install x", "host:ask-1"],
  ])("[RML-30] %j: %s", (file, text, verdict) => {
    expect(verdictOn(file, text)).toBe(verdict);
  });

  test("[RML-30] what can't be read might be what is denied", () => {
    expect(verdictOn({ deny: ["rm"] }, '"$(cat x)" y')).toMatch(/^host:/);
    expect(verdictOn({ deny: ["rm"], unclear: "allow" }, "$TOOL y")).toBe("runs");
  });

  test("[RML-31] what is asked about runs when a person decided, what is denied never", () => {
    const file = { ask: ["apt"], deny: ["rm"] };

    expect([verdictOn(file, "apt install x", true), verdictOn(file, "rm x", true)]).toEqual(["runs", "host:deny-1"]);
  });

  test("[RML-32] accounts, levels, what a guard shows, shells and directories", () => {
    const policy = policyOf({ users: ["ci", "me"], containment: ["guard", "user"], cwd_roots: ["/usr"], deny: ["rm"] });
    const places = { user: "me", home: "/nowhere", shells: ["/bin/bash"] };
    const start = {
      type: "START_INTERACTIVE_CMD",
      id: 1,
      session_id: "s",
      cols: 80,
      rows: 24,
      for_agent: true,
    } as const;
    const begin = (asked: object, user = "me") => {
      try {
        return policy.start({ ...start, containment: "guard", ...asked }, { ...places, user });
      } catch (error) {
        return (error as { details?: { rule?: string } }).details?.rule;
      }
    };

    expect(begin({})).toEqual({ cwd: "/usr" });
    expect(begin({ cwd: "/usr/share" })).toEqual({});
    expect(begin({ cwd: "/usr/../etc" })).toBe("host:cwd_roots");
    expect(begin({ containment: "open" })).toBe("host:containment");
    expect(begin({ containment: "user", user: "ci" })).toEqual({ cwd: "/usr" });
    expect(begin({ containment: "user", user: "root" })).toBe("host:users");
    expect(begin({ shell: "/tmp/evil" })).toBe("host:shell");
    expect(begin({ guard: { hidden: ["/srv"], shown: [] } })).toEqual({ cwd: "/usr" });
    expect(begin({ guard: { shown: ["~/.ssh"] } })).toBe("host:guard_terms");
    expect(begin({ guard: { writable: ["/etc"] } })).toBe("host:guard_terms");
    expect(begin({ user: "ci" }, "root")).toBe("host:users");
    expect(begin({ containment: "user" }, "me")).toBe("host:users");
  });
});

describe("at a real shell", () => {
  let hub: TerminalHub;
  let file: string;
  beforeAll(async () => {
    const opened = await openTerminalHub();
    hub = opened;
    const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
    file = join(dataDir, "host-policy.yaml");
    writeFileSync(file, "deny: [touch]\nask: [mkdir]\n", { mode: 0o600 });
    const host = await joinHost({ url: hub.url, person: hub.person, name: "strict", workspaceId: "strict", dataDir });
    await hub.person.workspace.put({ workspaceId: "strict", settings: { containment: "open" } });
    return async () => {
      await host.end();
      await opened.stop();
      await rm(dataDir, { recursive: true, force: true });
    };
  });

  const begun = async (conversationId: string): Promise<string> => {
    const { sessionId } = await hub.agent.session.create({ kind: "terminal", workspaceId: "strict", conversationId });
    await hub.agent.pty.exec_block({ conversation_id: conversationId, command: "true", wait_ms: WAIT_BUDGET_MS });
    return sessionId;
  };

  test("[RML-30, RML-31] commands of agents and people are held to it", async () => {
    const sessionId = await begun("p1");
    const agent = (command: string) =>
      codeOf(hub.agent.pty.exec_block({ conversation_id: "p1", command, wait_ms: WAIT_BUDGET_MS }));
    const ran = [await agent("touch x"), await agent("mkdir x"), await agent("echo ok")];
    await hub.person.control.take({ sessionId });
    const person = (command: string) =>
      codeOf(hub.person.pty.exec_block({ conversation_id: "p1", command, wait_ms: WAIT_BUDGET_MS }));

    expect(ran).toEqual(["policy_denied", "policy_denied", "ok"]);
    expect([await person("touch x"), await person("mkdir -p made")]).toEqual(["policy_denied", "ok"]);
  });

  test("[RML-30, RML-31, RMC-8] so are commands of a project, with a terminal and without (needs perl)", async () => {
    const project_id = "strict";
    const plain = (command: string) => codeOf(hub.agent.command.execute({ project_id, command }));
    const talked = (command: string) => codeOf(hub.agent.command.start({ project_id, command }));

    expect([await plain("touch x"), await plain("mkdir x"), await plain("echo ok")]).toEqual([
      "policy_denied",
      "policy_denied",
      "ok",
    ]);
    expect([await talked("touch x"), await talked("echo ok")]).toEqual(["policy_denied", "ok"]);
  });

  test("[RML-33] at a shell whole lines are judged and anything else is refused; a waiting program is answered", async () => {
    const sessionId = await begun("p2");
    await hub.person.control.take({ sessionId });
    const type = (data: string) => codeOf(hub.person.session.input({ sessionId, data }));

    expect(await type("touch x\r")).toBe("policy_denied");
    expect(await type("tou")).toBe("policy_denied");
    expect(await type("echo typed-$((40+2))\r")).toBe("ok");
    const output = async () => (await hub.person.pty.read_output({ conversation_id: "p2", from_cursor: 0 })).data;
    await eventually(async () => expect(await output()).toContain("typed-42"));
    await eventually(async () => expect((await hub.person.pty.status({ conversation_id: "p2" })).mode).toBe("idle"));
    await hub.person.pty.exec_interactive({ conversation_id: "p2", command: "head -n 1 > /dev/null" });
    await hub.person.pty.wait_for({ conversation_id: "p2", match: "INPUT", timeout_ms: WAIT_BUDGET_MS });
    expect(await type("y\rtouch x\r")).toBe("policy_denied");
    expect(
      await eventually(async () => {
        const code = await type("yes\r");
        expect(code).toBe("ok");
        return code;
      }),
    ).toBe("ok");
  });

  test("[RML-34] a file that breaks lets no command pass and no session start, until it is mended", async () => {
    await begun("p3");
    const started = async () => {
      const { sessionId } = await hub.person.session.create({ kind: "terminal", workspaceId: "strict" });
      return eventually(async () => {
        const { status, reason, detail } = await hub.person.session.get({ sessionId });
        expect(status).not.toBe("created");
        return reason === undefined ? status : `${reason}: ${detail}`;
      });
    };
    const run = () =>
      codeOf(hub.agent.pty.exec_block({ conversation_id: "p3", command: "echo ok", wait_ms: WAIT_BUDGET_MS }));
    onTestFinished(() => writeFileSync(file, "deny: [touch]\nask: [mkdir]\n"));

    writeFileSync(file, "deny: {");
    await eventually(async () => expect(await run()).toBe("policy_denied"));
    const meanwhile = await started();
    const [typed, cli] = [
      await hub.agent.pty.exec_block({ conversation_id: "p3", command: "echo ok" }).catch(String),
      await runCliHere(["run", "--workspace", "strict", "--conversation", "p4", "--data-dir", hub.dataDir, "true"]),
    ];
    writeFileSync(file, "deny: []\n");
    await eventually(async () => expect(await run()).toBe("ok"));

    const broken = /The host refuses: its policy file is broken, .*: \/.*\/host-policy\.yaml:1:\d+: /;
    expect([meanwhile, await started()]).toEqual([expect.stringMatching(broken), "active"]);
    expect([typed, cli.stderr]).toEqual([1, 2].map(() => expect.stringMatching(broken)));
    expect(cli).toMatchObject({ code: 125, stderr: expect.stringContaining("See: sidestick sessions get ") });
    expect(readFileSync(join(dirname(file), "host.log"), "utf8")).toMatch(
      /the host's policy can't be used.*host-policy\.yaml/,
    );
  });
});

test("[RML-34] with a file that can't be used the host doesn't start", async () => {
  const dataDir = await temporaryDirectory();
  writeFileSync(join(dataDir, "host-policy.yaml"), "denny: [rm]\n", { mode: 0o600 });

  const { code, stderr } = await runCli(["host", "join", "http://127.0.0.1:1", "--code", "x", "--data-dir", dataDir]);

  expect([code, stderr]).toEqual([1, expect.stringContaining("host-policy.yaml")]);
});

test("[RML-43] where hosts can't run, join says so", async () => {
  const { platform } = process;
  Object.defineProperty(process, "platform", { value: "darwin" });
  onTestFinished(() => void Object.defineProperty(process, "platform", { value: platform }));

  expect(await runHostJoin(["https://hub.example.com", "--code", "x"])).toBe(1);
});
