/** What an agent types for a program never reaches the shell behind it unasked. */
import { execFileSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { blockedCallOfMain } from "../../src/host/terminal/probe/blocked.ts";
import { readProcFile } from "../../src/host/terminal/probe/proc-file.ts";
import { allProcesses } from "../../src/host/terminal/probe/processes.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { asking, prints } from "../prompts/asking-hub.ts";
import { codeOf } from "../support/control-hub.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { eventually } from "../support/eventually.ts";
import { JudgedHub } from "./judged-hub.ts";

let hub: JudgedHub;
beforeAll(async () => {
  hub = await JudgedHub.open();
  return hub.stop;
});

/** A program of the agent's, waiting for a line. */
async function running(command: string): Promise<string> {
  const conversation_id = hub.conversation();
  await hub.agent.pty.exec_interactive({ conversation_id, command });
  return conversation_id;
}

/** The hub too: it runs in this thread. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** Until a program with this command line is in a read of its standard input. */
function standStillUntilRead(commandLine: string): void {
  for (const end = performance.now() + DEADLINE_MS; !readsInput(commandLine); standStill(10))
    if (performance.now() > end) throw new Error("it never reads");
}

function readsInput(commandLine: string): boolean {
  return allProcesses().some((pid) => {
    if (readProcFile(`/proc/${pid}/cmdline`) !== commandLine) return false;
    const { call, fds } = blockedCallOfMain(pid) ?? {};
    return call === "read" && fds?.[0] === 0;
  });
}

const ended = (conversation_id: string) =>
  hub.agent.pty.wait_for({ conversation_id, match: "PROMPT", timeout_ms: WAIT_BUDGET_MS });

test.each([
  { what: "a line for a program that reads nothing", program: "sleep 600", before: "", after: "\n" },
  { what: "a second line for a program that reads one", program: "head -n 1", before: "x\n", after: "\n" },
  { what: "half a line", program: "sleep 600", before: "", after: " #" },
  { what: "a line behind an end of input", program: "cat", before: "\u0004", after: "\n" },
])("[POL-8] $what is asked about", async ({ program, before, after }) => {
  const kept = await hub.write("kept", "");
  const conversation_id = await running(program);

  const typed = hub.agent.pty.send({ conversation_id, data: `${before}rm ${kept}${after}` });

  await expect(typed).rejects.toMatchObject({ code: "approval_pending", details: { rule: "typed" } });
  expect(existsSync(kept)).toBe(true);
});

test("[POL-8] lines that follow each other at once go each to the question that stands then", async () => {
  const conversation_id = await running("cat");
  await hub.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });

  await hub.agent.pty.send({ conversation_id, data: "one\n" });
  await hub.agent.pty.send({ conversation_id, data: "two\n" });
  await hub.agent.pty.ctrl_d({ conversation_id });
  await ended(conversation_id);

  const { data } = await hub.agent.pty.read_output({ conversation_id });
  expect(data).toContain("one\none\ntwo\ntwo\n");
});

test("[POL-8] time in which the hub stood still is none of a program's time to come to its question", async () => {
  const gate = hub.path("question");
  execFileSync("/usr/bin/mkfifo", [gate]);
  const conversation_id = await running(`cat ${gate} -`);

  const typed = codeOf(hub.agent.pty.send({ conversation_id, data: "x\n" }));
  // Answered in turn: the program is being looked at.
  await hub.agent.pty.status({ conversation_id });
  // Longer than it is given, and past the moments at which a silent program is looked at by itself.
  standStill(2_200);
  for (let looks = 0; looks < 2; looks += 1) await hub.agent.pty.status({ conversation_id });
  writeFileSync(gate, "");
  // On a busy machine it may take the program longer to come to its question than it is given.
  standStillUntilRead(`cat\0${gate}\0-\0`);

  expect(await typed).toBe("ok");
  await hub.agent.pty.ctrl_d({ conversation_id });
  await ended(conversation_id);
});

test("[POL-8] a shell that is about to become a program is given the time for it", async () => {
  const conversation_id = await running("bash -c 'sleep 0.1; exec cat'");

  expect(await codeOf(hub.agent.pty.send({ conversation_id, data: "x\n" }))).toBe("ok");

  await hub.agent.pty.ctrl_d({ conversation_id });
  await ended(conversation_id);
});

test("[POL-8] of lines that are sent together none reaches the shell that the first one leads to", async () => {
  const kept = await hub.write("raced", "");
  const conversation_id = await running("head -n 1");
  await hub.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });

  const lines = ["x\n", ...Array.from({ length: 5 }, () => `rm ${kept}\n`)];
  const sent = await Promise.all(lines.map((data) => codeOf(hub.agent.pty.send({ conversation_id, data }))));
  await ended(conversation_id);
  await codeOf(hub.agent.pty.exec_block({ conversation_id, command: "true", wait_ms: WAIT_BUDGET_MS }));

  expect(sent.filter((code) => code === "ok")).toHaveLength(1);
  expect(existsSync(kept)).toBe(true);
});

test("[POL-8] what is typed for a program whose child is a shell or an editor is typed for that", async () => {
  const home = hub.place;
  const conversation_id = await running(`HOME=${home} GIT_EDITOR='bash -c "cat; true"' git config --global --edit`);
  await hub.agent.pty.wait_for({ conversation_id, match: "INPUT", timeout_ms: WAIT_BUDGET_MS });

  const typed = hub.agent.pty.send({ conversation_id, data: "x\n" });

  await expect(typed).rejects.toMatchObject({ code: "approval_pending", details: { rule: "typed" } });
});

test("[PTY-21] a command isn't typed behind what a program left unread", async () => {
  const kept = await hub.write("behind", "");
  const gate = join(hub.place, "gate");
  execFileSync("/usr/bin/mkfifo", [gate]);
  const conversation_id = await running(`cat ${gate}`);
  // It opens when the program has: what is asked about is typed for it, not for the shell that starts it.
  const held = await open(gate, "w");
  const refusal = await hub.agent.pty.send({ conversation_id, data: `rm ${kept} #` }).catch((error: unknown) => error);
  const decided = await hub.approve((refusal as { details: { requestId: string } }).details);
  await held.close();
  await ended(conversation_id);
  expect(decided.result).toMatchObject({ outcome: "run" });

  const refused = hub.agent.pty.exec_block({ conversation_id, command: "echo hi", wait_ms: WAIT_BUDGET_MS });

  await expect(refused).rejects.toMatchObject({ code: "busy" });
  await hub.agent.pty.ctrl_c({ conversation_id });
  await ended(conversation_id);
  const { output } = await hub.agent.pty.exec_block({ conversation_id, command: "echo hi", wait_ms: WAIT_BUDGET_MS });
  expect(output).toBe("hi\n");
  expect(existsSync(kept)).toBe(true);
});

test.each([
  { by: "send", program: `python3 -c "import getpass; getpass.getpass()"` },
  { by: "reply", program: `python3 -c "import getpass; getpass.getpass()"` },
  { by: "send", program: `python3 -c "import os, tty; tty.setraw(0); os.write(1, b'Password: '); os.read(0, 99)"` },
])("[PMT-111, APR-10] nothing of a secret is shown to whoever is asked about it: $by to $program", async (it) => {
  await hub.person.workspace.put({ workspaceId: "default", settings: { agent_may_answer_passwords: true } });
  const conversation_id = await running(it.program);
  const { workspace_session_id: sessionId } = await hub.agent.pty.wait_for({ conversation_id, match: "INPUT" });
  const asked = await eventually(async () => {
    const found = (await hub.agent.prompt.list()).find(({ session_id }) => session_id === sessionId);
    expect(found).toBeDefined();
    return found!;
  });

  const { prompt_id, nonce } = asked;
  const typed =
    it.by === "send"
      ? hub.agent.pty.send({ conversation_id, data: "canary7\r" })
      : hub.agent.prompt.reply({ prompt_id, nonce, value: "canary7" });
  await expect(typed).rejects.toMatchObject({ code: "approval_pending" });

  const approvals = (await hub.person.approval.list()).filter((approval) => approval.sessionId === sessionId);
  expect(approvals).toMatchObject([{ payload: { command: "(8 bytes, hidden)", parts: [], touches: [] } }]);
  expect(JSON.stringify(await hub.person.event.list({ sessionId, limit: 500 }))).not.toContain("canary7");
});

test("[PMT-147] an agent's answer of which policy would have a part asked about is refused whole: nothing is half typed", async () => {
  const it = await asking(hub, "read -e -p 'Name: ' x; echo GOT $x.");
  const { prompt_id, nonce } = it.prompt;
  const { sessionId } = it;

  const refused = await codeOf(hub.agent.prompt.reply({ prompt_id, nonce, value: "Bob" }));

  expect(refused).toBe("policy_denied");
  expect(await hub.person.approval.list({ sessionId })).toEqual([]);
  expect(await hub.person.event.list({ sessionId, types: ["input", "prompt_decision"] })).toEqual([]);
  await hub.person.prompt.reply({ prompt_id, nonce, value: "Ann" });
  await prints(hub.person, it, "GOT Ann.");
});
