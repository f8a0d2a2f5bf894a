/**
 * How a user's shell is started so that it tells us where its prompts and commands begin and end.
 *
 * The user's own startup files run as ever; ours only adds hooks. The nonce is read from a file that the shell empties
 * before anything of the user's runs, and stays in an unexported variable. Rules BLK-9..BLK-14 in docs/spec/blocks.md.
 */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { familyOf, type ShellFamily } from "./family.ts";
import { isToldShell, prepareState } from "./inquiry.ts";
import { fishQuoted, posixQuoted } from "./quoting.ts";
import { commandsOf } from "./submission.ts";

export type { ShellFamily } from "./family.ts";
export { submissionOf, type Submission } from "./submission.ts";

export type ShellLaunch = {
  readonly family: ShellFamily;
  readonly file: string;
  readonly args: readonly string[];
  /** The child's whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly integrated: boolean;
};

export type ShellOptions = {
  readonly shell: string;
  /** Private (0700), of this session, ours to write in. */
  readonly directory: string;
  readonly nonce: string;
  /** Without ours. */
  readonly env: Readonly<Record<string, string>>;
};

export async function prepareShell(options: ShellOptions): Promise<ShellLaunch> {
  const family = familyOf(options.shell);
  const { directory } = options;
  await mkdir(commandsOf(directory), { mode: 0o700 });
  if (isToldShell(family)) {
    await writeFile(join(directory, "key"), `${options.nonce}\n`, { mode: 0o600 });
    await prepareState(family, directory);
  }
  return { family, file: options.shell, ...(await PREPARE[family](options)) };
}

type Prepared = Pick<ShellLaunch, "args" | "env" | "integrated">;

const PREPARE: Readonly<Record<ShellFamily, (options: ShellOptions) => Promise<Prepared>>> = {
  bash: prepareBash,
  zsh: prepareZsh,
  fish: prepareFish,
  dash: prepareDash,
  other: async ({ env }) => ({ args: [], env, integrated: false }),
};

async function prepareBash({ directory, env }: ShellOptions): Promise<Prepared> {
  const rc = join(directory, "bashrc");
  const lines = [
    takeKey(directory),
    await script("bash.sh"),
    "if [ -r ~/.bashrc ]; then . ~/.bashrc; fi",
    ARM,
    "__ss_new=1",
  ];
  await write(rc, lines);
  return { args: ["--rcfile", rc, "-i"], env, integrated: true };
}

const ARM = "__sidestick_arm";

async function prepareZsh({ directory, env }: ShellOptions): Promise<Prepared> {
  const folder = join(directory, "zsh");
  await mkdir(folder, { mode: 0o700, recursive: true });
  const dot = env["ZDOTDIR"];
  await write(join(folder, ".zshenv"), [
    takeKey(directory),
    `__ss_dot=${posixQuoted(dot ?? "")} __ss_dot_type=${dot === undefined ? "" : "scalar-export"}`,
    await script("zsh.zsh"),
    ...chained(".zshenv"),
    "__sidestick_ours",
  ]);
  await write(join(folder, ".zprofile"), [...chained(".zprofile"), "__sidestick_ours"]);
  await write(join(folder, ".zshrc"), [
    // A system-wide zshrc may have put the history beside our files.
    `if [[ \${HISTFILE-} == $ZDOTDIR/* ]]; then HISTFILE=\${__ss_dot:-$HOME}/\${HISTFILE#$ZDOTDIR/}; fi`,
    ...chained(".zshrc"),
    "__sidestick_install",
    "__ss_new=1",
  ]);
  return { args: ["-i"], env: { ...env, ZDOTDIR: folder }, integrated: true };
}

function chained(name: string): readonly string[] {
  const file = `"\${ZDOTDIR:-$HOME}/${name}"`;
  return ["__sidestick_theirs", `if [[ -r ${file} ]]; then . ${file}; fi`];
}

async function prepareFish({ directory, env }: ShellOptions): Promise<Prepared> {
  const key = fishQuoted(join(directory, "key"));
  const init = join(directory, "init.fish");
  await write(init, [
    `read -g __ss_k <${key}`,
    `echo -n >${key}`,
    await script("fish.fish"),
    `set -g __ss_new ${fishQuoted(join(directory, "state"))}`,
  ]);
  return { args: ["-i", "-C", `source ${fishQuoted(init)}`], env, integrated: true };
}

async function prepareDash({ directory, env }: ShellOptions): Promise<Prepared> {
  const rc = join(directory, "shrc");
  const theirs = env["ENV"];
  await write(rc, [
    takeKey(directory),
    theirs === undefined ? "unset ENV" : `ENV=${posixQuoted(theirs)}`,
    await script("dash.sh"),
    "__sidestick_end",
    // After ours: an error in it would end the reading of both. Without a slash it would be looked for in PATH.
    'if [ -r "${ENV-}" ]; then case $ENV in */*) . "$ENV" ;; *) . "./$ENV" ;; esac; fi',
    "__sidestick_end",
    String.raw`\. "$__ss"/state`,
  ]);
  return { args: ["-i"], env: { ...env, ENV: rc }, integrated: true };
}

/** For bash, zsh and dash: reads the nonce and empties its file, without running a program. */
function takeKey(directory: string): string {
  const key = posixQuoted(join(directory, "key"));
  return `IFS= read -r __ss_k <${key}; : >|${key}; __ss=${posixQuoted(directory)}`;
}

async function write(path: string, lines: readonly string[]): Promise<void> {
  await writeFile(path, `${lines.join("\n")}\n`, { mode: 0o600 });
}

function script(name: string): Promise<string> {
  return readFile(new URL(name, import.meta.url), "utf8");
}
