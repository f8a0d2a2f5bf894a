import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { liveShell } from "./live-shell.contract.ts";

const ONE_BLOCK = "command_start command_done prompt_start prompt_end";
const LONG = "x".repeat(20_000);

/** Text, exit code, and exactly what it prints. */
const EVERYWHERE: readonly (readonly [string, number, string])[] = [
  ["true", 0, ""],
  ["false", 1, ""],
  ["echo a; echo b", 0, "a\r\nb\r\n"],
  ["echo one\necho two # and a comment\n\n", 0, "one\r\ntwo\r\n"],
  ["printf abc", 0, "abc"],
  ["printf '\\033]0;t\\007\\033[1mé'", 0, "\u001B]0;t\u0007\u001B[1mÃ©"],
  ["sh -c 'exit 7'", 7, ""],
  ["# only a comment", 0, ""],
  ["", 0, ""],
  ["  \n ", 0, ""],
  [`echo ${LONG}`, 0, `${LONG}\r\n`],
  ["echo 'it''s' \"a  b\" é☃", 0, "its a  b Ã©â\u0098\u0083\r\n"],
  ["echo 'a!!b'", 0, "a!!b\r\n"],
];

const POSIX: readonly (readonly [string, number, string])[] = [
  ...EVERYWHERE,
  ["for i in 1 2 3; do\n  echo $i\ndone | tac", 0, "3\r\n2\r\n1\r\n"],
  ["cat <<X\nhi $((1 + 1))\n  'there'\nX", 0, "hi 2\r\n  'there'\r\n"],
  ["cat <<'X' && echo end\n$HOME \\\nX\n", 0, "$HOME \\\r\nend\r\n"],
  ["echo a \\", 0, "a\r\n"],
  ["f() {\n  echo \"$1\"\n  return 4\n}\nf 'x y'", 4, "x y\r\n"],
  ["if false; then\necho no\nelse\necho yes\nfi", 0, "yes\r\n"],
  ['echo a!!b "!x"', 0, "a!!b !x\r\n"],
  ["echo '\u001B[1m\t\u0001'", 0, "\u001B[1m\t\u0001\r\n"],
  ["{ sleep 0 & } 2>/dev/null; wait; echo b", 0, "b\r\n"],
  ["(exit 255)", 255, ""],
];

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const FISH_OWN = /^\u001B\[\?2004l\u001B\[30m\u001B\(B\u001B\[m/;

test.each([{ name: "bash" }, { name: "zsh" }, { name: "dash" }])(
  "[BLK-15] $name: whatever the text, one block with its code and its bytes (needs $name)",
  async ({ name }) => {
    const shell = await liveShell(`/usr/bin/${name}`);
    const results = [];
    for (const [text] of POSIX) results.push({ text, ...(await shell.run(text)) });

    expect(results.map(({ text, marks, exitCode, output }) => [text, marks, exitCode, withoutJobs(output)])).toEqual(
      POSIX.map(([text, code, output]) => [text, ONE_BLOCK, code, output]),
    );
  },
);

/** Without what bash and zsh say of background jobs. */
function withoutJobs(output: string): string {
  return output.replaceAll(/\[\d\][^\n]*\n/g, "");
}

test("[BLK-15, BLK-23] fish: whatever the text, one block with its code and its bytes (needs fish)", async () => {
  const shell = await liveShell("/usr/bin/fish");
  const results = [];
  for (const [text] of EVERYWHERE) results.push({ text, ...(await shell.run(text)) });

  expect(
    results.map(({ text, marks, exitCode, output }) => [text, marks, exitCode, output.replace(FISH_OWN, "")]),
  ).toEqual(EVERYWHERE.map(([text, code, output]) => [text, ONE_BLOCK, code, output]));
});

test("[BLK-23] fish: a title of one's own is shown once, before the block (needs fish)", async () => {
  const title = "function fish_title; echo mine-$argv[1]; end";
  const shell = await liveShell("/usr/bin/fish", { home: { ".config/fish/config.fish": title } });

  const { output } = await shell.run("echo hi");

  expect(output.replace(FISH_OWN, "")).toBe("hi\r\n");
  expect(shell.text(0).split("\u001B]0;mine-echo hi\u0007")).toHaveLength(2);
});

describe.each([{ name: "bash" }, { name: "zsh" }, { name: "dash" }])("$name (needs $name)", ({ name }) => {
  test.each(["echo 'abc", 'echo "abc\ndef', "echo `x", "if true", "foo (", "echo $(", "done", "f() {"])(
    "[BLK-16] an incomplete or wrong command is an error at once: %s",
    async (text) => {
      const shell = await liveShell(`/usr/bin/${name}`);

      const { marks, exitCode, output } = await shell.run(text);

      expect({ marks, failed: exitCode !== 0, said: output.length > 0 }).toEqual({
        marks: ONE_BLOCK,
        failed: true,
        said: true,
      });
      expect(await shell.run("echo on")).toMatchObject({ marks: ONE_BLOCK, exitCode: 0, output: "on\r\n" });
    },
  );

  test.each([
    { text: "echo a; exit 3; echo b", code: 3 },
    { text: "exec sh -c 'echo a; exit 4'", code: 4 },
    { text: "echo a; set -e; sh -c 'exit 5'; echo b", code: 5 },
  ])("[BLK-17] a command that ends the shell ends with it: $text", async ({ text, code }) => {
    const shell = await liveShell(`/usr/bin/${name}`);

    const { marks, output } = await shell.run(text);

    expect({ marks, output: output.replace("exit\r\n", ""), exit: shell.exit?.exitCode }).toEqual({
      marks: "command_start",
      output: "a\r\n",
      exit: code,
    });
  });

  test("[BLK-19] what a command changes stays, and it sees the status of the one before", async () => {
    const shell = await liveShell(`/usr/bin/${name}`, {
      home: { ".bashrc": RC, ".zshrc": RC, "env.sh": RC },
      env: name === "dash" ? { ENV: "env.sh" } : {},
    });

    await shell.run("cd /usr/lib; v='a b'; alias two='echo 2'; f() { echo f; }");
    expect(await shell.run('pwd; echo "$v"; two; f; mine')).toMatchObject({
      output: "/usr/lib\r\na b\r\n2\r\nf\r\nmine\r\n",
      cwd: "/usr/lib",
    });
    await shell.run("sh -c 'exit 9'");
    expect((await shell.run("echo $?")).output).toBe("9\r\n");
    expect((await shell.run("alias three='echo 3'\nthree")).output).toBe("3\r\n");
  });

  test("[BLK-21] Ctrl+C ends the command with 130, and nothing after it runs", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);
    const from = shell.items.length;

    await shell.submit("sh -c 'echo begun; exec sleep 100'; echo not");
    await shell.until((it) => it.text(from).includes("begun\r\n"));
    shell.write("\u0003");
    const { marks, exitCode, output } = await shell.finished(from);

    expect({ marks, exitCode }).toEqual({ marks: ONE_BLOCK, exitCode: 130 });
    expect(output).toMatch(/^begun\r\n\^C/);
    expect(output).not.toContain("not");
  });

  test("[BLK-22] what a background job prints later is not the block's", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);

    const ran = await shell.run("mkfifo p; { read x < p; echo lat$x; } & echo now");
    const idle = shell.items.length;
    await writeFile(join(shell.place.home, "p"), "er\n");
    await shell.until((it) => it.text(idle).includes("later\r\n"));
    const next = await shell.run("echo next");

    expect(withoutJobs(ran.output)).toBe("now\r\n");
    expect(withoutJobs(next.output)).toBe("next\r\n");
  });

  test.each(["a b", "it's", 'q"$(x)`y`', "new\nline", "é", "-", "\\", "~", "*"])(
    "[BLK-18, BLK-5] a command runs in the directory it names: %j",
    async (directory) => {
      const shell = await liveShell(`/usr/bin/${name}`);
      const cwd = join(shell.place.home, directory);
      await mkdir(cwd);

      const ran = await shell.run("pwd", cwd);

      expect(ran).toMatchObject({ marks: ONE_BLOCK, exitCode: 0, cwd });
      expect(ran.output).toBe(`${Buffer.from(cwd).toString("latin1").replace("\n", "\r\n")}\r\n`);
      await shell.run("cd ..");
      expect(await shell.run("true", directory)).toMatchObject({ marks: ONE_BLOCK, exitCode: 0, cwd });
    },
  );

  test("[BLK-18] where the directory can't be entered the command doesn't run", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);

    const ran = await shell.run("echo ran", "/no/such");

    expect(ran).toMatchObject({ marks: ONE_BLOCK, exitCode: 1 });
    expect(ran.output).toContain("/no/such");
    expect(ran.output).not.toContain("ran\r\n");
    expect((await shell.run("pwd")).output).toBe(`${shell.place.home}\r\n`);
  });

  test("[BLK-14] a command runs in a process group of its own, in the foreground", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);

    const { output } = await shell.run("sh -c 'cut -d\" \" -f5,8 /proc/$$/stat'");
    const [group, foreground] = output.trim().split(" ");

    expect(group).toBe(foreground);
    expect(group).not.toBe(String(shell.pid));
  });

  test("[BLK-14] a command reads what is typed, line by line and echoed", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);
    const from = shell.items.length;

    await shell.submit("stty -a | grep -ow -e '-*icanon' -e '-*echo' -e '-*isig'; read x; echo \"<$x>\"");
    await shell.until((it) => it.text(from).includes("echo\r\n"));
    shell.write("typed\r");

    expect((await shell.finished(from)).output).toBe("isig\r\nicanon\r\necho\r\ntyped\r\n<typed>\r\n");
  });

  test("[BLK-7] a person sees the command, not how the shell was told", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);

    const { screen } = await shell.run("echo one\necho two");

    expect(screen).toContain("echo one\r\necho two");
    expect(screen).not.toContain("__ss");
  });
});

const RC = "alias mine='echo mine'\n";

test.each(["echo 'abc", "if true", "echo (", "end", "echo a \\"])(
  "[BLK-16] fish: an incomplete or wrong command is refused: %s (needs fish)",
  async (text) => {
    const shell = await liveShell("/usr/bin/fish");

    await expect(shell.run(text)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await shell.run("echo on")).toMatchObject({ marks: ONE_BLOCK, exitCode: 0 });
  },
);

test.each(["a b", "it's", 'q"$(x)`y`', "é", "-", "\\"])(
  "[BLK-18] fish: a command runs in the directory it names: %j (needs fish)",
  async (directory) => {
    const shell = await liveShell("/usr/bin/fish");
    const cwd = join(shell.place.home, directory);
    await mkdir(cwd);

    expect(await shell.run("echo in\n# comment", cwd)).toMatchObject({ marks: ONE_BLOCK, exitCode: 0, cwd });
    const failed = await shell.run("echo ran", "/no/such");
    expect(failed).toMatchObject({ marks: ONE_BLOCK, exitCode: 1, cwd });
    expect(failed.output).not.toContain("ran\r\n");
  },
);

test("[BLK-21] fish: Ctrl+C ends the command with 130 (needs fish)", async () => {
  const shell = await liveShell("/usr/bin/fish");
  const from = shell.items.length;

  await shell.submit("sh -c 'echo begun; exec sleep 100'; echo not");
  await shell.until((it) => it.text(from).includes("begun\r\n"));
  shell.write("\u0003");

  expect(await shell.finished(from)).toMatchObject({ marks: ONE_BLOCK, exitCode: 130 });
});

test("[BLK-17] fish: a command that ends the shell ends with it (needs fish)", async () => {
  const shell = await liveShell("/usr/bin/fish");

  const { marks } = await shell.run("exit 3");

  expect(marks).toMatch(/^command_start/);
  expect(shell.exit?.exitCode).toBe(3);
});
