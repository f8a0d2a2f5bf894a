import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { eventually } from "../../../../test/support/eventually.ts";
import { type LiveShell, liveShell } from "./live-shell.contract.ts";

const ONE_BLOCK = "command_start command_done prompt_start prompt_end";
const SHELLS = [{ name: "bash" }, { name: "zsh" }, { name: "fish" }, { name: "dash" }];
const POSIX = SHELLS.filter(({ name }) => name !== "fish");

describe("[BLK-9] the user's startup files", () => {
  test("[BLK-9] bash reads ~/.bashrc", async () => {
    const shell = await liveShell("/usr/bin/bash", {
      home: { ".bashrc": "FROM=rc\nPS1='mine> '\nPROMPT_COMMAND='seen=$?'\nreturn 0\nFROM=late\n" },
    });

    expect(shell.text()).toContain("mine> ");
    await shell.run("sh -c 'exit 8'");
    expect((await shell.run("echo $FROM $seen")).output).toBe("rc 8\r\n");
  });

  test("[BLK-9] zsh reads its files in order, each with the user's own ZDOTDIR (needs zsh)", async () => {
    const shell = await liveShell("/usr/bin/zsh", {
      args: ["-l"],
      home: {
        ".zshenv": "ZDOTDIR=$HOME/z\ntrail=(env)\n",
        "z/.zprofile": "trail+=(profile $ZDOTDIR:t)\n",
        "z/.zshrc": "trail+=(rc $ZDOTDIR:t ${(%):-%x:t})\nprecmd_functions=()\nPS1='mine> '\n",
        "z/.zlogin": "trail+=(login $ZDOTDIR:t)\n",
      },
    });

    expect(shell.text()).toContain("mine> ");
    expect((await shell.run("print $trail ${ZDOTDIR:t} $+HISTFILE; env | grep -c ZDOTDIR")).output).toMatch(
      /^env profile z rc z \S+ login z z 0\r\n0\r\n$/,
    );
  });

  test.each<{ env: Readonly<Record<string, string>>; said: string }>([
    { env: {}, said: "unset\r\n" },
    { env: { ZDOTDIR: "/nowhere/x y" }, said: "/nowhere/x y\r\n" },
  ])("[BLK-9] zsh and its children see ZDOTDIR as it was: $env (needs zsh)", async ({ env, said }) => {
    const shell = await liveShell("/usr/bin/zsh", { env });

    expect((await shell.run("sh -c 'echo ${ZDOTDIR-unset}'")).output).toBe(said);
  });

  test("[BLK-9] fish reads its configuration (needs fish)", async () => {
    const shell = await liveShell("/usr/bin/fish", {
      home: { ".config/fish/config.fish": "set -g from rc\nfunction fish_prompt; echo -n 'mine> '; end\n" },
    });

    expect(shell.text()).toContain("mine> ");
    expect((await shell.run("echo $from")).output).toContain("rc\r\n");
  });

  test("[BLK-9] dash reads $ENV and passes it on (needs dash)", async () => {
    const shell = await liveShell("/usr/bin/dash", { home: { rc: "FROM=rc\nPS1='mine> '\n" }, env: { ENV: "rc" } });

    expect(shell.text()).toBe("mine> ");
    expect((await shell.run("echo $FROM; sh -c 'echo $ENV'")).output).toBe("rc\r\nrc\r\n");
  });

  test("[BLK-9] an error in a startup file leaves the marks (needs dash)", async () => {
    const shell = await liveShell("/usr/bin/dash", { home: { rc: "echo 'open\n" }, env: { ENV: "rc" } });

    expect(await shell.run("echo a")).toMatchObject({ marks: ONE_BLOCK, output: "a\r\n" });
  });
});

describe.each(SHELLS)("$name (needs $name)", ({ name }) => {
  test("[BLK-10] no child finds the nonce in its environment, the shell's or a file", async () => {
    const exporting = "export PS1 PS0 PROMPT_COMMAND 2>/dev/null\n";
    const shell = await liveShell(`/usr/bin/${name}`, {
      home: { ".bashrc": `set -a\n${exporting}`, ".zshrc": `set -a\n${exporting}`, rc: `set -a\n${exporting}` },
      env: name === "dash" ? { ENV: "rc" } : {},
    });

    await shell.run("cd /tmp");
    const { output } = await shell.run(
      "env; cat /proc/self/environ; sh -c 'cat /proc/$PPID/environ /proc/$PPID/cmdline'",
    );

    expect(output).toContain("HOME=");
    expect(output).not.toContain(shell.place.nonce);
    expect(await filesWith(shell.place.directory, shell.place.nonce)).toEqual([]);
    expect(await filesWith(shell.place.home, shell.place.nonce)).toEqual([]);
  });

  test("[BLK-2] what a program prints is no mark", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);
    const forged = [
      String.raw`\033]7717;00000000000000000000000000000000;D;9;/x\007`,
      String.raw`\033]7717;;D;9;/x\007`,
      String.raw`\033]133;D;9\007\033]133;A\007\033]133;B\007`,
      String.raw`\033]633;D;9\007\033]633;A\007`,
      "__FWS_PROMPT__ ts=1 cwd_b64=L3g=",
    ].join("");

    const ran = await shell.run(`printf '${forged}'; sh -c 'exit 2'`);

    expect(ran).toMatchObject({ marks: ONE_BLOCK, exitCode: 2, cwd: shell.place.home });
    expect(ran.output).toContain(forged.replaceAll("\\033", "\u001B").replaceAll("\\007", "\u0007"));
  });
});

describe("[BLK-11] prompts that others write", () => {
  test.each([
    "PS1='new> '",
    "PROMPT_COMMAND='PS1=\"theme $? > \"'",
    "PROMPT_COMMAND=(true 'PS1=\"theme> \"')",
    'PROMPT_COMMAND="true; ${PROMPT_COMMAND[*]}"',
    "unset PROMPT_COMMAND",
    "unset PROMPT_COMMAND PS0; PS1='bare> '",
    "unset PS1",
    "PS0='running '",
    'PS1="(venv) $PS1"',
    "trap 'true' DEBUG",
    "set +o history; unset HISTIGNORE",
    "export LC_ALL=C; cd $'/tmp'",
  ])("[BLK-11] bash: %s", async (text) => {
    const shell = await liveShell("/usr/bin/bash");

    expect(await shell.run(text)).toMatchObject({ marks: ONE_BLOCK, exitCode: 0 });
    expect(await shell.run("echo a; (exit 3)")).toMatchObject({ marks: ONE_BLOCK, exitCode: 3 });
    expect(await shell.run("echo b")).toMatchObject({ marks: ONE_BLOCK, exitCode: 0 });
  });

  test("[BLK-11] bash: a command that a person typed ends too when PROMPT_COMMAND is gone", async () => {
    const shell = await liveShell("/usr/bin/bash");

    expect(await typed(shell, "unset PROMPT_COMMAND; (exit 7)")).toMatchObject({ marks: ONE_BLOCK, exitCode: 7 });
    expect(await typed(shell, "(exit 8)")).toMatchObject({ marks: ONE_BLOCK, exitCode: 8 });
  });

  test("[BLK-11] bash: without promptvars the prompt is unmarked, the blocks are not", async () => {
    const shell = await liveShell("/usr/bin/bash");
    const from = shell.items.length;

    await shell.submit("shopt -u promptvars");
    await shell.until((it) => kinds(it, from).length === 2 && it.text(from).endsWith("\u0007"));
    await shell.submit("echo a");
    await shell.until((it) => kinds(it, from).length > 3);

    expect(kinds(shell, from)).toEqual(["command_start", "command_done", "command_start", "command_done"]);
  });

  test("[BLK-11] bash: the prompt is shown as it was written, and marked once", async () => {
    const shell = await liveShell("/usr/bin/bash", { home: { ".bashrc": "PS1='$ '" } });

    await shell.run('PS1="(venv) $PS1"');
    await shell.run("true");

    expect((await shell.run("true")).screen).toBe("true\r\n\u001B[?2004l\r\u001B[?2004h(venv) $ ");
  });

  test.each([
    "precmd_functions=()",
    "precmd_functions=() preexec_functions=() zshaddhistory_functions=()",
    "precmd() { PS1='theme> ' }",
    "precmd_functions=(f); f() { print title }",
    "setopt prompt_subst; PS1='$(true)> '",
    "zle-line-init() { true }; zle -N zle-line-init",
    "setopt ksh_arrays sh_word_split no_multibyte",
    "alias -g print=false local=false; alias print=false",
  ])("[BLK-11] zsh: %s (needs zsh)", async (text) => {
    const shell = await liveShell("/usr/bin/zsh");

    const from = shell.items.length;
    await shell.submit(text);
    await shell.until((it) => it.text(from).includes("command_done") || kinds(it, from).includes("prompt_start"));
    await shell.until((it) => it.text(from).endsWith("\u001B[?2004h"));
    const next = shell.items.length;
    await shell.submit("echo a; (exit 3)");
    await shell.until((it) => it.text(next).endsWith("\u001B[?2004h"));

    expect(kinds(shell, from).filter((kind) => kind !== "prompt_end")).toEqual([
      "command_start",
      "command_done",
      "prompt_start",
      "command_start",
      "command_done",
      "prompt_start",
    ]);
  });

  test("[BLK-11] fish: a new prompt function takes only the mark of its end (needs fish)", async () => {
    const shell = await liveShell("/usr/bin/fish");
    const from = shell.items.length;

    await shell.submit("function fish_prompt; echo -n 'new> '; end");
    await shell.until((it) => kinds(it, from).length > 2);
    await shell.submit("sh -c 'exit 3'");
    await shell.until((it) => kinds(it, from).length > 5);

    const told = ["command_start", "command_done", "prompt_start"];
    expect(kinds(shell, from)).toEqual([...told, ...told]);
    expect(shell.items.findLast((item) => !(item instanceof Uint8Array))).toMatchObject({ exitCode: 3 });
  });
});

describe.each([
  ...["set -u", "set -f", "set -C", "IFS=ab", "unset HOME", "set -a"].flatMap((text) =>
    ["bash", "zsh", "dash"].map((name) => ({ name, text })),
  ),
  { name: "bash", text: "set -o posix" },
  { name: "bash", text: "set -e" },
  { name: "zsh", text: "set -e" },
  { name: "dash", text: "set -e" },
  { name: "bash", text: "shopt -s nocasematch extglob nullglob failglob" },
  { name: "bash", text: "exec >/dev/null; exec >/dev/tty" },
  { name: "bash", text: "alias builtin=false eval=false .=false local=false" },
  { name: "zsh", text: "setopt err_return no_unset warn_create_global" },
])("$name after $text (needs $name)", ({ name, text }) => {
  test("[BLK-12] commands are blocks as before", async () => {
    const shell = await liveShell(`/usr/bin/${name}`);

    await shell.run(text);
    expect(await shell.run("echo a")).toMatchObject({ marks: ONE_BLOCK, exitCode: 0, output: "a\r\n" });
    expect(await shell.run("cd /usr; echo b")).toMatchObject({ marks: ONE_BLOCK, cwd: "/usr", output: "b\r\n" });
  });
});

test.each(POSIX)("[BLK-10, BLK-12] $name: a trace shows no nonce and stays on (needs $name)", async ({ name }) => {
  const shell = await liveShell(`/usr/bin/${name}`);

  await shell.run("set -x");
  await shell.run("cd /usr");
  const ran = await shell.run("echo a; sh -c 'exit 3'");

  expect(ran).toMatchObject({ marks: ONE_BLOCK, exitCode: 3, cwd: "/usr" });
  expect(ran.output).toMatch(/\+[^\n]* echo a\r\na\r\n/);
  expect(shell.text()).not.toContain(shell.place.nonce);
});

test.each(POSIX)(
  "[BLK-12] $name: a status that set -e lets pass doesn't end the shell later (needs $name)",
  async ({ name }) => {
    const shell = await liveShell(`/usr/bin/${name}`);

    shell.write("set -e; ! true\r");
    await shell.until((it) => it.prompts > 1);

    expect(await shell.run("echo a")).toMatchObject({ marks: ONE_BLOCK, exitCode: 0, output: "a\r\n" });
  },
);

test.each(POSIX)(
  "[BLK-3] $name: an empty line and Ctrl+C at the prompt are no commands (needs $name)",
  async ({ name }) => {
    const shell = await liveShell(`/usr/bin/${name}`);

    shell.write("\r");
    await shell.until((it) => it.prompts > 1);
    shell.write("abc");
    await shell.until((it) => it.text().includes("abc"));
    // While they still draw, zsh and bash may swallow the signal, with or without us.
    await eventually(async () => expect(await readFile(`/proc/${shell.pid}/stat`, "utf8")).toMatch(/\) S /));
    shell.write("\u0003");
    await shell.until((it) => it.prompts > 2);

    expect(kinds(shell, 0)).not.toContain("command_start");
    expect(await shell.run("true")).toMatchObject({ marks: ONE_BLOCK, exitCode: 0 });
  },
);

test.each(POSIX)("[BLK-13] $name: no program and no subshell runs for a prompt (needs $name)", async ({ name }) => {
  const shell = await liveShell(`/usr/bin/${name}`);
  await shell.run("cd /usr");

  const before = await facts(shell.pid);
  for (let count = 0; count < 5; count += 1) await shell.run("true");
  await shell.run("cd /tmp");

  expect(await facts(shell.pid)).toBe(before);
});

/** Page faults of children that were waited for: grows with every one. */
async function facts(pid: number): Promise<string | undefined> {
  return (await readFile(`/proc/${pid}/stat`, "utf8")).split(") ")[1]?.split(" ")[8];
}

test.each(SHELLS)(
  "[BLK-27] $name: what is written for it is private, and a command's file goes (needs $name)",
  async ({ name }) => {
    const shell = await liveShell(`/usr/bin/${name}`);
    const { directory } = shell.place;
    const before = await readdir(directory);
    const from = shell.items.length;

    const submission = await shell.submit("true", "/usr");
    const modes = await Promise.all(
      (await readdir(directory)).map(async (file) => (await stat(join(directory, file))).mode & 0o077),
    );
    await shell.finished(from);
    submission.remove();

    expect(modes.filter((mode) => mode !== 0)).toEqual([]);
    expect(await readdir(directory)).toEqual(before);
  },
);

test("[BLK-13] a shell that isn't known starts as it is", async () => {
  const shell = await liveShell("/usr/bin/cat");
  await writeFile(join(shell.place.home, "x"), "");

  shell.write("hello\r");
  await shell.until((it) => it.text() === "hello\r\nhello\r\n");

  expect(shell.place.launch).toMatchObject({ family: "other", integrated: false, args: [] });
});

async function typed(shell: LiveShell, text: string) {
  const from = shell.items.length;
  shell.write(`${text}\r`);
  return shell.finished(from);
}

function kinds(shell: LiveShell, from: number): readonly string[] {
  return shell.items.slice(from).flatMap((item) => (item instanceof Uint8Array ? [] : [item.kind]));
}

async function filesWith(directory: string, needle: string): Promise<readonly string[]> {
  const files = await readdir(directory, { recursive: true, withFileTypes: true });
  const found = await Promise.all(
    files
      .filter((file) => file.isFile())
      .map(async (file) => {
        const path = join(file.parentPath, file.name);
        return (await readFile(path, "latin1")).includes(needle) ? [path] : [];
      }),
  );
  return found.flat();
}
