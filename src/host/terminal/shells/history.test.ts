import { expect, test } from "vitest";
import { liveShell } from "./live-shell.contract.ts";

const LIST = { bash: "history", zsh: "fc -l 1" };

/** What the shell remembers of these commands. */
async function remembered(name: "bash" | "zsh", rc: string, texts: readonly string[]): Promise<readonly string[]> {
  const shell = await liveShell(`/usr/bin/${name}`, { home: { ".bashrc": rc, ".zshrc": rc } });
  for (const text of texts) await shell.run(text);
  const { output } = await shell.run(LIST[name]);
  return output
    .split("\r\n")
    .map((line) => line.replace(/^ *\d+\*? +/, ""))
    .filter((line) => line !== "" && !line.endsWith(LIST[name]));
}

test.each([{ name: "bash" }, { name: "zsh" }] as const)(
  "[BLK-20] $name remembers the command itself, once (needs $name)",
  async ({ name }) => {
    const texts = ["echo a", "# note", "echo 'b c' \"$HOME\" \\\\", "echo d\n\n", "-x", "  ", ""];

    expect(await remembered(name, "", texts)).toEqual([
      "echo a",
      "# note",
      "echo 'b c' \"$HOME\" \\\\",
      "echo d",
      "-x",
    ]);
  },
);

test("[BLK-20] bash keeps a command of several lines as one entry", async () => {
  const shell = await liveShell("/usr/bin/bash");
  await shell.run("echo a\necho 'b\nc'");

  expect((await shell.run("history | head -1; fc -ln -2 -2")).output).toContain("echo a\r\necho 'b\r\nc'\r\n");
});

test.each([
  {
    rc: "HISTCONTROL=ignoredups",
    texts: ["echo a", "echo a", "echo b", "echo a"],
    kept: ["echo a", "echo b", "echo a"],
  },
  { rc: "HISTCONTROL=erasedups", texts: ["echo a", "echo b", "echo a"], kept: ["echo b", "echo a"] },
  { rc: "HISTCONTROL=ignorespace", texts: [" echo a", "echo b"], kept: ["echo b"] },
  { rc: "HISTCONTROL=", texts: [" echo a", "echo b"], kept: [" echo a", "echo b"] },
  { rc: "HISTIGNORE='echo a*'", texts: ["echo a b", "echo b"], kept: ["echo b"] },
  { rc: "set +o history", texts: ["echo a"], kept: [] },
])("[BLK-20] bash's own rules hold: $rc", async ({ rc, texts, kept }) => {
  expect((await remembered("bash", rc, texts)).map((line) => line.trimEnd())).toEqual(kept.map((line) => line.trim()));
});

test.each([
  { rc: "setopt hist_ignore_all_dups", texts: ["echo a", "echo b", "echo a"], kept: ["echo b", "echo a"] },
  { rc: "setopt hist_ignore_space", texts: [" echo a", "echo b"], kept: ["echo b"] },
])("[BLK-20] zsh's own rules hold: $rc (needs zsh)", async ({ rc, texts, kept }) => {
  expect(await remembered("zsh", rc, texts)).toEqual(kept);
});

test("[BLK-20] fish remembers the command itself (needs fish)", async () => {
  const shell = await liveShell("/usr/bin/fish");
  await shell.run("echo a");
  await shell.run("echo b\necho c");

  expect((await shell.run("builtin history search --max 3")).output).toContain("echo b\r\necho c\r\necho a\r\n");
});
