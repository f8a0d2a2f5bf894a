import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { eventually } from "../../../test/support/eventually.ts";
import * as live from "../../../test/support/live-terminal.ts";
import { ANN, BOT, closeServices, OpenedTerminal } from "../../../test/support/terminal.ts";
import { terminate } from "./ending.ts";
import { PATIENCE } from "./patience.ts";
import { soakCount } from "../../../test/support/soak.ts";

const { isAlive, LiveTerminal } = live;
const by = { kind: "person", id: ANN.id } as const;
const TAKE = { type: "take", by } as const;
const GRANT = { type: "grant", by, agentId: BOT.id, leaseSeconds: 60, attend: true } as const;
/** A step that must do. */
const DOES = DEADLINE_MS;
/** A step that is ignored. */
const IGNORED = 30;
afterAll(closeServices);
afterAll(live.closeServices);

test("[PTY-12] every frame is one more than the last, and bytes come before the events that follow them", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.block("seq 50000; echo last");
  await terminal.ask({ type: "TERMINATE_CMD" });

  const { frames } = terminal;

  expect(frames.map((frame) => frame.order)).toEqual(frames.map((_, index) => index + 1));
  let cursor = 0;
  for (const frame of frames) {
    expect(frame.cursor).toBe(cursor);
    if (frame.kind === "bytes") cursor += frame.bytes.length;
  }
  expect(frames.at(-1)?.kind).toBe("exit");
});

test("[PTY-13] no frame of a flood is larger than 65,536 bytes", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.block("head -c 500000 /dev/zero | tr '\\0' x");

  const sizes = terminal.frames.flatMap((frame) => (frame.kind === "bytes" ? [frame.bytes.length] : []));
  expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
});

test("[PTY-9] silence after output is a recorded fact, in rungs", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.event("quiet", (payload) => payload["ms"] === 200);

  const told = terminal.events("quiet").map((frame) => frame.payload["ms"]);
  expect(told.slice(-3)).toEqual([30, 100, 200]);
});

test("[PTY-32] marks and the command's file never show", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.block("echo shown");

  expect(terminal.bytes.toString()).not.toMatch(/7717|\. '?\/|shell-/);
  expect(terminal.bytes.toString()).toContain("echo shown");
});

const TYPED_TIMES = soakCount(300);

test("[PTY-50] what is typed right after Ctrl+C at the prompt is typed whole, each time", async () => {
  const terminal = await OpenedTerminal.open({ patience: { heedMs: DEADLINE_MS } });
  await terminal.block("true");

  for (let time = 0; time < TYPED_TIMES; time += 1) {
    await terminal.send("\u0003", { by: ANN });
    await terminal.send(`echo time-${time}.\r`, { by: ANN });
    await eventually(() => expect(terminal.bytes.toString()).toMatch(new RegExp(`[\\r\\n]time-${time}\\.\\r`)));
  }

  expect(terminal.bytes.toString()).not.toContain("command not found");
  expect(PATIENCE.heedMs).toBe(100);
});

test("[PTY-33] secrets are masked in the stream, in commands and in inputs, and the ranges are told", async () => {
  const terminal = await OpenedTerminal.open();
  const token = `ghp_${"aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5".slice(0, 36)}`;

  const { output } = await terminal.block(`echo ${token}`);

  expect(JSON.stringify(terminal.frames)).not.toContain(token.slice(10));
  expect(output).toMatch(/ghp_\*{36}/);
  await eventually(() => expect(terminal.events("redacted").length).toBeGreaterThan(0));
});

test("[PTY-35] with redaction off every byte is the program's", async () => {
  const terminal = await OpenedTerminal.open({ redaction: "off" });

  const { output } = await terminal.block("echo password=hunter2hunter2");

  expect(output).toBe("password=hunter2hunter2\r\n");
});

test("[PTY-40] the child's environment is the login's, with a terminal and no pager", async () => {
  const terminal = await OpenedTerminal.open();

  const { output } = await terminal.block("env | grep -E '^(TERM|COLORTERM|PAGER|GIT_PAGER|npm_|VITEST)' | sort");

  expect(output.split("\r\n").filter((line) => line !== "")).toEqual([
    "COLORTERM=truecolor",
    "GIT_PAGER=cat",
    "PAGER=cat",
    "TERM=xterm-256color",
  ]);
});

test("[PTY-45] a resize is an event with its place, and reaches the program", async () => {
  const terminal = await OpenedTerminal.open();

  await terminal.ask({ type: "RESIZE", by: ANN, cols: 100, rows: 30 });
  const { output } = await terminal.block("stty size");

  expect(output).toBe("30 100\r\n");
  expect(terminal.events("resize").at(-1)).toMatchObject({ payload: { cols: 100, rows: 30 }, by: ANN });
});

test("[PTY-46] the screen, a snapshot and the status can be asked for", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.block("clear; echo on the screen");

  const screen = await terminal.ask({ type: "READ_SCREEN" });
  const snapshot = await terminal.ask({ type: "SNAPSHOT" });
  const { fields } = await terminal.ask({ type: "STATUS" });

  expect(
    Buffer.from(screen.body ?? [])
      .toString()
      .split("\n")[0],
  ).toBe("on the screen");
  expect(screen.fields).toMatchObject({ cols: 120, rows: 40, alt_screen: false });
  expect(Buffer.from(snapshot.body ?? []).toString()).toContain("on the screen");
  expect(fields).toMatchObject({
    mode: "idle",
    shell: "/bin/bash",
    integration: "marks",
    cwd: terminal.home,
    cols: 120,
  });
});

test("[PTY-41] respawn starts another shell in the same stream and says so", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run("cd /tmp; echo there; sleep 1000");
  await terminal.text("there\r\n");
  const before = terminal.frames.length;

  await terminal.ask({ type: "RESPAWN", by: ANN });
  const { end } = await terminal.finished(begun);
  await terminal.event("prompt", (payload) => payload["kind"] === "shell", before);
  await terminal.ask({ type: "CONTROL", command: { type: "release", by: ANN } });
  const after = await terminal.block("pwd");

  expect(end).toMatchObject({ canceled: true, signal: "SIGKILL" });
  expect(terminal.events("log_line")[0]).toMatchObject({ payload: { event: "respawned" }, by: ANN });
  expect(after).toMatchObject({ output: "/tmp\r\n", end: { seq: 2, integration: "marks" } });
  expect(terminal.exit).toBeUndefined();
});

test.each([
  { program: "cat", command: "cat" },
  { program: "bash", command: "bash --norc" },
  { program: "python3", command: "python3 -q" },
  { program: "bc", command: "bc -q" },
  { program: "sqlite3", command: "sqlite3" },
])("[PTY-42] $command is asked to end (needs $program)", async ({ command }) => {
  const terminal = await OpenedTerminal.open({ patience: { exitMs: DOES } });
  const begun = await terminal.run(command, { run_id: "6a1c1f0e-0000-4000-8000-000000000003" });
  await terminal.event("prompt", (payload) => payload["kind"] !== "shell", begun.position);

  await terminal.ask({ type: "END_RUN", by: BOT });

  expect(terminal.events("log_line").map((frame) => frame.payload["step"])).toEqual(["exit"]);
  expect((await terminal.block("echo ready")).output).toBe("ready\r\n");
});

test.each([
  {
    command: "sh -c 'echo here; exec sleep 1000'",
    steps: ["ctrl_c"],
    patience: { interruptMs: DOES },
  },
  {
    command: "bash -c 'trap \"\" INT; echo here; sleep 1000'",
    steps: ["ctrl_c", "sigterm"],
    patience: { interruptMs: IGNORED, sigtermMs: DOES },
  },
  {
    command: "bash -c 'trap \"\" INT TERM; echo here; sleep 1000'",
    steps: ["ctrl_c", "sigterm", "sigkill"],
    patience: { interruptMs: IGNORED, sigtermMs: IGNORED, sigkillMs: DOES },
  },
])("[PTY-42] ending $command takes $steps, and the prompt is seen", async ({ command, steps, patience }) => {
  const terminal = await OpenedTerminal.open({ patience });
  const begun = await terminal.run(command, { run_id: "6a1c1f0e-0000-4000-8000-000000000003" });
  await terminal.text("here\r\n", begun.cursor);

  await terminal.ask({ type: "END_RUN", by: BOT });

  expect(terminal.events("log_line").map((frame) => frame.payload["step"])).toEqual(steps);
  expect((await terminal.finished(begun)).end).toMatchObject({ canceled: true });
  expect((await terminal.block("echo ready")).output).toBe("ready\r\n");
});

test("[PTY-43] a shell that nothing interrupts is replaced", async () => {
  const terminal = await OpenedTerminal.open({ patience: { interruptMs: IGNORED } });
  const begun = await terminal.run("trap '' INT; while :; do :; done");

  await terminal.ask({ type: "END_RUN", by: BOT });

  expect((await terminal.finished(begun)).end).toMatchObject({ canceled: true });
  expect((await terminal.block("echo ready")).output).toBe("ready\r\n");
});

test("[CTL-41, CTL-33] an agent that loses control while it ends a program does no further step to it", async () => {
  const terminal = await OpenedTerminal.open({ patience: { interruptMs: IGNORED } });
  const begun = await terminal.run(
    "bash -c 'trap \"\" INT; echo here; until [ -e go ]; do sleep 0.01; done; echo kept'",
  );
  await terminal.text("here\r\n", begun.cursor);
  const ending = terminal.ask({ type: "END_RUN", by: BOT }).catch((error: unknown) => error);
  await terminal.event("log_line", (payload) => payload["step"] === "ctrl_c");

  await terminal.ask({ type: "CONTROL", command: TAKE });

  expect(await ending).toMatchObject({ code: "revoked", details: { control_reason: "taken", holder: ANN } });
  expect(terminal.events("log_line").map((frame) => frame.payload["step"])).toEqual(["ctrl_c"]);
  await writeFile(join(terminal.home, "go"), "");
  await terminal.text("kept\r\n", begun.cursor);
});

test("[CTL-41, CTL-23] nor when it has control anew, under another epoch", async () => {
  const terminal = await OpenedTerminal.open({ patience: { interruptMs: IGNORED } });
  const begun = await terminal.run("bash -c 'trap \"\" INT; echo here; sleep 1000'");
  await terminal.text("here\r\n", begun.cursor);
  const ending = terminal.ask({ type: "END_RUN", by: BOT }).catch((error: unknown) => error);
  await terminal.event("log_line", (payload) => payload["step"] === "ctrl_c");

  await terminal.ask({ type: "CONTROL", command: GRANT });

  expect(await ending).toMatchObject({ code: "stale_epoch" });
  expect(terminal.events("log_line").map((frame) => frame.payload["step"])).toEqual(["ctrl_c"]);
});

test("[CTL-41] what a person ends is ended, though they give control away meanwhile", async () => {
  const terminal = await OpenedTerminal.open({ patience: { interruptMs: IGNORED, sigtermMs: DOES } });
  const begun = await terminal.run("bash -c 'trap \"\" INT; echo here; sleep 1000'");
  await terminal.text("here\r\n", begun.cursor);
  const ending = terminal.ask({ type: "END_RUN", by: ANN });
  await terminal.event("log_line", (payload) => payload["step"] === "ctrl_c");

  await terminal.ask({ type: "CONTROL", command: GRANT });

  await ending;
  expect(terminal.events("log_line").map((frame) => frame.payload["step"])).toEqual(["ctrl_c", "sigterm"]);
  expect((await terminal.block("echo ready")).output).toBe("ready\r\n");
});

test("[CTL-32] each of two stops has a receipt of its own, though the first is told after the second began", async () => {
  // Each holds the shell while the other waits for its prompt.
  const terminal = await OpenedTerminal.open({ patience: { promptMs: PATIENCE.promptMs } });
  const begun = await terminal.run("echo here; sleep 1000");
  await terminal.text("here\r\n", begun.cursor);
  const stop = (scope: "agent" | "all") =>
    terminal.ask({ type: "CONTROL", command: { type: "intent", by, intent: "STOP_NOW", scope } });

  const [first, second] = await Promise.all([stop("agent"), stop("all")]);
  const receipts = await eventually(() => {
    expect(terminal.events("receipt")).toHaveLength(2);
    return terminal.events("receipt").map(({ payload }) => [payload["kill_scope"], payload["stop_epoch"]]);
  });

  expect(new Map(receipts as [string, number][])).toEqual(
    new Map([
      ["agent", first.fields["epoch"]],
      ["all", second.fields["epoch"]],
    ]),
  );
});

test("[PTY-44] terminate ends everything that the session started, then the session", async () => {
  const terminal = await OpenedTerminal.open();
  const { output } = await terminal.block("(trap '' HUP TERM; exec sleep 1000) & echo $!");
  const pid = Number.parseInt(output.split("\r\n").at(-2) ?? "", 10);

  await terminal.ask({ type: "TERMINATE_CMD" });

  expect(terminal.exit).toMatchObject({ reason: "terminated" });
  expect(terminal.frames.at(-1)).toBe(terminal.exit);
  expect(isAlive(pid)).toBe(false);
});

const LEFT_BEHIND = [
  "(setsid nohup sleep 1000 >/dev/null 2>&1 &)",
  "setsid -f sh -c 'trap \"\" HUP TERM; sleep 1000; :'",
  "sh -c '(env -i setsid sleep 1000 &)'",
];

test.each(LEFT_BEHIND)("[PTY-44] terminate ends `%s`, which left the shell's session (needs perl)", async (command) => {
  const opened = await LiveTerminal.open();
  await opened.command(command);
  const pids = await opened.running("sleep");

  await terminate(opened.terminal);

  expect(pids.filter(isAlive)).toEqual([]);
});

test.each(LEFT_BEHIND)("[PTY-41] a respawn ends `%s`, which left the shell's session (needs perl)", async (command) => {
  const opened = await LiveTerminal.open();
  await opened.command(command);
  const pids = await opened.running("sleep");

  await opened.terminal.respawn(ANN);

  await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
});

test("[PTY-14] a paused session reads nothing, and nothing is lost", async () => {
  const terminal = await OpenedTerminal.open();
  const begun = await terminal.run("read; seq 200000; echo end");
  terminal.session.pause();
  await terminal.send("\r");
  const before = terminal.bytes.length;
  const other = await OpenedTerminal.open();
  await other.block("seq 20000");
  expect(terminal.bytes.length).toBe(before);

  terminal.session.resume();

  const { output } = await terminal.finished(begun);
  const lines = output.split("\r\n").slice(1, -1);
  expect(lines).toEqual([...Array.from({ length: 200_000 }, (_, index) => String(index + 1)), "end"]);
});

test("[PTY-47] nothing goes into a session that has ended; its status can still be asked", async () => {
  const terminal = await OpenedTerminal.open();
  await terminal.block("exit 0");

  await expect(terminal.send("x")).rejects.toMatchObject({ code: "invalid_transition" });
  await expect(terminal.ask({ type: "RESPAWN", by: ANN })).rejects.toMatchObject({ code: "invalid_transition" });
  expect((await terminal.ask({ type: "STATUS" })).fields).toMatchObject({ mode: "idle" });
});

test("[PTY-48] a shell that is not there is refused at once", async () => {
  await expect(OpenedTerminal.open({ shell: "/no/such/shell" })).rejects.toMatchObject({ code: "invalid_request" });
});
