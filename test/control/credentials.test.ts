/** From inside an agent's shell: what it can read and whom it can call gives it no power of a person's. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { ControlHub } from "../support/control-hub.ts";
import { compileCache } from "../support/compile-cache.ts";
import { addressOf, leaveOpen } from "../support/hub.ts";
import { CLI, runCli } from "../support/run-cli.ts";
import { letAgentsBe } from "../support/policy.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest } from "../support/terminal-hub.ts";

let house: ControlHub;
beforeAll(async () => {
  house = await ControlHub.open();
  return house.stop;
});

async function inside(command: string): Promise<string> {
  const conversation_id = house.conversation();
  const { output = "" } = await house.agent.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });
  return output;
}

/** A program of the agent's. */
function script(name: string, text: string): string {
  const path = join(house.hub.dataDir, name);
  writeFileSync(path, text);
  return path;
}

const SEARCH = fileURLToPath(new URL("../fixtures/programs/search_credentials.py", import.meta.url));
const HUB = fileURLToPath(new URL("../composition/terminal-hub.ts", import.meta.url));

/** The hub as a process of its own, with nothing in its environment that isn't the product's. */
async function startApart() {
  const dataDir = await temporaryDirectory();
  await letAgentsBe(dataDir);
  endHostAfterTest(dataDir);
  const { PATH = "/usr/bin:/bin" } = process.env;
  const child = spawn(process.execPath, [HUB, "--port", "0", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...compileCache(), PATH, HOME: dataDir, XDG_CONFIG_HOME: dataDir },
  });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
  });
  const url = await addressOf(child);
  await leaveOpen(dataDir);
  const people = { agent: await clientOf(url, dataDir, "agent"), person: await clientOf(url, dataDir, "operator") };
  const hostPid = readFileSync(join(dataDir, "host", "lock"), "utf8").trim();
  return { url, dataDir, pids: `${child.pid} ${hostPid}`, ...people };
}

test("[CTL-39] no file, environment or command line of ours that an agent's shell can read holds a credential that works", async () => {
  const { url, dataDir, pids, agent, person } = await startApart();
  const { sessionId } = await person.session.create({ kind: "terminal", interactive: true });
  const command = `python3 ${SEARCH} ${url} ${dataDir} ${sessionId} ${pids}`;

  const { output = "" } = await agent.pty.exec_block({ conversation_id: "search", command, wait_ms: WAIT_BUDGET_MS });

  // It looked: at files, at processes, and tried what it could think of.
  const [, files, processes, tried, powers] = /files (\d+) processes (\d+) tried (\d+) powers (\S+)/.exec(output) ?? [];
  expect(Number(files)).toBeGreaterThan(5);
  expect(Number(processes)).toBeGreaterThan(3);
  expect(Number(tried)).toBeGreaterThan(0);
  expect(powers).toBe("none");
  expect((await person.control.get({ sessionId })).control_mode).toBe("USER");
});

const ASK = `const [path, body] = process.argv.slice(2);
  const asked = require("http").request(
    { socketPath: process.env.SOCKET, path, method: "POST", headers: { "content-type": "application/json" } },
    (answer) => { answer.resume(); console.log("status", answer.statusCode); });
  asked.on("error", (error) => console.log("error", error.code));
  asked.end(body);`;

const WAYS = [
  { how: "a command", before: "", after: "" },
  { how: "another session", before: "setsid -w ", after: "" },
  { how: "an orphan", before: "setsid -f ", after: " | cat" },
  { how: "a job without hang-up", before: "nohup ", after: " | cat & wait" },
  { how: "an empty environment", before: 'env -i SOCKET="$SOCKET" ', after: "" },
];

test.each(WAYS)(
  "[CTL-39, SEC-15] the operator's socket makes no token for $how of curl or node (needs curl)",
  async (way) => {
    const socket = join(house.hub.dataDir, "hub.sock");
    const token = '{"role":"operator","name":"thief"}';
    const curl = `/usr/bin/curl -s -o /dev/null -w 'status %{http_code}\\n' --unix-socket ${socket} -H 'content-type: application/json' -d '${token}' http://hub/tokens`;
    const node = `${process.execPath} ${script("ask.cjs", ASK)} /tokens '${token}'`;

    const output = await inside(
      [curl, node].map((it) => `export SOCKET=${socket}; ${way.before}${it}${way.after}`).join("\n"),
    );

    expect(output.match(/status \d+/g)).toEqual(["status 403", "status 403"]);
    const names = (await house.person.token.list({})).map((it) => it.name);
    expect(names).not.toContain("thief");
  },
);

test("[CTL-39] nor does our own command line, which says why; outside it works", async () => {
  const args = ["token", "create", "--role", "operator", "--name", "thief", "--data-dir", house.hub.dataDir];

  const output = await inside(`${process.execPath} ${CLI} ${args.join(" ")} 2>&1`);
  const outside = await runCli(args.map((it) => (it === "thief" ? "owner" : it)));

  expect(output).toMatch(/inside a session/);
  expect(output).not.toMatch(/sidestick_operator_/);
  expect(outside).toMatchObject({ code: 0, stdout: expect.stringMatching(/^sidestick_operator_/) });
});

test("[CTL-9, CTL-39] with its own credential an agent is refused by its role at every door that is a person's (needs curl)", async () => {
  const { sessionId } = await house.flagged();
  const { token } = await house.person.token.create({ role: "agent", name: "agent" });
  const doors = ["grant", "take", "decline"].map((it) => `/sessions/${sessionId}/control/${it}`);
  const asks = [...doors, `/sessions/${sessionId}/user_intent`, "/tokens", "/login/links", "/reset"].map(
    (path) =>
      `/usr/bin/curl -s -o /dev/null -w '%{http_code}\\n' -H "authorization: Bearer $T" -H 'content-type: application/json' -d '{"lease_seconds":30,"attend":true,"intent":"WAIT","role":"operator","name":"x"}' ${house.hub.url}${path}`,
  );

  const output = await inside(`T=${token}\n${asks.join("\n")}`);

  expect(
    output
      .trim()
      .split("\n")
      .filter((it) => it !== "403" && it !== "404"),
  ).toEqual([]);
  expect(output.match(/403/g)?.length).toBeGreaterThanOrEqual(5);
  expect((await house.control(sessionId)).control_mode).toBe("USER");
});
