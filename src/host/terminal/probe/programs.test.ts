/** The table of knowledge/terminal.md 3.3, program by program. */
import { afterAll, expect, test } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { closeProbe, inShell, kill, look, lookUntil, ProgramOnPty } from "./program-on-pty.contract.ts";
import { readStat } from "./processes.ts";

afterAll(closeProbe);

test.each([
  { command: "cat", program: "cat", syscall: "read" },
  { command: "read -p 'name? ' name", program: "bash", syscall: "read" },
  { command: "/usr/bin/python3 -c 'input(\"name? \")'", program: "python3", syscall: "read" },
  { command: "cat | sleep 1000", program: "cat", syscall: "read" },
  { command: "select word in one two; do :; done", program: "bash", syscall: "read" },
])("[PRB-1] `$command` waits for a line (needs $program)", async ({ command, program, syscall }) => {
  const seen = await lookUntil(inShell(command), { waiting: true, kind: "line", program, confidence: "high" });

  expect(seen).toMatchObject({ evidence: { syscall, fd: 0, echo: true, canonical: true } });
});

test("[PRB-1] a question with a time limit is a question, with less confidence", async () => {
  await lookUntil(inShell("read -t 1000 -p 'name? ' name"), { waiting: true, kind: "line", confidence: "medium" });
});

test.each([
  { command: "read -s -p 'all is well' secret", program: "bash" },
  { command: "/usr/bin/python3 -c 'import getpass; getpass.getpass()'", program: "python3" },
  { command: "zsh -fc 'read -s secret'", program: "zsh" },
  { command: "ssh-keygen -q -t ed25519 -f /nonexistent/key", program: "ssh-keygen" },
])("[PRB-2] `$command` waits for a password (needs $program)", async ({ command, program }) => {
  const seen = await lookUntil(inShell(command), { waiting: true, kind: "password", program, confidence: "high" });

  expect(seen).toMatchObject({ evidence: { echo: false, canonical: true } });
});

test.each([
  { file: "bash", args: ["--norc", "-i"] },
  { file: "zsh", args: ["-f", "-i"] },
  { file: "fish", args: ["--no-config", "-i"] },
])("[PRB-3] $file at its prompt is the shell (needs $file)", async ({ file, args }) => {
  const shell = new ProgramOnPty(file, args);

  await lookUntil(shell, { waiting: true, kind: "shell", program: file, pid: shell.pid, confidence: "high" });
});

test("[PRB-3] a background reader leaves the shell at its prompt", async () => {
  const shell = new ProgramOnPty("bash", ["--norc", "-i"]);
  await lookUntil(shell, { kind: "shell" });

  shell.type("cat &\r");

  await shell.running("cat");
  await lookUntil(shell, { waiting: true, kind: "shell", program: "bash" });
});

test.each([
  { command: "bash --norc -i", program: "bash", confidence: "high" },
  { command: "/usr/bin/python3 -q", program: "python3", confidence: "high" },
  { command: "bc -q", program: "bc", confidence: "high" },
  { command: "gdb -q -nx", program: "gdb", confidence: "high" },
  { command: "node", program: "node", confidence: /high|medium/ },
])(
  "[PRB-3] the prompt of $program inside the shell is a line editor (needs $program)",
  async ({ command, program, confidence }) => {
    await lookUntil(inShell(command), {
      waiting: true,
      kind: "line_editor",
      program,
      confidence: expect.stringMatching(confidence),
    });
  },
);

test("[PRB-4] read of the shell itself is a line, then a password, and its prompt again", async () => {
  const shell = new ProgramOnPty("bash", ["--norc", "-i"]);
  await lookUntil(shell, { kind: "shell" });

  shell.type("read a; read -s b\r");
  await lookUntil(shell, { waiting: true, kind: "line", program: "bash", pid: shell.pid });
  shell.type("one\r");
  await lookUntil(shell, { waiting: true, kind: "password", program: "bash", pid: shell.pid });
  shell.type("two\r");

  await lookUntil(shell, { waiting: true, kind: "shell" });
});

test("[PRB-4] the prompt of dash is a line: the kernel sees no difference to its read (needs dash)", async () => {
  const shell = new ProgramOnPty("dash", ["-i"]);

  await lookUntil(shell, { waiting: true, kind: "line", program: "dash", pid: shell.pid });
});

test.each([
  { command: "less /etc/services", program: "less" },
  { command: "less -X /etc/services", program: "less" },
  { command: "more /etc/services", program: "more" },
  { command: "yes | less", program: "less" },
])("[PRB-5] `$command` is a pager (needs $program)", async ({ command, program }) => {
  await lookUntil(inShell(command), { waiting: true, kind: "pager", program, confidence: "high" });
});

test("[PRB-5] vim is an editor (needs vim)", async () => {
  await lookUntil(inShell("vim -u NONE -n"), { waiting: true, kind: "editor", program: "vim" });
});

test("[PRB-6] whiptail is a TUI that waits (needs whiptail)", async () => {
  const dialog = inShell("whiptail --yesno sure? 10 30");

  await lookUntil(dialog, { waiting: true, kind: "tui", program: "whiptail", confidence: "high" });
});

test("[PRB-6] top redraws and asks nothing (needs ps)", async () => {
  const top = inShell("top");
  await top.running("top");

  await lookUntil(top, { waiting: false, reason: "redraws on a timer" });
});

test("[PRB-6] a timer in an event loop does not hide a question", async () => {
  const code = 'setTimeout(() => {}, 1e6); require("readline/promises").createInterface(process.stdin, process.stdout)';
  const asking = inShell(`node -e '${code}.question("name? ")'`);

  await lookUntil(asking, { waiting: true, kind: "line_editor", program: "node", confidence: "medium" });
});

test.each([
  { command: "echo -n '[sudo] password for bob: '; exec sleep 1000", program: "sleep", needs: "bash" },
  { command: "stty -echo; echo -n 'Password: '; exec sleep 1000", program: "sleep", needs: "bash" },
  { command: "exec tail -f /etc/passwd", program: "tail", needs: "bash" },
  { command: "exec watch -n 1000 true", program: "watch", needs: "watch" },
  { command: "exec cat <(sleep 1000)", program: "cat", needs: "bash" },
])("[PRB-7] `$command` does not wait (needs $needs)", async ({ command, program }) => {
  const busy = new ProgramOnPty("/bin/bash", ["--norc", "-c", command]);
  await busy.running(program);

  await lookUntil(busy, { waiting: false, confidence: "high", reason: "nobody in the foreground reads the terminal" });
});

test("[PRB-7] a busy loop does not wait", async () => {
  const busy = inShell("echo go; while :; do :; done");
  await eventually(() => expect(busy.output).toContain("go"));

  await lookUntil(busy, { waiting: false, confidence: "high" });
});

test("[PRB-8] a server that listens to keys beside its sockets may accept input", async () => {
  const code = 'require("http").createServer().listen(0, () => console.log("up")); process.stdin.on("data", () => {})';
  const server = inShell(`node -e '${code}'`);

  await lookUntil(server, { waiting: false, confidence: "medium", reason: "may accept input, and does other things" });
});

test("[PRB-16] two equal questions differ in the reader's switches, which stand while it waits", async () => {
  const asking = inShell("read -s a; read -s b");
  const first = await lookUntil(asking, { waiting: true, kind: "password" });
  expect(await look(asking)).toEqual(first);

  asking.type("one\r");

  await eventually(async () => expect(await look(asking)).not.toEqual(first));
  const second = await lookUntil(asking, { waiting: true, kind: "password" });
  expect(second).not.toEqual(first);
  expect({ ...second, switches: 0 }).toEqual({ ...first, switches: 0 });
});

test("[PRB-17] a stopped program waits for nothing and, continued, for the same again", async () => {
  const code = "import select; p = select.poll(); p.register(0, select.POLLIN); p.poll(); input()";
  const polling = new ProgramOnPty("/usr/bin/python3", ["-c", code]);
  await lookUntil(polling, { waiting: true, kind: "line", evidence: { syscall: "poll" } });

  kill(polling.pid, "SIGSTOP");
  await eventually(() => expect(readStat(polling.pid)?.state).toBe("T"));
  expect(await look(polling)).toMatchObject({ waiting: false });
  kill(polling.pid, "SIGCONT");

  await lookUntil(polling, { waiting: true, kind: "line", evidence: { syscall: "poll" } });
});

test("[PRB-18] a descriptor of another terminal is never taken for the shell's", async () => {
  const [asking, other] = [inShell("read -s secret"), inShell("exec sleep 1000")];
  await lookUntil(asking, { waiting: true, kind: "password" });
  const mistaken = Object.create(other, { target: { value: { ...other.target, fd: asking.fd } } }) as ProgramOnPty;

  expect(await look(mistaken)).toEqual({ waiting: false, confidence: "low", reason: "the terminal is gone" });
});
