/** Seed 001's calls over HTTP, against a real hub, host and shell. */
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { AppError } from "../../src/protocol/errors.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { openTerminalHub, type TerminalHub } from "../support/terminal-hub.ts";

let hub: TerminalHub;
beforeAll(async () => {
  const opened = await openTerminalHub();
  hub = opened;
  // Whether agents may answer passwords is another test's business.
  await opened.person.workspace.put({ workspaceId: "default", settings: { agent_may_answer_passwords: true } });
  return opened.stop;
});

let made = 0;
const conversation = () => `api-${(made += 1)}`;

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "ok",
    (error: unknown) => (error instanceof AppError ? error.code : String(error)),
  );

describe("blocks", () => {
  test("[TRM-3, TRM-4] a command's answer has its exit code, output, cwd and cursors", async () => {
    const conversation_id = conversation();

    const answer = await hub.agent.pty.exec_block({
      conversation_id,
      command: "cd /; echo hi; false",
      wait_ms: WAIT_BUDGET_MS,
    });

    expect(answer).toMatchObject({
      ok: true,
      seq: 1,
      exit_code: 1,
      output: "hi\n",
      cwd: "/",
      integration: "marks",
      omitted_bytes: 0,
      redacted: [],
    });
    expect(answer.end_cursor! - answer.cursor).toBe("hi\r\n".length);
    expect(answer.pending).toBeUndefined();
  });

  test("[TRM-21] a command begins in a terminal of the size that is asked for, the first one too", async () => {
    const run = { conversation_id: conversation(), command: "stty size", wait_ms: WAIT_BUDGET_MS };

    const first = await hub.agent.pty.exec_block({ ...run, cols: 70, rows: 20 });
    const second = await hub.agent.pty.exec_block({ ...run, cols: 80, rows: 25 });
    const third = await hub.agent.pty.exec_block(run);

    expect([first.output, second.output, third.output]).toEqual(["20 70\n", "25 80\n", "25 80\n"]);
  });

  test("[TRM-3] without wait_ms it answers when the block has begun", async () => {
    const conversation_id = conversation();

    // It says so itself: a shell that is just starting a program may miss a signal.
    const command = "sh -c 'echo begun; exec sleep 1000'";
    const answer = await hub.agent.pty.exec_block({ conversation_id, command });

    expect(Object.keys(answer).sort()).toEqual(
      ["block_id", "cursor", "ok", "position", "seq", "ts_begin", "workspace_session_id"].sort(),
    );
    expect(await codeOf(hub.agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("busy");
    await hub.agent.pty.wait_for({ conversation_id, match: "begun", from_cursor: answer.cursor });
    await hub.agent.pty.ctrl_c({ conversation_id });
    const prompt = await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT" });
    expect(prompt).toMatchObject({ matched: true, exit_code: 130 });
  });

  test("[TRM-1] two first calls at once make one terminal", async () => {
    const conversation_id = conversation();

    const answers = await Promise.allSettled([
      hub.agent.pty.exec_block({ conversation_id, command: "echo a", wait_ms: WAIT_BUDGET_MS }),
      hub.agent.pty.exec_block({ conversation_id, command: "echo b", wait_ms: WAIT_BUDGET_MS }),
    ]);

    const sessions = await hub.agent.session.list({ conversationId: conversation_id });
    expect(sessions).toHaveLength(1);
    const ok = answers.filter((it) => it.status === "fulfilled");
    expect(ok.length).toBeGreaterThan(0);
  });

  test("[WAI-16, WAI-22] a wait in a terminal that is over answers `closed`, not by a prompt from before the last command", async () => {
    const conversation_id = conversation();
    const { workspace_session_id: sessionId } = await hub.agent.pty.exec_block({
      conversation_id,
      command: "echo said",
      wait_ms: WAIT_BUDGET_MS,
    });
    await hub.agent.pty.exec_block({ conversation_id, command: "exit 3", wait_ms: WAIT_BUDGET_MS });
    await eventually(async () => expect((await hub.person.session.get({ sessionId })).status).toBe("closed"));

    expect(await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT" })).toMatchObject({
      matched: false,
      reason: "closed",
    });
    expect(await hub.agent.pty.wait_for({ conversation_id, match: "EOF" })).toMatchObject({ matched: true });
  });

  test("[TRM-1, TRM-14] after `exit` the next command has a new terminal; old blocks stay listed", async () => {
    const conversation_id = conversation();
    const first = await hub.agent.pty.exec_block({
      conversation_id,
      command: "echo old; exit 3",
      wait_ms: WAIT_BUDGET_MS,
    });
    const second = await hub.agent.pty.exec_block({ conversation_id, command: "echo new", wait_ms: WAIT_BUDGET_MS });

    expect(first).toMatchObject({ exit_code: 3, output: expect.stringContaining("old") });
    expect(second.workspace_session_id).not.toBe(first.workspace_session_id);
    const { blocks } = await hub.agent.pty.blocks({ conversation_id });
    expect(blocks.map((it) => [it.command, it.exit_code])).toEqual([
      ["echo old; exit 3", 3],
      ["echo new", 0],
    ]);
    const found = await hub.agent.pty.blocks({ conversation_id, query: "new" });
    expect(found.blocks.map((it) => it.command)).toEqual(["echo new"]);
  });

  test("[TRM-12] long output keeps its head and tail and says what it left out", async () => {
    const conversation_id = conversation();

    const answer = await hub.agent.pty.exec_block({
      conversation_id,
      command: "seq 1 100000",
      wait_ms: WAIT_BUDGET_MS,
      max_bytes: 1000,
    });

    expect(answer.output).toMatch(/^1\n2\n3\n/);
    expect(answer.output).toMatch(/99999\n100000\n$/);
    expect(answer.output!.length).toBeLessThan(1200);
    expect(answer.omitted_bytes).toBeGreaterThan(500_000);
    const whole = await hub.agent.pty.read_output({
      conversation_id,
      from_cursor: answer.cursor,
      view: "raw",
      max_bytes: 300,
    });
    expect(Buffer.from(whole.data, "base64").toString()).toMatch(/^1\r\n2\r\n/);
    const block = await hub.agent.pty.read_output({ conversation_id, block_id: answer.block_id, max_bytes: 1000 });
    expect(block.data).toBe(answer.output);
  });
});

describe("interactive runs", () => {
  test("[TRM-6, TRM-7, TRM-10] seed 001's number guessing, call by call (needs python3)", async () => {
    const conversation_id = conversation();
    const program = new URL("../fixtures/programs/guess.py", import.meta.url).pathname;

    const run = await hub.agent.pty.exec_interactive({ conversation_id, command: `python3 ${program}` });
    const asked = await hub.agent.pty.wait_for({ conversation_id, match: "Guess a number", from_cursor: run.cursor });
    await hub.agent.pty.send({ conversation_id, session_id: run.session_id, data: "3\r" });
    const low = await hub.agent.pty.wait_for({
      conversation_id,
      match: "Too (low|high)",
      match_type: "regex",
      from_cursor: asked.cursor,
    });
    await hub.agent.pty.send({ conversation_id, data: "7\r" });
    const right = await hub.agent.pty.wait_for({ conversation_id, match: "Correct!", from_cursor: low.cursor });
    const prompt = await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT", from_cursor: right.cursor });

    expect(asked).toMatchObject({ matched: true, match_text: "Guess a number", reason: "match" });
    expect(low).toMatchObject({ matched: true, match_text: "Too low" });
    expect(right.matched).toBe(true);
    expect(prompt).toMatchObject({ matched: true, which: 0, exit_code: 0, integration: "marks" });
    expect((await hub.agent.pty.status({ conversation_id })).mode).toBe("idle");
  });

  test("[TRM-5, TRM-15] while a run is interactive, exec is refused and status tells what waits", async () => {
    const conversation_id = conversation();
    const run = await hub.agent.pty.exec_interactive({ conversation_id, command: "cat" });
    const input = await hub.agent.pty.wait_for({ conversation_id, match: "INPUT" });

    expect(input).toMatchObject({ matched: true, kind: "line", program: "cat", confidence: "high" });
    expect(await codeOf(hub.agent.pty.exec_block({ conversation_id, command: "true" }))).toBe("interactive_active");
    expect(await hub.agent.pty.status({ conversation_id })).toMatchObject({
      mode: "interactive",
      active_session_id: run.session_id,
      active_block_id: run.block_id,
      waiting: { kind: "line", program: "cat", prompt_id: input.prompt_id },
    });
    await hub.agent.pty.ctrl_d({ conversation_id, if_prompt: input.prompt_id });
    const eof = await hub.agent.pty.wait_for({ conversation_id, session_id: run.session_id, match: "EOF" });
    expect(eof).toMatchObject({ matched: true, exit_code: 0 });
  });

  test("[TRM-8] an agent can't type at an idle prompt; it may interrupt, and a person may type", async () => {
    const conversation_id = conversation();
    const { workspace_session_id: sessionId } = await hub.agent.pty.exec_block({
      conversation_id,
      command: "true",
      wait_ms: WAIT_BUDGET_MS,
    });

    expect(await codeOf(hub.agent.pty.send({ conversation_id, data: "ls\r" }))).toBe("shell_idle");
    expect(await codeOf(hub.agent.session.input({ sessionId, data: "ls\r" }))).toBe("shell_idle");
    const expecting = { conversation_id, match: "PROMPT", from_position: 0, data: "ls\r" };
    expect(await codeOf(hub.agent.pty.expect_send(expecting))).toBe("shell_idle");
    expect(await codeOf(hub.agent.pty.ctrl_c({ conversation_id }))).toBe("ok");
    expect(await codeOf(hub.person.session.input({ sessionId, data: "ls\r", notAtShell: true }))).toBe("shell_idle");
    expect(await codeOf(hub.person.session.input({ sessionId, data: "echo from-a-person\r" }))).toBe("ok");
    const seen = await hub.agent.pty.wait_for({ conversation_id, match: "\nfrom-a-person" });
    expect(seen.matched).toBe(true);
  });

  test("[TRM-9] if_prompt types only while that instance waits", async () => {
    const conversation_id = conversation();
    await hub.agent.pty.exec_interactive({ conversation_id, command: 'read -s a; read -s b; echo "[$a|$b]"' });
    const first = await hub.agent.pty.wait_for({ conversation_id, match: "INPUT" });
    await hub.agent.pty.send({ conversation_id, data: "one\r", if_prompt: first.prompt_id });
    const second = await hub.agent.pty.wait_for({ conversation_id, match: "INPUT" });

    expect(first).toMatchObject({ kind: "password" });
    expect(second.prompt_id).not.toBe(first.prompt_id);
    expect(await codeOf(hub.agent.pty.send({ conversation_id, data: "x\r", if_prompt: first.prompt_id }))).toBe(
      "prompt_gone",
    );
    await hub.agent.pty.send({ conversation_id, data: "two\r", if_prompt: second.prompt_id });
    const done = await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT" });
    expect(done).toMatchObject({ matched: true, exit_code: 0 });
  });

  test("[TRM-11] expect_send types after the match, and nothing when it doesn't come", async () => {
    const conversation_id = conversation();
    await hub.agent.pty.exec_interactive({ conversation_id, command: "read -p 'Name? ' n; echo Hello $n" });

    const missed = await hub.agent.pty.expect_send({ conversation_id, match: "never", data: "x\r", timeout_ms: 200 });
    const sent = await hub.agent.pty.expect_send({ conversation_id, match: "Name? ", data: "Ann\r" });
    const hello = await hub.agent.pty.wait_for({ conversation_id, match: "Hello Ann" });

    expect(missed).toMatchObject({ matched: false, sent: false, reason: "timeout" });
    expect(sent).toMatchObject({ matched: true, sent: true, bytes: 4 });
    expect(hello.matched).toBe(true);
  });

  test("[TRM-4] a block whose program asks answers early with what it waits for", async () => {
    const conversation_id = conversation();

    const answer = await hub.agent.pty.exec_block({
      conversation_id,
      command: "read -sp 'Secret: ' x",
      wait_ms: WAIT_BUDGET_MS,
    });

    expect(answer).toMatchObject({ output: "Secret: ", waiting: { kind: "password", program: "bash" } });
    expect(answer.exit_code).toBeUndefined();
    await hub.agent.pty.ctrl_c({ conversation_id });
    await hub.agent.pty.wait_for({ conversation_id, match: "PROMPT" });
  });

  test.each(["bash --norc", "sleep 1000"])(
    "[TRM-16] end_session of `%s` comes back to the prompt, and each step is an event",
    async (command) => {
      const conversation_id = conversation();
      const run = await hub.agent.pty.exec_interactive({ conversation_id, command });
      await hub.agent.pty.wait_for({ conversation_id, match: "IDLE", idle_ms: 200 });

      await hub.agent.pty.end_session({ conversation_id, session_id: run.session_id });

      expect((await hub.agent.pty.status({ conversation_id })).mode).toBe("idle");
      const after = await hub.agent.pty.exec_block({ conversation_id, command: "echo alive", wait_ms: WAIT_BUDGET_MS });
      expect(after.output).toBe("alive\n");
      const steps = await hub.agent.event.list({ sessionId: run.workspace_session_id, types: ["log_line"] });
      expect(steps.length).toBeGreaterThan(0);
      expect(steps[0]?.payload).toMatchObject({ event: "end_session", step: expect.any(String) });
    },
  );

  test("[TRM-17] reset starts the shell anew in the same session and keeps the history", async () => {
    const conversation_id = conversation();
    const first = await hub.agent.pty.exec_block({
      conversation_id,
      command: "X=1; echo before",
      wait_ms: WAIT_BUDGET_MS,
    });
    await hub.agent.pty.exec_interactive({ conversation_id, command: "sleep 1000" });

    await hub.agent.pty.reset({ conversation_id });
    const after = await hub.agent.pty.exec_block({ conversation_id, command: 'echo "[$X]"', wait_ms: WAIT_BUDGET_MS });

    expect(after).toMatchObject({ workspace_session_id: first.workspace_session_id, output: "[]\n", exit_code: 0 });
    const { blocks } = await hub.agent.pty.blocks({ conversation_id });
    expect(blocks.map((it) => it.command)).toContain("X=1; echo before");
    const told = await hub.agent.event.list({ sessionId: first.workspace_session_id, types: ["log_line"] });
    expect(told.map((it) => it.payload["event"])).toContain("respawned");
  });
});

describe("the rest", () => {
  test("[TRM-2] a conversation without a terminal is told how to get one", async () => {
    const error = await hub.agent.pty.status({ conversation_id: "nobody" }).catch((it: unknown) => it);

    expect(error).toMatchObject({ code: "not_found", message: expect.stringContaining("exec_block") });
  });

  test("[TRM-13] the screen is what a person sees", async () => {
    const conversation_id = conversation();
    await hub.agent.pty.exec_block({
      conversation_id,
      command: String.raw`printf '\033[2J\033[3;5HHello\033[1;1Htop'; sleep 0.2`,
      wait_ms: WAIT_BUDGET_MS,
    });

    const screen = await hub.agent.pty.read_screen({ conversation_id });

    expect(screen.lines[0]).toMatch(/^top/);
    expect(screen.lines[2]).toBe("    Hello");
    expect(screen).toMatchObject({ cols: 120, rows: 40, alt_screen: false });
  });

  test("[TRM-18] a repeated Idempotency-Key types nothing twice", async () => {
    const conversation_id = conversation();
    const run = { conversation_id, command: "echo $((n+=1))", wait_ms: WAIT_BUDGET_MS };

    const first = await hub.agent.pty.exec_block(run, { idempotencyKey: "k1" });
    const again = await hub.agent.pty.exec_block(run, { idempotencyKey: "k1" });
    const other = await hub.agent.pty.exec_block(run, { idempotencyKey: "k2" });

    expect(again).toEqual(first);
    expect([first.output, other.output]).toEqual(["1\n", "2\n"]);
  });

  test("[TRM-7] a person's password is masked, and the prompt that follows on its line is not", async () => {
    const conversation_id = conversation();
    const { cursor } = await hub.agent.pty.exec_block({
      conversation_id,
      command: 'read -sp "Password: " p; echo "len ${#p} is $p"',
      wait_ms: WAIT_BUDGET_MS,
    });

    await hub.person.pty.send({ conversation_id, data: "MySecret99\r" });
    await hub.person.pty.wait_for({ conversation_id, match: "PROMPT" });

    const { data } = await hub.agent.pty.read_output({ conversation_id, from_cursor: cursor, view: "raw" });
    const seen = Buffer.from(data, "base64").toString();
    expect(seen).toContain("Password: len 10 is **********\r\n");
    expect(seen.split("**********\r\n")[1]).toMatch(/2004h[^*]+[#$] $/);
    const { blocks } = await hub.agent.pty.blocks({ conversation_id });
    expect(blocks[0]?.command).toContain('"Password: " p;');
  });

  test("[TRM-12] masked ranges are listed", async () => {
    const conversation_id = conversation();

    const answer = await hub.agent.pty.exec_block({
      conversation_id,
      command: "echo key ghp_''0123456789abcdefghij0123456789abcdefgh",
      wait_ms: WAIT_BUDGET_MS,
    });

    expect(answer.output).toMatch(/^key ghp_\*+\n$/);
    expect(answer.redacted).toEqual([[answer.cursor + 8, answer.cursor + 8 + 38]]);
  });

  test("[TRM-20] attaching to the screen gives a snapshot that the following bytes continue", async () => {
    const conversation_id = conversation();
    const { workspace_session_id: sessionId } = await hub.agent.pty.exec_block({
      conversation_id,
      command: "seq 1 200000; echo done",
      wait_ms: WAIT_BUDGET_MS,
    });
    const stream = hub.person.stream();
    onTestFinished(() => stream.close());
    const seen: string[] = [];
    const attached = new Promise<{ snapshot?: string | undefined; cursor: number }>((resolve) => {
      stream.attach(sessionId, {
        from: "screen",
        onAttached: resolve,
        onOutput: (bytes) => void seen.push(Buffer.from(bytes).toString()),
      });
    });

    const { snapshot = "", cursor } = await attached;
    await hub.agent.pty.exec_block({ conversation_id, command: "echo after", wait_ms: WAIT_BUDGET_MS });

    expect(snapshot).toContain("200000");
    expect(snapshot.length).toBeLessThan(200_000);
    expect(cursor).toBeGreaterThan(1_000_000);
    await eventually(() => expect(seen.join("")).toContain("after\r\n"));
    expect(seen.join("")).not.toContain("199999");
  });
});
