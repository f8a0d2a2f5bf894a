import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { familyOf, type ShellFamily } from "./family.ts";
import { liveShell } from "./live-shell.contract.ts";
import { submissionOf } from "./shell.ts";
import { commandsOf } from "./submission.ts";

const UNKNOWN = { directory: "/nowhere", shell: "/bin/sh", bracketedPaste: false, integrated: false };

test.each<[string, ShellFamily]>([
  ["/bin/bash", "bash"],
  ["/usr/local/bin/bash-5.2", "bash"],
  ["-zsh", "zsh"],
  ["/usr/bin/fish", "fish"],
  ["/bin/sh", "dash"],
  ["/usr/bin/nu", "other"],
  ["/usr/bin/python3", "other"],
])("[BLK-13] %s is taken for %s", (shell, family) => {
  expect(familyOf(shell)).toBe(family);
});

test.each<{ family: ShellFamily; text: string; cwd?: string }>([
  { family: "bash", text: "echo \0" },
  { family: "zsh", text: "\0" },
  { family: "dash", text: "pwd", cwd: "/a\0b" },
  { family: "bash", text: "pwd", cwd: "" },
  { family: "fish", text: "echo \u001B[201~; rm x" },
  { family: "fish", text: "echo a\r" },
  { family: "fish", text: "pwd", cwd: "/a\u0003" },
  { family: "other", text: "a\nb" },
  { family: "other", text: "a\tb" },
  { family: "other", text: "a\u0003" },
  { family: "other", text: "a", cwd: "/tmp" },
])("[BLK-25] what can't be given to $family as one command is refused: $text $cwd", async ({ family, text, cwd }) => {
  await expect(submissionOf(family, { text, cwd, seq: 1 }, UNKNOWN)).rejects.toMatchObject({ code: "invalid_request" });
});

test.each([
  { text: "ls -l", bracketedPaste: false, typed: "ls -l\r" },
  { text: "a\nb\tc", bracketedPaste: true, typed: "\u001B[200~a\nb\tc\u001B[201~\r" },
])("[BLK-24] a shell that isn't known gets the text as it is: $typed", async ({ text, bracketedPaste, typed }) => {
  const submission = await submissionOf("other", { text, seq: 1 }, { ...UNKNOWN, bracketedPaste });

  expect(Buffer.from(submission.typed).toString()).toBe(typed);
  expect([submission.echo.length, submission.shown.length]).toEqual([0, 0]);
});

test.each([
  { text: "ls -l", shown: "ls -l" },
  { text: "a\nb\n\n", shown: "a\r\nb" },
  { text: "a\tb\u001B[2J\u0007\r\u007F\u009B", shown: "a\tb^[[2J^G^M^?<9b>" },
])("[BLK-26] a command is shown so that it does nothing to the terminal: $shown", async ({ text, shown }) => {
  const directory = join(await temporaryDirectory(), "shell");
  mkdirSync(commandsOf(directory));

  const submission = await submissionOf(
    "bash",
    { text, seq: 1 },
    { directory, shell: "/bin/bash", bracketedPaste: true, integrated: true },
  );

  expect(Buffer.from(submission.shown).toString()).toBe(shown);
});

test("[GRD-8] the host runs nothing that lies where a shell can write (needs fish)", async () => {
  const shell = await liveShell("/usr/bin/fish");
  const { directory } = shell.place;
  const planted = readdirSync(directory).concat("fish", "bash", "sh");
  for (const name of planted.filter((it) => it !== "key" && it !== "init.fish")) {
    writeFileSync(join(directory, name), `#!/bin/sh\ntouch ${directory}/evil\n`, { mode: 0o755 });
  }

  await shell.run("echo a");

  expect(existsSync(join(directory, "evil"))).toBe(false);
});

test("[BLK-26] the words of a person's own prompt stay, however narrow the terminal", async () => {
  const shell = await liveShell("/usr/bin/bash", { cols: 60, home: { ".bashrc": "PS1='a prompt> '\n" } });

  expect((await shell.run("echo a")).screen).toBe("echo a\r\n\u001B[?2004l\ra\r\n\u001B[?2004ha prompt> ");
});

test.each([{ family: "bash" }, { family: "zsh" }, { family: "dash" }] as const)(
  "[BLK-24] $family whose marks are lost still reads a file (needs $family)",
  async ({ family }) => {
    const shell = await liveShell(`/usr/bin/${family}`);
    const from = shell.items.length;
    await shell.submit(`exec ${family} -i`);
    await shell.until((it) => it.text(from).length > 0);

    const place = { ...UNKNOWN, directory: shell.place.directory };
    const submission = await submissionOf(family, { text: "echo $((40 + 2))\necho 'open", cwd: "/usr", seq: 9 }, place);
    shell.write(submission.typed);

    await shell.until((it) => /42\r\n[\s\S]*(unexpected EOF|unmatched|Unterminated)/.test(it.text(from)));
    expect(shell.items.slice(from).filter((item) => !(item instanceof Uint8Array))).toEqual([
      { kind: "command_start" },
    ]);
  },
);
