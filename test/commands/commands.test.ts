/** Commands of projects against a real hub, host and programs. Rules in docs/spec/commands.md. */
import { createHash } from "node:crypto";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import type { AppError } from "../../src/client/sidestick.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { codeOf } from "../support/control-hub.ts";
import { patience } from "../../tools/suite/patience.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { clientOf, openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
let projects = 0;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  return opened.stop;
});

/** One of its own: a project has one interactive command at a time. */
async function project(settings: Record<string, unknown> = {}): Promise<{ readonly project_id: string }> {
  projects += 1;
  const workspaceId = `project-${projects}`;
  await hub.person.workspace.put({ workspaceId, ...hub.where, settings: { containment: "open", ...settings } });
  return { project_id: workspaceId };
}

async function started(command: string, settings: Record<string, unknown> = {}) {
  const at = await project(settings);
  const first = await hub.agent.command.start({ ...at, command });
  return { first, at: { ...at, session_id: first.session_id } };
}

async function refused(call: Promise<unknown>): Promise<AppError> {
  return call.then(
    (answer) => expect.fail(`it was not refused: ${JSON.stringify(answer)}`),
    (error: unknown) => error as AppError,
  );
}

test("[RMC-1] what is no command of this project isn't found", async () => {
  const { at } = await started("true");
  const elsewhere = await project();
  const { sessionId } = await hub.person.session.create({ kind: "terminal" });

  const codes = await Promise.all([
    refused(hub.agent.command.execute({ project_id: "nowhere", command: "true" })),
    refused(hub.agent.command.start({ project_id: "nowhere", command: "true" })),
    refused(hub.agent.command.wait({ ...elsewhere, session_id: at.session_id })),
    refused(hub.agent.command.send({ project_id: "default", session_id: sessionId, input_text: "x" })),
    refused(hub.agent.command.terminate({ project_id: "default", session_id: sessionId })),
  ]);

  expect(codes.map((it) => it.code)).toEqual(Array.from({ length: 5 }, () => "not_found"));
});

test("[RMC-2, RMC-4, RMC-5] a conversation with a program: each answer has what is new, the last its end", async () => {
  const { first, at } = await started("read -p 'Name? ' name; read -p \"Age of $name? \" age; echo $name $age; exit 4");

  const second = await hub.agent.command.send({ ...at, input_text: "bob\n" });
  const last = await hub.agent.command.send({ ...at, input_text: "7\n" });

  expect(first).toMatchObject({ output: "Name? ", final: false, waiting: { kind: "line", program: "bash" } });
  expect(second).toMatchObject({ output: "bob\nAge of bob? ", final: false, waiting: { kind: "line" } });
  expect(last).toMatchObject({ output: "7\nbob 7\n", final: true, exit_code: 4, reason: "exited" });
  expect(await hub.person.session.get({ sessionId: at.session_id })).toMatchObject({
    kind: "terminal",
    command: "interactive",
    status: "closed",
    workspaceId: at.project_id,
    ownerAgentId: "agent",
  });
});

test("[RMC-2] what a program leaves unread is read by nobody, and nothing more can be typed", async () => {
  const typed = join(await temporaryDirectory(), "typed");
  const { at } = await started("read -p 'Go? ' x");

  const last = await hub.agent.command.send({ ...at, input_text: `yes\ntouch ${typed}\n` });
  const input = await refused(hub.agent.command.send({ ...at, input_text: "more\n" }));

  expect(last).toMatchObject({ final: true, exit_code: 0 });
  expect(existsSync(typed)).toBe(false);
  expect([input.code, input.message]).toEqual(["invalid_transition", expect.stringContaining("wait_for_command")]);
});

test("[RMC-3] the text is run exactly as given, by the shell's -c, in the directory that was asked for (needs perl)", async () => {
  const at = await project();
  const command = `printf '%s|' "$0" "$PWD" 'a  b' "it's" $'\\u00e9\\n'\necho "\${x-unset}"`;

  const { stdout } = await hub.agent.command.execute({ ...at, command, cwd: "/usr" });
  const nowhere = await refused(hub.agent.command.execute({ ...at, command, cwd: "/nowhere" }));

  expect(stdout).toBe("/bin/bash|/usr|a  b|it's|é\n|unset\n");
  expect([nowhere.code, nowhere.message]).toEqual(["kind_unavailable", "cwd is no directory on this host"]);
});

test("[RMC-3, RMC-15] a text as long as it may be is run whole, though it takes several messages (needs perl)", async () => {
  const at = await project();
  const command = `printf %s '${"😀".repeat(14_980)}' | sha256sum`;

  const { stdout } = await hub.agent.command.execute({ ...at, command });
  const longer = await refused(hub.agent.command.execute({ ...at, command: "x".repeat(30_001) }));

  expect(command.length).toBeGreaterThan(29_900);
  expect(stdout.slice(0, 64)).toBe(createHash("sha256").update("😀".repeat(14_980)).digest("hex"));
  expect(longer.code).toBe("invalid_request");
});

test("[RMC-4] a question is told within 150 ms of its being asked: a delay that is fixed would be there every time", async () => {
  const { at } = await started("while read -p 'Next? ' x; do sleep 0.05; echo at ${EPOCHREALTIME/[.,]/}; done");

  await eventually(async () => {
    const { output } = await hub.agent.command.send({ ...at, input_text: "x\n" });
    expect(Date.now() - Number(/at (\d+)/.exec(output)?.[1]) / 1000).toBeLessThan(150);
  });
});

test("[RMC-4] `until` is enough, and a budget that is over says so", async () => {
  const at = await project();
  const directory = await temporaryDirectory();
  const [go, on] = [join(directory, "go"), join(directory, "on")];
  const until = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`;
  const command = `echo one; ${until(go)}; echo two; ${until(on)}; echo three4; sleep 60`;
  const first = await hub.agent.command.start({ ...at, command, until: "one" });
  const of = { ...at, session_id: first.session_id };

  writeFileSync(go, "");
  const second = await hub.agent.command.wait({ ...of, until: "two" });
  writeFileSync(on, "");
  const third = await hub.agent.command.wait({ ...of, until: String.raw`three\d`, until_type: "regex" });
  const nothing = await hub.agent.command.wait({ ...of, wait_ms: 50 });
  const wrong = await refused(hub.agent.command.wait({ ...of, until: "(", until_type: "regex" }));

  expect([first, second, third].map((it) => [it.output, it.matched, it.final])).toEqual([
    ["one\n", true, false],
    ["two\n", true, false],
    ["three4\n", true, false],
  ]);
  expect(nothing).toMatchObject({ output: "", final: false });
  expect(nothing.matched).toBeUndefined();
  expect(wrong.code).toBe("pattern_refused");
});

test("[RMC-4, WAI-13] whatever regex is waited for, an answer comes, and nobody else waits for it", async () => {
  const at = await project();
  const command = "yes 'xyz ' | tr -d '\\n' | head -c 60000; echo q; echo ready; read x; echo bye";
  const { session_id } = await hub.agent.command.start({ ...at, command, until: "ready" });
  const answered: string[] = [];
  const noted = (name: string, call: Promise<unknown>) => call.then(() => answered.push(name));
  // Where its match begins takes hundreds of states for each character to find.
  const slow = { ...at, session_id, from_cursor: 0, until: "(x?y?z? ?\\n?){200}q$", until_type: "regex" } as const;

  const waits = Array.from({ length: 4 }, () =>
    noted("wait", codeOf(hub.agent.command.wait({ ...slow, wait_ms: WAIT_BUDGET_MS }))),
  );
  await Promise.all([...waits, noted("whoami", hub.person.hub.whoami({}))]);
  const end = await hub.agent.command.send({ ...at, session_id, input_text: "x\n", until: "bye" });

  expect(answered).toEqual(["whoami", "wait", "wait", "wait", "wait"]);
  expect(end).toMatchObject({ matched: true });
});

test("[RMC-5] each caller is told what is new to it", async () => {
  const { at } = await started("echo hello; read x; echo bye; read y");

  const seen = await hub.person.command.wait(at);
  await hub.agent.command.send({ ...at, input_text: "a\n" });
  const later = await hub.person.command.wait(at);
  const nothing = await hub.agent.command.wait({ ...at, wait_ms: 0 });

  expect(seen.output).toBe("hello\n");
  expect(later.output).toBe("a\nbye\n");
  expect(nothing).toMatchObject({ output: "", final: false, waiting: { kind: "line" }, cursor: later.cursor });
});

test("[RMC-6] its end stays readable, as often as it is asked for, and the next one can start at once", async () => {
  const { first, at } = await started("seq 3; exit 9");
  const next = await hub.agent.command.start({ project_id: at.project_id, command: "kill -9 $$" });

  const again = await hub.agent.command.wait({ ...at, from_cursor: 0 });
  const rest = await hub.agent.command.wait(at);

  expect(first).toMatchObject({ output: "1\n2\n3\n", final: true, exit_code: 9, reason: "exited" });
  expect(again).toEqual(first);
  expect(rest).toEqual({ ...first, output: "" });
  expect(next).toMatchObject({ final: true, signal: "SIGKILL" });
});

test("[RMC-7] what is typed is raw: control characters are keys, and no newline is added", async () => {
  const { at } = await started(
    "trap 'echo interrupted' INT; read -p 'Line: ' x; echo \"<$x>\"; read -n 1 y; echo \"[$y]\"; cat",
  );

  const half = await hub.agent.command.send({ ...at, input_text: "ab", until: "ab" });
  const whole = await hub.agent.command.send({ ...at, input_text: "\u007Fc\r" });
  const key = await hub.agent.command.send({ ...at, input_text: "k" });
  const end = await hub.agent.command.send({ ...at, input_text: "\u0004" });

  expect([half.output, half.final]).toEqual(["ab", false]);
  expect(whole.output).toContain("<ac>");
  expect(key.output).toContain("[k]");
  expect(end).toMatchObject({ final: true, exit_code: 0 });
});

test("[RMC-7] a secret is in no event, whoever types it; a password is a person's, unless the workspace says otherwise", async () => {
  const [strict, lenient] = await Promise.all([
    started("read -s -p 'Password: ' x; echo; echo ${#x}"),
    started("read -s -p 'Password: ' x; echo; read -p 'Token? ' y; echo ${#x} ${#y}", {
      agent_may_answer_passwords: true,
    }),
  ]);

  const refusal = await refused(hub.agent.command.send({ ...strict.at, input_text: "hunter2\n" }));
  const person = await hub.person.command.send({ ...strict.at, input_text: "hunter22\n" });
  await hub.agent.command.send({ ...lenient.at, input_text: "hunter333\n" });
  const shown = await hub.agent.command.send({ ...lenient.at, input_text: "hunter4444\n", secret: true });

  expect(strict.first.waiting).toMatchObject({ kind: "password" });
  expect(refusal.code).toBe("secret_for_person");
  expect(person).toMatchObject({ output: expect.stringContaining("8"), exit_code: 0 });
  expect(shown).toMatchObject({ output: expect.stringContaining("9 10"), exit_code: 0 });
  const events = await hub.person.event.list({ limit: 5000 });
  expect(JSON.stringify(events)).not.toContain("hunter");
});

test("[RMC-8] one more than a project may have is refused with the first one's id, also when two come at once", async () => {
  const at = await project();
  const start = () => hub.agent.command.start({ ...at, command: "cat" });

  const both = await Promise.allSettled([start(), start()]);

  const [first] = both.flatMap((it) => (it.status === "fulfilled" ? [it.value] : []));
  const [second] = both.flatMap((it) => (it.status === "rejected" ? [it.reason as AppError] : []));
  expect([second?.code, second?.details["session_id"]]).toEqual(["interactive_active", first?.session_id]);
  await hub.person.workspace.put({ workspaceId: at.project_id, settings: { max_interactive_commands: 2 } });
  expect((await start()).final).toBe(false);
  expect((await refused(start())).details["session_id"]).toBe(first?.session_id);
});

test("[RMC-12] a command without a terminal: both streams apart, its end, nothing to read and nobody to ask (needs perl)", async () => {
  const at = await project();
  const command =
    "echo out; echo err >&2; echo more; tty; cat; (: </dev/tty) || echo no terminal; cut -d' ' -f7 /proc/$$/stat; exit 3";

  const result = await hub.agent.command.execute({ ...at, command });

  expect(result).toMatchObject({ exit_code: 3, timed_out: false, truncated: false });
  expect(result.stdout).toBe("out\nmore\nnot a tty\nno terminal\n0\n");
  expect(result.stderr).toMatch(/^err\n.*\/dev\/tty/);
  expect(await hub.person.session.get({ sessionId: result.session_id })).toMatchObject({
    command: "plain",
    status: "closed",
    reason: "exited",
  });
});

test("[RMC-12] its time is enforced, a signal is told, and much output comes whole or says that it doesn't (needs perl)", async () => {
  const at = await project();
  const noise = "for i in 1 2 3 4 5; do seq 20000; seq 20000 >&2; done";

  const [late, killed, whole, cut] = await Promise.all([
    hub.agent.command.execute({ ...at, command: "echo begun; sleep 60 & sleep 61", timeout_ms: 2_000 * patience() }),
    hub.agent.command.execute({ ...at, command: "kill -SEGV $$" }),
    hub.agent.command.execute({ ...at, command: noise, max_bytes: 1024 * 1024 }),
    hub.agent.command.execute({ ...at, command: "seq 100000", max_bytes: 1000 }),
  ]);

  expect(late).toMatchObject({ stdout: "begun\n", timed_out: true });
  expect(killed).toMatchObject({ signal: "SIGSEGV", timed_out: false });
  const once = Array.from({ length: 20_000 }, (_, index) => `${index + 1}\n`).join("");
  const digests = [whole.stdout, whole.stderr].map((it) => createHash("sha256").update(it).digest("hex"));
  expect(digests).toEqual(Array.from({ length: 2 }, () => createHash("sha256").update(once.repeat(5)).digest("hex")));
  expect([whole.truncated, cut.truncated]).toEqual([false, true]);
  expect(cut.stdout).toMatch(/^1\n2\n[^]*… \d+ bytes left out …[^]*\n100000\n$/);
});

test("[RMC-12, RED-1] each of its streams is masked by itself (needs perl)", async () => {
  const at = await project();
  const command = "printf 'password: '; echo plain >&2; sleep 0.1; echo hunter2hunter2";

  const { stdout, stderr } = await hub.agent.command.execute({ ...at, command });

  expect(stdout).toBe("password: **************\n");
  expect(stderr).toBe("plain\n");
});

test("[RMC-13] killed by either way, with all that it started, and told how it ended (needs perl and pgrep)", async () => {
  const long = `sleep 71.${process.pid}`;
  const one = await started(`${long} & setsid ${long} & nohup ${long} >/dev/null & echo begun; read x`);
  const two = await started("trap '' HUP TERM; echo deaf; read x");

  const ended = await hub.agent.command.send({ ...one.at, input_text: "", terminate: true });
  const again = await hub.agent.command.terminate(one.at);
  const killed = await hub.agent.command.terminate(two.at);
  const both = await refused(hub.agent.command.send({ ...two.at, input_text: "x", terminate: true }));
  const neither = await refused(hub.agent.command.send({ ...two.at, input_text: "" }));

  expect(ended).toMatchObject({ final: true, reason: "terminated", signal: expect.stringMatching(/^SIG/) });
  expect(again).toMatchObject({ final: true, output: "" });
  expect(killed).toMatchObject({ final: true, signal: "SIGKILL" });
  expect([both.code, neither.code]).toEqual(["invalid_request", "invalid_request"]);
  const left = await hub.agent.command.execute({ project_id: "default", command: `pgrep -cf '^${long}$' || true` });
  expect(left.stdout).toBe("0\n");
});

test("[RMC-13, SEC-1] another agent can neither type into it nor end it", async () => {
  const { at } = await started("read x; read y");
  await hub.agent.command.send({ ...at, input_text: "a\n" });
  const other = await clientOf(hub.url, hub.dataDir, "agent", "other");
  await hub.person.control.take({ sessionId: at.session_id });

  const codes = await Promise.all([
    refused(other.command.send({ ...at, input_text: "b\n" })),
    refused(other.command.terminate(at)),
    refused(hub.agent.command.send({ ...at, input_text: "b\n" })),
  ]);

  expect(codes.map((it) => it.code)).toEqual(["control_refused", "forbidden", "control_refused"]);
});
