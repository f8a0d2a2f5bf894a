/** `sidestick chat` on a terminal of its own, with a real hub and real programs. */
import { stripVTControlCharacters } from "node:util";
import { beforeAll, expect, test } from "vitest";
import { prints, started } from "../prompts/asking-hub.ts";
import { type CliOnTerminal, modesOf, startOnTerminal } from "../support/cli-on-terminal.ts";
import { eventually } from "../support/eventually.ts";
import { runCli } from "../support/run-cli.ts";
import { type EndToEnd, hearing, openEndToEnd } from "./e2e-stage.ts";

const CTRL_C = "\u0003";
const PLAN = String.raw`printf 'Here is my plan:\n\n1. Add a test\n2. Fix the parser\n3. Run the tests\n'`;

let stage: EndToEnd;

beforeAll(async () => {
  const { stop, ...opened } = await openEndToEnd();
  stage = opened;
  return stop;
});

const chat = (...args: readonly string[]) => startOnTerminal(["chat", ...args, "--data-dir", stage.dataDir]);
const shows = (chat: CliOnTerminal, text: string) =>
  eventually(() => expect(stripVTControlCharacters(chat.screen())).toContain(text));
const inputs = async (sessionId: string) =>
  (await stage.person.event.list({ sessionId, types: ["input"] })).map(({ source }) => source.id);
const threads = async (type: string) => {
  const events = await stage.person.event.list({ types: ["conversation"], limit: 5000 });
  return events.flatMap(({ payload }) =>
    payload["type"] === type && payload["channel"] === "cli" ? [payload["threadId"]] : [],
  );
};

test("[CHN-34, CHN-35, CHN-37] questions are answered in words and by number, output comes, Ctrl+C leaves it running", async () => {
  const it = await started(
    stage.agent,
    "read -p 'Go on? [y/N] ' x; select y in red green; do break; done; read -p 'Press Enter to continue... '; echo GOT $x $y.; cat",
  );
  const person = chat(it.conversation_id);
  await shows(person, "[1] Yes   [2] No");
  person.type("maybe\r");
  await shows(person, "yes or no");
  person.type("1\r");
  await shows(person, "1. red   2. green");
  person.type("2\r");
  // The question, not what the program printed of it: that may come earlier.
  await shows(person, "[1] Enter");
  person.type("\r");
  await prints(stage.agent, it, "GOT y green.");
  // As a message of its own, or with what was printed before, if the machine is slow.
  await eventually(() => expect(stripVTControlCharacters(person.screen())).toMatch(/[>|] GOT y green\./));
  await shows(person, "CLI advanced");
  person.type("/status\r");
  await shows(person, "The agent agent has control.");
  const [bound] = await threads("conversation.bound");
  person.type(CTRL_C);

  expect(await person.exited).toMatchObject({ exitCode: 0 });
  const screen = stripVTControlCharacters(person.screen());
  expect(screen).toContain("= Go on? [y/N] Answered by ");
  expect(screen.match(/Sent: .* \+ Enter|Sent: Enter/g)).toEqual([
    "Sent: y + Enter",
    "Sent: option 2 + Enter",
    "Sent: Enter",
  ]);
  expect(await threads("conversation.unbound")).toContain(bound);
  expect(await stage.person.session.get({ sessionId: it.sessionId })).toMatchObject({ status: "active" });
  expect(await inputs(it.sessionId)).toHaveLength(3);
  const [before, after] = modesOf(person.screen());
  expect(after).toBe(before);
});

test("[CHN-36] a secret is asked for unseen and goes into the question; answered elsewhere it is asked no more", async () => {
  const asks = (word: string) => `python3 -c "import getpass; print('${word}', len(getpass.getpass('Key: ')))"`;
  const it = await started(stage.agent, `${asks("LENGTH")}; ${asks("AGAIN")}; cat`);
  const person = chat(it.sessionId.slice(0, 8));
  await shows(person, "Secret (not shown): ");
  person.type("canary-4711\r");
  await prints(stage.agent, it, "LENGTH 11");
  await shows(person, "Sent: [REDACTED] + Enter");
  await eventually(() => expect(person.screen().match(/Secret \(not shown\)/g)).toHaveLength(2));
  person.type("half-of-");
  const [asked] = await stage.person.prompt.list({ status: "pending", session_id: it.sessionId });
  await stage.person.prompt.reply({ prompt_id: asked!.prompt_id, nonce: asked!.nonce, value: "by another" });
  await eventually(() => expect(person.screen().match(/= Key: Answered by/g)).toHaveLength(2));
  person.type("the-key\r");
  await shows(person, "Not sent: it may be part of the secret");
  person.type("hello\r");
  // It depends on whether the next program asks already, of which question it is told that it isn't for it.
  await eventually(() => expect(person.screen()).toMatch(/answered first\.|written before this question was asked/));
  person.type(CTRL_C);
  await person.exited;

  expect(person.screen()).not.toMatch(/canary|half-of|the-key/);
  const said = await stage.person.event.list({ limit: 5000 });
  expect(JSON.stringify(said)).not.toMatch(/canary|half-of|the-key|hello/);
});

test("[CHN-35, CHN-37] plans and approvals are decided by number; the end of the session ends the chat", async () => {
  const it = await hearing(stage, `read -e go; ${PLAN}; read -e x; exit 0`);
  const person = chat(it.conversation_id);
  await shows(person, "Ctrl+C leaves it running.");
  await stage.agent.pty.enter({ conversation_id: it.conversation_id });
  await shows(person, "[1] Execute   [2] Modify   [3] Cancel");
  person.type("1\r");
  await shows(person, "Plan accepted. Agent continuing.");
  await shows(person, "= Here is my plan Accepted by ");
  await stage.agent.approval.request({ sessionId: it.sessionId, kind: "tool", payload: { command: "ls" } });
  await shows(person, "[1] Approve   [2] Deny");
  person.type("2\r");
  await shows(person, "Rejected.");
  await stage.person.session.close({ sessionId: it.sessionId });

  expect(stripVTControlCharacters(person.screen()).match(/Plan accepted/g)).toHaveLength(1);
  expect(await person.exited).toMatchObject({ exitCode: 0 });
  expect(stripVTControlCharacters(person.screen())).toContain("* The session has ended");
});

test("[CHN-38] from a pipe each line is said, and its end leaves; messages as JSON; secrets are not taken", async () => {
  const it = await started(stage.agent, "read -p 'Name: ' x; echo GOT $x.; cat");
  const run = (name: string, stdin: string) => runCli(["chat", name, "--json", "--data-dir", stage.dataDir], { stdin });
  const said = await run(it.conversation_id, "staging\n");
  await prints(stage.agent, it, "GOT staging.");
  const none = await run("nowhere", "");

  expect([said.code, said.stderr]).toEqual([0, expect.stringContaining("Left; it runs on.")]);
  for (const line of said.stdout.split("\n").filter((it) => it !== "")) {
    expect(JSON.parse(line)).toMatchObject({ kind: "card", channel: "cli" });
  }
  expect(none.code).toBe(1);
});
