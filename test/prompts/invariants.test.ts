/** The seed's invariants, by their names, with real programs. Those that need no program stand beside the rules in src/domain. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { OUTCOME_WAIT_MAX_MS } from "../../src/protocol/prompts.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import type { MLClassifier } from "../../src/domain/prompts/fuser.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { passSilence } from "../support/movable-time.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, endHostAfterTest, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";
import { ANN, openAskingDesks } from "./asking-desks.ts";
import { asking, feedback, prints, started } from "./asking-hub.ts";

let hub: TerminalHub;

beforeAll(async () => {
  const opened = await openTerminalHub({ pace: { planMs: 200 } });
  hub = opened;
  return opened.stop;
});

test("[PMT-117] No cross-session injection: a question takes no answer that was meant for another", async () => {
  const [one, two] = [
    await asking(hub, "read -p 'One? [Y/n] ' x; echo GOT $x."),
    await asking(hub, "read -p 'Two? [Y/n] ' x; echo GOT $x."),
  ];

  const crossed = await codeOf(
    hub.person.prompt.reply({ prompt_id: one.prompt.prompt_id, nonce: two.prompt.nonce, value: "y" }),
  );
  const unknown = await codeOf(
    hub.person.prompt.reply({ prompt_id: `${two.sessionId}.999`, nonce: two.prompt.nonce, value: "y" }),
  );

  expect([crossed, unknown]).toEqual(["prompt_gone", "not_found"]);
  for (const { sessionId } of [one, two])
    expect(await hub.person.event.list({ sessionId, types: ["input"] })).toEqual([]);
});

test.each(["viewer", "host"] as const)("[PMT-118] No unauthorized injection: a %s may not reply", async (role) => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");
  const other = await clientOf(hub.url, hub.dataDir, role, `some ${role}`);
  const { prompt_id, nonce } = it.prompt;

  expect(await codeOf(other.prompt.reply({ prompt_id, nonce, value: "y" }))).toBe("forbidden");

  expect((await hub.person.prompt.get({ prompt_id })).status).toBe("pending");
});

test("[PMT-119] CR semantics, No echo loops: one carriage return goes in, and its echo is no question", async () => {
  const it = await asking(hub, "read -p 'Ask what? ' x; cat -A <<<\"GOT $x.\"; sleep 60");
  const { prompt_id, nonce } = it.prompt;

  await hub.person.prompt.reply({ prompt_id, nonce, value: "Continue? [Y/n]", wait_ms: OUTCOME_WAIT_MAX_MS });

  await prints(hub.agent, it, "GOT Continue? [Y/n].$");
  const inputs = await hub.person.event.list({ sessionId: it.sessionId, types: ["input"] });
  expect(inputs.map(({ payload }) => payload["text"])).toEqual(["Continue? [Y/n]\r"]);
  const offers = await hub.person.event.list({ sessionId: it.sessionId, types: ["prompt_request"] });
  expect(offers).toHaveLength(1);
});

test("[PMT-115] what the gate refuses leaves the question to others", async () => {
  const it = await asking(hub, "read -p 'Continue? [Y/n] ' x; echo GOT $x.");
  const { prompt_id, nonce } = it.prompt;
  await hub.person.session.pause({ sessionId: it.sessionId });

  const refused = await codeOf(hub.agent.prompt.reply({ prompt_id, nonce, value: "n" }));
  const answered = await hub.person.prompt.reply({ prompt_id, nonce, value: "y", wait_ms: OUTCOME_WAIT_MAX_MS });

  expect([refused, answered.answered_by]).toEqual(["session_paused", "operator"]);
  expect(await feedback(hub.person, it.sessionId)).toEqual(["Sent: Y + Enter", "CLI advanced"]);
});

test("[PMT-100] progress, logs and documents with questions in them are offered to nobody", async () => {
  const lines = ["Proceeding? no", "Continue? [y/N] y", "1) red", "2) green", "Password: (none)", "Downloading 42%"];
  const { sessionId, conversation_id } = await started(hub.agent, `printf '%s\\n' '${lines.join("' '")}'; sleep 60`);
  await hub.agent.pty.wait_for({ conversation_id, match: "IDLE", idle_ms: 1_000, timeout_ms: WAIT_BUDGET_MS });

  expect(await hub.person.event.list({ sessionId, types: ["prompt_request"] })).toEqual([]);
});

test("[PMT-36] ML never executes: of a model that calls everything a yes or no nothing is typed by itself", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const heard: string[] = [];
  const ml: MLClassifier = {
    classify: (text, given) => {
      heard.push(`${given} ${text.trim().split("\n").at(-1)}`);
      return "YES_NO";
    },
  };
  const { desks, run, close } = await openAskingDesks(dataDir, { ml });
  const programs = {
    silent: "echo 'Delete everything? [Y/n] '; sleep 60",
    text: "read -p 'Name of the branch: ' x; echo GOT $x.",
    secret: `python3 -c "import getpass; getpass.getpass()"`,
    choice: "select x in red green; do echo GOT $x.; break; done",
    interpreter: "python3 -q",
  };
  const sessions = await Promise.all(Object.entries(programs).map(([name, command]) => run(name, command)));
  const [silent = "", text = ""] = sessions;

  const offered = await eventually(() => {
    const pending = desks.prompts.list("pending");
    expect(pending).toHaveLength(3);
    return pending;
  });
  // Rungs of silence are when a question is looked at again.
  const quiet = { sessionId: silent, types: ["quiet"], limit: 100 } as const;
  const silence = async () => Number((await desks.log.read(quiet)).at(-1)?.payload["ms"]);
  await eventually(async () => expect(await silence()).toBeGreaterThanOrEqual(1_000));
  passSilence({ dataDir });
  await eventually(async () => expect(await silence()).toBe(60_000));
  const inputs = await desks.log.read({ types: ["input"], limit: 100 });
  const asked = offered.find(({ sessionId }) => sessionId === text)!;
  const reply = { by: "text", text: "yes-branch" } as const;
  await desks.replies.reply({ promptId: asked.promptId, nonce: asked.nonce, reply }, ANN);
  const typed = await desks.log.read({ types: ["input"], limit: 100 });
  await close();

  expect(inputs).toEqual([]);
  expect(offered.map((it) => it.class).toSorted()).toEqual(["FREE_TEXT", "NUMBERED_CHOICE", "PASSWORD_INPUT"]);
  expect(offered.map((it) => it.shownAs)).toContain("PASSWORD_INPUT");
  expect(heard).toHaveLength(3);
  expect(typed.map(({ payload }) => payload["text"])).toEqual(["yes-branch\r"]);
});

test("[PMT-83, PMT-84, PMT-145] Bounded accumulator: a plan behind megabytes of output is told once, whole, and no longer than it is", async () => {
  const it = await started(hub.agent, "true");
  const { conversation_id, sessionId } = it;
  await hub.person.conversation.bind({ channel: "chat", thread_id: conversation_id, session_id: sessionId });
  const go = join(await temporaryDirectory(), "go");
  const flood = `python3 -c 'print("1. step " * 700_000); print("word " * 200_000)'`;
  const plan = "My plan:\\n\\n1. Add a test for the parser\\n2. Fix the parser\\n3. Run the tests\\n";
  await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT", timeout_ms: WAIT_BUDGET_MS });
  const plans = () => hub.person.event.list({ sessionId, types: ["plan"] });

  const command = `${flood}; printf '${plan}'; until [ -e ${go} ]; do sleep 0.1; done; ${flood}; echo OV''ER`;
  await hub.agent.pty.exec_interactive({ conversation_id, command });
  await eventually(async () => expect(await plans()).toHaveLength(1));
  await writeFile(go, "");
  await prints(hub.agent, it, "OVER");

  const told = await plans();
  expect(told.map(({ payload }) => payload["steps"])).toEqual([
    ["Add a test for the parser", "Fix the parser", "Run the tests"],
  ]);
  expect(JSON.stringify(told[0]?.payload).length).toBeLessThan(8_192);
});
