/** The command line as a way to answer programs. */
import { beforeAll, expect, test } from "vitest";
import type { AskedPrompt } from "../../src/protocol/prompts.ts";
import { startOnTerminal } from "../support/cli-on-terminal.ts";
import { eventually } from "../support/eventually.ts";
import { runCli, runCliHere } from "../support/run-cli.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { asking, prints, started } from "./asking-hub.ts";

let hub: TerminalHub;

beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

const cli = (...args: string[]) => runCliHere([...args, "--data-dir", hub.dataDir]);

test("[PMT-120] prompts waits for a question and lists it", async () => {
  const none = await cli("prompts");
  const waiting = runCli(["prompts", "--wait", "--json", "--data-dir", hub.dataDir]);
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");

  const [found] = JSON.parse((await waiting).stdout) as AskedPrompt[];
  const listed = await cli("prompts");
  await cli("answer", it.sessionId.slice(0, 8), "n");

  expect(none).toMatchObject({ code: 0, stdout: "", stderr: "No program asks anything.\n" });
  expect(found?.prompt_id).toBe(it.prompt.prompt_id);
  expect(listed.stdout).toMatch(/pending .* bash .* yes or no .* Continue\? \[Y\/n\]/);
  expect((await cli("prompts", "--status", "answered")).stdout).toContain("answered by");
});

test("[PMT-121] answer takes the only question, tells who asks, and what came of it", async () => {
  const it = await asking(hub, "read -p 'doas (alice) says: go on? [y/N] ' x; echo GOT $x.");

  const answered = await cli("answer", it.sessionId, "yes");

  expect(answered.code).toBe(0);
  expect(answered.stderr).toContain(`bash asks in ${it.conversation_id}:`);
  expect(answered.stderr).toContain("WARNING: The question looks like one of doas, but bash would read the answer.");
  expect(answered.stderr).toMatch(/Sent: y \+ Enter\nCLI advanced\n$/);
  await prints(hub.agent, it, "GOT y.");
  expect(await cli("answer")).toMatchObject({
    code: 1,
    stderr:
      "sidestick: No program asks anything. See what is asked: sidestick prompts, or wait for it: sidestick answer --wait\n",
  });
});

test("[PMT-121] answer without a value asks at the terminal", async () => {
  const it = await asking(hub, "select x in red green; do echo GOT $x.; break; done");
  const person = startOnTerminal(["answer", "--data-dir", hub.dataDir]);
  await eventually(() => expect(person.screen()).toContain("Answer: "));

  person.type("green\r");

  expect(await person.exited).toMatchObject({ exitCode: 0 });
  expect(person.screen()).toContain("Sent: option 2 + Enter");
  await prints(hub.agent, it, "GOT green.");
});

test("[PMT-122] a secret is typed at the terminal, unseen, and refused as an argument", async () => {
  const it = await asking(hub, `python3 -c "import getpass; print('GOT', getpass.getpass() == 'hunter2 ')"`);
  const argued = await cli("answer", it.sessionId, "hunter2");
  const person = startOnTerminal(["answer", "--wait", "--data-dir", hub.dataDir]);
  await eventually(() => expect(person.screen()).toContain("Secret (not shown): "));

  person.type("hunter2 \r");

  expect(await person.exited).toMatchObject({ exitCode: 0 });
  expect(argued).toMatchObject({ code: 2, stdout: "" });
  expect(argued.stderr).toContain("not given on the command line");
  expect(person.screen()).toContain("Sent: [REDACTED] + Enter");
  expect(person.screen()).not.toContain("hunter2");
  await prints(hub.agent, it, "GOT True");
});

test("[PMT-121] what is no answer says so, types nothing, and tells how it could be answered", async () => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");

  const unclear = await cli("answer", it.conversation_id, "perhaps");
  const unasked = await cli("answer", it.conversation_id);
  const elsewhere = await cli("answer", "nowhere", "yes");
  const listed = await cli("prompts");
  const [shown = ""] = /^\S+\.\d+(?= )/m.exec(listed.stdout) ?? [];
  const answered = await cli("answer", shown, "no");

  expect([unclear.code, unasked.code, elsewhere.code, answered.code]).toEqual([1, 1, 1, 0]);
  expect(unclear.stderr).toContain(
    "Please reply with yes or no. Nothing was typed, and it is still asked: sidestick answer\n",
  );
  expect(unasked.stderr).toContain("there is no terminal here to ask at. Give it: sidestick answer ID VALUE\n");
  expect(elsewhere.stderr).toContain(
    'No terminal "nowhere" asks anything, and no open question has an id that begins so.',
  );
  await prints(hub.agent, it, "GOT n.");
});

test("[PMT-121] answer --wait with a name waits for that one", async () => {
  const other = await asking(hub, "read -p 'Other? [Y/n] ' x");
  const waiting = cli("answer", "--wait", "later", "yes");
  const later = { conversation_id: "later", command: "read -p 'Go on? [y/N] ' x; echo GOT $x." };
  await hub.agent.pty.exec_interactive(later);

  expect(await waiting).toMatchObject({ code: 0, stderr: expect.stringContaining("asks in later:") as string });
  await prints(hub.agent, later, "GOT y.");
  await cli("answer", other.sessionId, "no");
});

test("[PMT-121] of several questions one has to be named", async () => {
  const programs = [await started(hub.agent, "read -p 'One: ' x"), await started(hub.agent, "read -p 'Two: ' x")];
  await eventually(async () =>
    expect(await hub.person.prompt.list({ status: "pending" })).toHaveLength(programs.length),
  );

  expect(await cli("answer")).toMatchObject({ code: 2, stderr: expect.stringContaining("2 programs ask") as string });
});
