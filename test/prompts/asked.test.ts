/** Real programs ask, the desk tells what, and answers go in once. */
import { fileURLToPath } from "node:url";
import { beforeAll, expect, test } from "vitest";
import { type AskedPrompt, OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { patience } from "../../tools/suite/patience.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { asking, feedback, mortal, pendingIn, prints, started, waits } from "./asking-hub.ts";

const FIXTURES = fileURLToPath(new URL("../fixtures/programs", import.meta.url));

let hub: TerminalHub;

beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

test.each([
  {
    name: "yes or no",
    command: "read -p 'Continue? [Y/n] ' x; echo GOT $x.",
    found: { class: "YES_NO", confidence: "HIGH", default: "yes", buttons: "yes_no", program: "bash" },
    reply: { choice: "no" },
    got: "GOT n.",
    said: "Sent: n + Enter",
  },
  {
    name: "Enter",
    command: "read -p 'Press Enter to continue' x; echo GOT-$x.",
    found: { class: "CONFIRM_ENTER", buttons: "enter" },
    reply: { value: "ok" },
    got: "GOT-.",
    said: "Sent: Enter",
  },
  {
    name: "a choice",
    command: "select x in red green blue; do echo GOT $x.; break; done",
    found: { class: "NUMBERED_CHOICE", buttons: "choices" },
    reply: { value: "green" },
    got: "GOT green.",
    said: "Sent: option 2 + Enter",
  },
  {
    name: "text",
    command: "read -p 'Name of the branch: ' x; echo GOT $x.",
    found: { class: "FREE_TEXT", buttons: "text" },
    reply: { value: "deploy staging" },
    got: "GOT deploy staging.",
    said: 'Sent: "deploy staging" + Enter',
  },
  {
    name: "text in a line editor, Enter apart",
    command: "read -e -p 'Name of the host: ' x; echo GOT $x.",
    found: { class: "FREE_TEXT", entry: "keys" },
    reply: { value: "web7" },
    got: "GOT web7.",
    said: 'Sent: "web7" + Enter',
  },
])("[PMT-100, PMT-110, PMT-42] a program that asks for $name gets it", async ({ command, found, reply, got, said }) => {
  const it = await asking(hub, command);
  expect(it.prompt).toMatchObject({ ...found, status: "pending", session_id: it.sessionId });
  const before = await hub.person.control.get({ sessionId: it.sessionId });

  const { prompt_id, nonce } = it.prompt;
  const answered = await hub.person.prompt.reply({ prompt_id, nonce, ...reply, wait_ms: OUTCOME_WAIT_MAX_MS });

  expect(answered).toMatchObject({ status: "answered", answered_by: "operator", outcome: "advanced" });
  await prints(hub.agent, it, got);
  expect(await feedback(hub.person, it.sessionId)).toEqual([said, "CLI advanced"]);
  const after = await hub.person.control.get({ sessionId: it.sessionId });
  expect([after.holder, after.epoch]).toEqual([before.holder, before.epoch]);
});

const GETPASS = `python3 -c "import getpass; print('GOT', len(getpass.getpass()))"`;
const deaf = (keys: number): string => `python3 ${FIXTURES}/deaf.py ${keys}`;

test("[PMT-111, PMT-41] a password goes in by a person and is in no feedback", async () => {
  const it = await asking(hub, GETPASS);
  expect(it.prompt).toMatchObject({ class: "PASSWORD_INPUT", confidence: "HIGH", buttons: "secret_link" });

  const { prompt_id, nonce } = it.prompt;
  await hub.person.prompt.reply({ prompt_id, nonce, value: " yes 2 ", wait_ms: OUTCOME_WAIT_MAX_MS });

  await prints(hub.agent, it, "GOT 7");
  expect(await feedback(hub.person, it.sessionId)).toEqual(["Sent: [REDACTED] + Enter", "CLI advanced"]);
  const chat = await hub.agent.event.list({ sessionId: it.sessionId, types: ["chat"] });
  expect(chat.map(({ payload }) => payload["text"])).toContain("secret supplied");
});

test("[PMT-112] an agent may not answer a password, by no door, unless its workspace allows it", async () => {
  const it = await asking(hub, GETPASS);
  const { prompt_id, nonce } = it.prompt;
  const { conversation_id, sessionId } = it;

  const refused = [
    await codeOf(hub.agent.prompt.reply({ prompt_id, nonce, value: "guess" })),
    await codeOf(hub.agent.pty.send({ conversation_id, data: "guess\r" })),
    await codeOf(hub.agent.session.input({ sessionId, data: "guess\r" })),
    await codeOf(hub.agent.pty.enter({ conversation_id })),
  ];
  const still = await hub.person.prompt.get({ prompt_id });
  await allowPasswords(true);
  const allowed = await codeOf(hub.agent.prompt.reply({ prompt_id, nonce, value: "guess" }));
  await allowPasswords(false);

  expect(refused).toEqual(Array.from({ length: 4 }, () => "secret_for_person"));
  expect([still.status, allowed]).toEqual(["pending", "ok"]);
  await prints(hub.agent, it, "GOT 5");
});

test("[PMT-112] an agent may leave a password prompt", async () => {
  const it = await asking(hub, GETPASS);

  await hub.agent.pty.ctrl_c({ conversation_id: it.conversation_id });

  await eventually(async () =>
    expect((await hub.person.prompt.get({ prompt_id: it.prompt.prompt_id })).status).toBe("gone"),
  );
});

function allowPasswords(agent_may_answer_passwords: boolean) {
  return hub.person.workspace.put({ workspaceId: "default", settings: { agent_may_answer_passwords } });
}

test("[PMT-113] an agent with control may answer, one without may not", async () => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");
  const { prompt_id, nonce } = it.prompt;
  await hub.person.control.take({ sessionId: it.sessionId });

  const before = await codeOf(hub.agent.prompt.reply({ prompt_id, nonce, value: "no" }));
  await hub.person.control.grant({ sessionId: it.sessionId, agent_id: "agent", lease_seconds: 600 });
  const own = await hub.agent.prompt.reply({ prompt_id, nonce, value: "yes", wait_ms: OUTCOME_WAIT_MAX_MS });

  expect([before, own.answered_by]).toEqual(["control_refused", "agent"]);
  await prints(hub.agent, it, "GOT Y.");
});

test("[PMT-114] No duplicate injection: of many answers one goes in, the others are told who was first", async () => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; read -p 'Sure? [y/N] ' y; echo GOT $x $y.");
  const { prompt_id, nonce } = it.prompt;

  const replies = Array.from({ length: 8 }, () => codeOf(hub.person.prompt.reply({ prompt_id, nonce, value: "y" })));
  const codes = await Promise.all(replies);

  expect(codes.toSorted()).toEqual(["ok", ...Array.from({ length: 7 }, () => "prompt_gone")]);
  const next = await pendingIn(hub.person, it.sessionId, it.prompt);
  expect(next).toMatchObject({ question: "Sure? [y/N]" });
  const late = await hub.person.prompt.reply({ prompt_id, nonce, value: "y" }).catch((error: unknown) => error);
  expect(late).toMatchObject({ code: "prompt_gone", details: { answered_by: "operator", reason: "answered" } });
  const inputs = await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(inputs).toHaveLength(1);
});

test("[PMT-51, PMT-115] what isn't clearly an answer is asked back, and nothing is typed", async () => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");
  const { prompt_id, nonce } = it.prompt;

  const unclear = await hub.person.prompt.reply({ prompt_id, nonce, value: "maybe" }).catch((error: unknown) => error);

  expect(unclear).toMatchObject({ code: "invalid_request", message: "Please reply with yes or no." });
  expect((await hub.person.prompt.get({ prompt_id })).status).toBe("pending");
  expect(await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toEqual([]);
});

test("[PMT-101, PMT-71] a menu right below a question that was just answered is asked, whatever was answered", async () => {
  const it = await asking(hub, "read -p 'Name: ' x; select y in red green; do break; done; echo GOT $x $y.");
  const first = await hub.person.prompt.reply({ ...named(it.prompt), value: "bob", wait_ms: OUTCOME_WAIT_MAX_MS });
  const menu = await pendingIn(hub.person, it.sessionId, it.prompt);
  await hub.person.prompt.reply({ ...named(menu), value: "green" });

  await prints(hub.agent, it, "GOT bob green.");
  expect([first.outcome, menu.class]).toEqual(["advanced", "NUMBERED_CHOICE"]);
});

test("[PMT-101] a question that appears right after an answer is found", async () => {
  const program =
    "import getpass; a=getpass.getpass('One: '); b=getpass.getpass('Two: '); print('GOT', a == 'a1', b == 'b2')";
  const it = await asking(hub, `python3 -c "${program}"`);

  await hub.person.prompt.reply({ prompt_id: it.prompt.prompt_id, nonce: it.prompt.nonce, value: "a1" });
  const second = await pendingIn(hub.person, it.sessionId, it.prompt);
  await hub.person.prompt.reply({ prompt_id: second.prompt_id, nonce: second.nonce, value: "b2" });

  expect([it.prompt.question, second.question]).toEqual(["One:", "Two:"]);
  await prints(hub.agent, it, "GOT True True");
});

test("[PMT-103] a question is gone when somebody typed at the terminal", async () => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");

  await hub.agent.pty.send({ conversation_id: it.conversation_id, data: "n\r" });

  const events = await eventually(async () => {
    const decided = await hub.person.event.list({ sessionId: it.sessionId, types: ["prompt_decision"] });
    expect(decided).toHaveLength(1);
    return decided;
  });
  expect(events[0]?.payload).toEqual({ promptId: it.prompt.prompt_id, status: "gone" });
  expect(await codeOf(hub.person.prompt.reply({ ...named(it.prompt), value: "y" }))).toBe("prompt_gone");
});

test("[PMT-103] a question is gone when its program no longer waits", async () => {
  const program = await mortal("Continue? [Y/n] ");
  const it = await asking(hub, `${program.command}; sleep 60`);

  program.kill();

  await eventually(async () =>
    expect((await hub.person.prompt.get({ prompt_id: it.prompt.prompt_id })).status).toBe("gone"),
  );

  expect(await hub.person.prompt.list({ status: "pending", session_id: it.sessionId })).toEqual([]);
});

test("[PMT-104] an interpreter asks nothing, and a question that somebody types into is theirs", async () => {
  const repl = await started(hub.agent, "python3 -q");
  await waits(hub.agent, repl);
  const it = await asking(hub, "read -e -p 'Name of the host: ' x; echo GOT $x.");
  await hub.agent.pty.send({ conversation_id: it.conversation_id, data: "web" });
  await waits(hub.agent, it);
  await hub.agent.pty.wait_for({
    conversation_id: it.conversation_id,
    match: "IDLE",
    idle_ms: 1_000,
    timeout_ms: WAIT_BUDGET_MS,
  });

  const offered = await hub.person.event.list({ types: ["prompt_request"], limit: 5000 });

  expect(offered.filter(({ sessionId }) => sessionId === repl.sessionId)).toEqual([]);
  expect(offered.filter(({ sessionId }) => sessionId === it.sessionId)).toHaveLength(1);
});

test("[PMT-146] a program that prints on whatever it stopped in asks only when it is silent, and is answered then", async () => {
  const it = await started(hub.agent, `python3 ${FIXTURES}/relay.py`);
  await prints(hub.agent, it, "Your name: ");
  const last = await eventually(async () => {
    const [prompt] = await hub.person.prompt.list({ status: "pending", session_id: it.sessionId });
    expect(prompt?.question).toBe("Your name:");
    return prompt!;
  });
  const offered = await hub.person.event.list({ sessionId: it.sessionId, types: ["prompt_request"] });

  await hub.person.prompt.reply({ prompt_id: last.prompt_id, nonce: last.nonce, value: "Ann" });

  await prints(hub.agent, it, "GOT Ann.");
  // Two that it went on from, and this one; on a busy machine some more, of the 25 that it waits in.
  expect(offered.length).toBeLessThan(12);
});

test("[PMT-102] a question that claims to be another program's carries a warning", async () => {
  const forged = await asking(hub, "read -s -p '[sudo] password for alice: ' x");

  expect(forged.prompt.warning).toBe("The question looks like one of sudo, but bash would read the answer.");
});

test("[PMT-53, PMT-70, PMT-110] a menu is moved through, and Enter follows when the question still stands (needs whiptail)", async () => {
  const run = "exec 3>&1; x=$(whiptail --menu Task 15 50 4 web 'Web server' db Database mail Mail 2>&1 1>&3 </dev/tty)";
  const it = await asking(hub, `${run}; echo "GOT $x."`);
  expect(it.prompt).toMatchObject({ class: "NUMBERED_CHOICE", entry: "arrows" });

  const answered = await hub.person.prompt.reply({ ...named(it.prompt), value: "mail", wait_ms: OUTCOME_WAIT_MAX_MS });

  await prints(hub.agent, it, "GOT mail.");
  expect(answered).toMatchObject({ outcome: "advanced", feedback: ["Sent: option mail + Enter", "CLI advanced"] });
});

/** Instead of 5 s and 2 s (PMT-40); still longer than a slow machine needs to look at a program. */
const BRISK = { advanceTimeoutMs: 2_000 * patience(), retryDelayMs: 200 };

test("[PMT-72, PMT-116] a program that doesn't respond is answered once more, then a person is told, and asked again", async () => {
  const { stop, ...brisk } = await openTerminalHub({ pace: { answer: BRISK } });
  await using _stopped = { [Symbol.asyncDispose]: stop };
  const it = await asking(brisk, deaf(3));

  const answered = await brisk.person.prompt.reply({ ...named(it.prompt), value: "", wait_ms: OUTCOME_WAIT_MAX_MS });

  expect(answered).toMatchObject({
    outcome: "escalated",
    feedback: [
      "Sent: Enter",
      "CLI did not respond to Enter, retrying...",
      "CLI did not respond to Enter after retries. Please respond locally.",
    ],
  });
  expect(await brisk.person.event.list({ sessionId: it.sessionId, types: ["input"] })).toHaveLength(2);
  const again = await pendingIn(brisk.person, it.sessionId, it.prompt);
  await brisk.person.prompt.reply({ ...named(again), value: "" });
  await prints(brisk.agent, it, "HEARD");
});

function named({ prompt_id, nonce }: AskedPrompt): { readonly prompt_id: string; readonly nonce: string } {
  return { prompt_id, nonce };
}

test("[PMT-44] No secret leakage: of an answer to an ordinary question what is a secret is told and stored masked", async () => {
  const it = await asking(hub, "read -p 'Database URL: ' x; echo GOT ${#x}.");
  const value = "postgres://u:hunter2secret@db/x";
  const { prompt_id, nonce } = it.prompt;

  const replied = await hub.person.prompt.reply({ prompt_id, nonce, value, wait_ms: OUTCOME_WAIT_MAX_MS });
  await prints(hub.agent, it, `GOT ${value.length}.`);

  const masked = 'Sent: "postgres://u:*************@db/x" + Enter';
  expect(replied.feedback).toEqual([masked, "CLI advanced"]);
  expect(await feedback(hub.person, it.sessionId)).toEqual([masked, "CLI advanced"]);
  const events = await hub.person.event.list({ sessionId: it.sessionId, limit: 5000 });
  const prompts = await hub.agent.prompt.list({ session_id: it.sessionId });
  expect(JSON.stringify([events, prompts])).not.toContain("hunter2secret");
});
