/** How long commands live: by their host's own timer, whoever is there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { patience } from "../../tools/suite/patience.ts";
import { dial, newSession, openHost, SIZE, Taken, TERMINAL_HOST } from "../host/host-process.ts";
import { eventually } from "../support/eventually.ts";
import { spawnTestHub, tokenOf } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { endHostAfterTest, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

/** Time enough to be born in. */
const LIFE_SECONDS = Math.ceil(2 * patience());
const BOT = { kind: "agent", id: "bot" } as const;
const DEFAULT = { project_id: "default" };

let hub: TerminalHub;
let host: Awaited<ReturnType<typeof openHost>>;
let projects = 0;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});
beforeAll(async () => {
  host = await openHost({ program: TERMINAL_HOST });
  return host.stop;
});

/** One of its own: a project has one interactive command at a time. */
async function project(): Promise<{ readonly project_id: string }> {
  projects += 1;
  const workspaceId = `life-${projects}`;
  await hub.person.workspace.put({ workspaceId, ...hub.where, settings: { containment: "open" } });
  return { project_id: workspaceId };
}

/** A command whose processes write their numbers into a file. */
const family = (file: string): string =>
  `echo $$ >${file}; (echo $BASHPID >>${file}; exec sleep 600) & setsid bash -c 'echo $$ >>${file}; exec sleep 600' & while [ $(wc -l <${file}) -lt 3 ]; do :; done; echo ready; wait`;

function born(file: string): readonly number[] {
  return readFileSync(file, "utf8").trim().split("\n").map(Number);
}

function living(file: string): readonly number[] {
  return born(file).filter((pid) => {
    try {
      return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
    } catch {
      return false;
    }
  });
}

test("[RMC-6, RMC-11] one whose hub is dead is killed in time with all that it started; the next hub tells how it ended", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const args = ["--port", "0", "--interactive-cmd-timeout-seconds", String(LIFE_SECONDS)];
  const first = await spawnTestHub(dataDir, args, "terminal-hub");
  const token = await tokenOf(dataDir, "agent", "agent");
  const file = join(await temporaryDirectory(), "family");
  const agent = new SidestickClient({ url: first.url, token });
  // More than the hub allows is as much as it allows.
  const start = { ...DEFAULT, command: family(file), until: "ready", lifetime_seconds: 3600 };
  const { session_id, output } = await agent.command.start(start);

  await first.kill("SIGKILL");
  const before = born(file);
  await eventually(() => expect(living(file)).toEqual([]));
  const second = await spawnTestHub(dataDir, args, "terminal-hub");
  const again = new SidestickClient({ url: second.url, token });
  const end = await again.command.wait({ ...DEFAULT, session_id });

  expect([output, before.length]).toEqual(["ready\n", 3]);
  expect(end).toMatchObject({ output: expect.stringMatching(/^ready\n/), final: true, reason: "timeout" });
});

test("[RMC-10] stopped by a person, it is killed with all that it started; its caller hears that it was stopped", async () => {
  const { agent, person } = hub;
  const at = await project();
  const file = join(await temporaryDirectory(), "family");
  const { session_id } = await agent.command.start({ ...at, command: family(file), until: "ready" });
  const waiting = agent.command.wait({ ...at, session_id }).catch((error: unknown) => error);

  await person.control.user_intent({ sessionId: session_id, intent: "STOP_NOW" });

  expect(await waiting).toMatchObject({ code: "stopped" });
  await eventually(() => expect(living(file)).toEqual([]));
  const end = await eventually(async () => {
    const answer = await agent.command.wait({ ...at, session_id, wait_ms: 0 });
    expect(answer.final).toBe(true);
    return answer;
  });
  expect(end).toMatchObject({ reason: "stopped", signal: "SIGKILL" });
  const [receipt] = await person.event.list({ sessionId: session_id, types: ["receipt"] });
  expect(receipt?.payload).toMatchObject({ killed_count: 3, respawned: false, survivors: [], kill_scope: "agent" });
});

test("[RMC-10] a person's own command runs on when the agent is stopped there", async () => {
  const { person } = hub;
  const at = await project();
  const { session_id } = await person.command.start({ ...at, command: "read x; echo $x" });

  await person.control.user_intent({ sessionId: session_id, intent: "STOP_NOW" });
  const end = await person.command.send({ ...at, session_id, input_text: "mine\n" });

  expect(end).toMatchObject({ output: "mine\nmine\n", final: true, exit_code: 0 });
  const [receipt] = await person.event.list({ sessionId: session_id, types: ["receipt"] });
  expect(receipt?.payload).toMatchObject({ killed_count: 0, respawned: false });
});

test("[RMC-10] a person takes it and answers, or types to it: it goes on as theirs", async () => {
  const { agent, person } = hub;
  const in_project = await project();
  const command = "read -p 'One? ' x; read -p 'Two? ' y; echo $x $y; exit 5";
  const { session_id } = await agent.command.start({ ...in_project, command });
  const at = { ...in_project, session_id };
  await person.control.take({ sessionId: session_id });

  const refusal = await agent.command.send({ ...at, input_text: "no\n" }).catch((error: unknown) => error);
  await person.command.send({ ...at, input_text: "1\n" });
  const end = await person.command.send({ ...at, input_text: "2\n" });

  expect(refusal).toMatchObject({ code: "control_refused" });
  expect(end).toMatchObject({ final: true, exit_code: 5, output: expect.stringContaining("1 2\n") });
  expect(await agent.command.wait(at)).toMatchObject({ final: true, exit_code: 5 });
});

async function onHost(command: "interactive" | "plain") {
  const { driver, link } = await dial(host.dataDir);
  const session = newSession();
  const taken = new Taken();
  const types: string[] = [];
  let largest = 0;
  link.listen({
    frame: ({ type, session_id }, body) => {
      if (session_id !== session.sessionId) return;
      types.push(type);
      largest = Math.max(largest, body.length);
    },
    online: () => undefined,
    offline: () => undefined,
  });
  await driver.start(session, { ...SIZE, command }, taken.intake);
  const { sessionId } = session;
  const run = (text: string, lifetimeMs = 60_000) =>
    driver.run(sessionId, { blockId: crypto.randomUUID(), command: text, by: BOT, lifetimeMs });
  const ended = (): Promise<SessionFrame> =>
    eventually(() => {
      const last = taken.frames.at(-1)!;
      expect(last.kind).toBe("exit");
      return last;
    });
  return { driver, sessionId, taken, run, ended, types, largest: () => largest };
}

test("[RMC-15] over the link: a plain command's output in frames of at most 64 KB, its end as COMMAND_RESULT (needs perl)", async () => {
  const { run, ended, taken, types, largest } = await onHost("plain");

  await run("head -c 3000000 /dev/zero | tr '\\0' x; echo y >&2; exit 6");
  const end = await ended();

  expect(end).toMatchObject({ reason: "exited", exitCode: 6 });
  expect([taken.text.length, largest()]).toEqual([3_000_002, 65_536]);
  expect(types.at(-1)).toBe("COMMAND_RESULT");
});

test("[RMC-15] one on a terminal ends with INTERACTIVE_CMD_DONE, by its time if need be", async () => {
  const { run, ended, types } = await onHost("interactive");

  await run("sleep 600", 200);

  expect(await ended()).toMatchObject({ reason: "timeout", signal: "SIGHUP" });
  expect(types.at(-1)).toBe("INTERACTIVE_CMD_DONE");
});

test("[RMC-2, RMC-15] a session for one command takes neither a second one nor a block, a plain one no input (needs perl)", async () => {
  const { driver, sessionId, run } = await onHost("plain");
  const block = { blockId: crypto.randomUUID(), command: "true", by: BOT };

  const early = driver.run(sessionId, block);
  await run("sleep 60");

  await expect(early).rejects.toMatchObject({ code: "invalid_transition" });
  await expect(run("true")).rejects.toMatchObject({ code: "busy" });
  const input = { bytes: Buffer.from("x"), by: BOT, class: "drive" } as const;
  await expect(driver.input(sessionId, input)).rejects.toMatchObject({ code: "invalid_transition" });
  await expect(driver.respawn(sessionId, BOT)).rejects.toMatchObject({ code: "invalid_transition" });
  await driver.stop(sessionId);
});
