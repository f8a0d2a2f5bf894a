import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { Look } from "../../src/host/terminal/probe/probe.ts";
import {
  closeProbe,
  inShell,
  lookUntil,
  type ProgramOnPty,
} from "../../src/host/terminal/probe/program-on-pty.contract.ts";
import { type Answer, answerTo } from "../../src/domain/prompts/answer.ts";
import { classifyPrompt } from "../../src/domain/prompts/classifier.ts";
import type { Prompt, PromptEvidence } from "../../src/domain/prompts/prompt.ts";
import { eventually } from "../support/eventually.ts";
import { rendered } from "./rendered.ts";

afterAll(closeProbe);

/** Of the event loop: what the kernel holds for us is read in them. */
const TURNS = 5;
const SIZE = { cols: 80, rows: 24 };

/** Blocked on its terminal, with everything that it had printed before in our hands. */
async function settled(program: ProgramOnPty): Promise<Extract<Look, { waiting: true }>> {
  return eventually(async () => {
    const before = program.output;
    const look = await lookUntil(program, { waiting: true });
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    expect([before !== "", program.output === before, look.waiting]).toEqual([true, true, true]);
    return look as Extract<Look, { waiting: true }>;
  });
}

/** Its question as the kernel and the screen tell it. */
function asks(program: ProgramOnPty): Promise<Prompt> {
  // A box may be drawn in pieces, and be no question before the last.
  return eventually(() => asksNow(program));
}

async function asksNow(program: ProgramOnPty): Promise<Prompt> {
  const look = await settled(program);
  const { echo, canonical } = look.evidence as { echo?: boolean; canonical?: boolean };
  // As the host tells it: the shell's own prompt is known otherwise.
  const kind = look.kind === "shell" ? "line_editor" : look.kind;
  const evidence: PromptEvidence = { kind, confidence: look.confidence, program: look.program, echo, canonical };
  const classified = classifyPrompt(await rendered(program.output, SIZE), evidence);
  if (!classified.asked) throw new Error(classified.reason);
  return classified.prompt;
}

async function type(program: ProgramOnPty, answer: Answer): Promise<void> {
  if (!answer.ok) throw new Error(answer.ask);
  for (const [index, write] of answer.writes.entries()) {
    const before = program.output.length;
    program.type(write);
    if (index === answer.writes.length - 1) return;
    await eventually(() => expect(program.output.length).toBeGreaterThan(before));
    await settled(program);
  }
}

/** A dialog draws on the terminal and tells its choice elsewhere. */
const dialog = (rest: string): string => `exec 3>&1; x=$(whiptail ${rest} 2>&1 1>&3 </dev/tty); echo "GOT $x $?."`;

test.each([
  { name: "yes/no at its default", run: dialog("--yesno 'Remove?' 8 40"), reply: "yes", got: "GOT  0." },
  { name: "yes/no away from it", run: dialog("--yesno 'Remove?' 8 40"), reply: "nein", got: "GOT  1." },
  { name: "yes/no with no first", run: dialog("--defaultno --yesno 'Remove?' 8 40"), reply: "y", got: "GOT  0." },
  {
    name: "a menu",
    run: dialog("--menu Task 15 50 4 web 'Web server' db Database mail Mail"),
    reply: "mail",
    got: "GOT mail 0.",
  },
  {
    name: "a list of sizes",
    run: dialog("--radiolist Size 15 50 4 s small off m medium on l large off"),
    reply: "l",
    got: "GOT l 0.",
  },
  {
    name: "a list of parts",
    run: dialog("--checklist Parts 15 50 4 a docs off b tests on c more off"),
    reply: "a, c",
    got: 'GOT "a" "c" 0.',
  },
  { name: "a field", run: dialog("--inputbox 'Host name' 8 40"), reply: "web7", got: "GOT web7 0." },
])("[PMT-11, PMT-53, PMT-54] whiptail's $name gets what was meant (needs whiptail)", async ({ run, reply, got }) => {
  const program = inShell(run);
  await type(program, answerTo(await asks(program), { by: "text", text: reply }));
  await eventually(() => expect(program.output).toContain(got));
});

test.each([
  { name: "select", run: "select x in red green; do echo GOT $x.; break; done", reply: "green", got: "GOT green." },
  { name: "read", run: "read -p 'Deploy? (yes/no) ' x; echo GOT $x.", reply: "ok", got: "GOT yes." },
  {
    name: "rm -i",
    run: "cd $(mktemp -d) && touch f; rm -i f; ls | wc -l | sed 's/^/GOT /'; rm -rf $PWD",
    reply: "ja",
    got: "GOT 0",
  },
  {
    name: "getpass",
    run: "python3 -c \"import getpass; print('GOT', len(getpass.getpass()))\"",
    reply: "hunter2",
    got: "GOT 7",
  },
])("[PMT-50, PMT-52, PMT-59] $name gets its own literal", async ({ run, reply, got }) => {
  const program = inShell(run);
  await type(program, answerTo(await asks(program), { by: "text", text: reply }));
  await eventually(() => expect(program.output).toContain(got));
  expect(program.output).not.toContain("hunter2");
});

test("[PMT-70] a program that reads one key gets no Enter into its next question", async () => {
  const program = inShell("read -n 1 -p 'Sure? [y/n] ' a; echo; read -p 'Name: ' b; echo GOT $a $b.");
  const answer = answerTo(await asks(program), { by: "text", text: "yes" });
  if (!answer.ok) throw new Error(answer.ask);
  expect(answer.writes).toEqual(["y", "\r"]);
  program.type("y");
  await eventually(() => expect(program.output).toContain("Name: "));

  expect(await asks(program)).toMatchObject({ class: "FREE_TEXT", question: "Name:" });
});
