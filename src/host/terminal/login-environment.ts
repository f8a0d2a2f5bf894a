/**
 * The environment that a person has after a fresh login: from the account, /etc/environment and one run of the login
 * shell that starts from nothing. What this process was started with never passes: it may hold npm's settings,
 * our own and credentials. Rules BLK-29..BLK-31 in docs/spec/blocks.md.
 */
import { spawn } from "node:child_process";
import { access, readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { startedByHost } from "../orphans.ts";

export type Account = {
  readonly username: string;
  readonly homedir: string;
  readonly shell: string | null;
  readonly uid: number;
  /** Only of somebody else, whose files run with their rights. */
  readonly gid?: number | undefined;
};

export async function loginEnvironment(
  account: Account = userInfo(),
  maxMs = LOGIN_MAX_MS,
): Promise<Record<string, string>> {
  const identity = identityOf(account);
  const base = { ...(await systemSettings(account.uid)), ...identity };
  return { ...base, ...(await asLoginShellSays(base, account, maxMs)), ...identity };
}

function identityOf({ username, homedir, shell }: Account) {
  return {
    HOME: homedir,
    USER: username,
    LOGNAME: username,
    SHELL: shell === null || shell === "" ? "/bin/sh" : shell,
  };
}

/** What the system itself gives to every login. */
async function systemSettings(uid: number): Promise<Record<string, string>> {
  const runtime = `/run/user/${uid}`;
  const there = await access(runtime).then(
    () => true,
    () => false,
  );
  return {
    PATH: uid === 0 ? `/usr/local/sbin:/usr/local/bin:/usr/sbin:${PATH_TAIL}` : `/usr/local/bin:${PATH_TAIL}`,
    LANG: "C.UTF-8",
    ...(await settingsIn("/etc/default/locale")),
    ...(await settingsIn("/etc/environment")),
    ...(there ? { XDG_RUNTIME_DIR: runtime } : {}),
  };
}

const PATH_TAIL = "/usr/bin:/sbin:/bin";

async function settingsIn(file: string): Promise<Record<string, string>> {
  const text = await readFile(file, "utf8").catch(() => "");
  return parseSettings(text);
}

/** As pam_env reads it: `KEY=value`, with or without `export` and quotes. */
export function parseSettings(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const [, name, value] = /^\s*(?:export\s+)?([A-Za-z_]\w*)=(.*?)\s*$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) found[name] = value.replace(/^(["'])(.*)\1$/, "$2");
  }
  return found;
}

/** A profile that hangs must not hold up a session. */
export const LOGIN_MAX_MS = 3_000;
/** For what the shell had written when it ended. */
const DRAIN_MAX_MS = 200;
/** Before ours a profile may print what it likes. */
const BEGIN = "sidestick-environment-begins";

/** Nothing if the shell fails, takes too long or knows no `-lc`. */
function asLoginShellSays(
  base: Readonly<Record<string, string>>,
  { uid, gid }: Account,
  maxMs: number,
): Promise<Record<string, string>> {
  return new Promise((resolve) => {
    const child = spawn(base["SHELL"] ?? "/bin/sh", ["-lc", `echo ${BEGIN}; env -0`], {
      env: base,
      cwd: "/",
      ...(gid === undefined ? {} : { uid, gid }),
      // A session of its own: a profile that asks something finds no terminal, and all of it can be ended.
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const ours = child.pid === undefined ? undefined : startedByHost(child.pid);
    const chunks: Buffer[] = [];
    const finish = () => {
      clearTimeout(timer);
      child.stdout.destroy();
      resolve(parseEnvironment(Buffer.concat(chunks).toString()));
    };
    let timer = setTimeout(() => {
      if (child.pid !== undefined) killGroup(child.pid);
      finish();
    }, maxMs);
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.once("exit", () => {
      ours?.[Symbol.dispose]();
      // A daemon that the profile started may hold the pipe for ever.
      clearTimeout(timer);
      timer = setTimeout(finish, DRAIN_MAX_MS);
    });
    child.once("close", finish);
    child.once("error", finish);
  });
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // It ended by itself.
  }
}

/** Of one process, not of a login. */
const OF_THE_RUN = new Set(["_", "SHLVL", "PWD", "OLDPWD"]);

function parseEnvironment(output: string): Record<string, string> {
  const begin = output.lastIndexOf(`${BEGIN}\n`);
  if (begin < 0) return {};
  const entries = output.slice(begin + BEGIN.length + 1).split("\0");
  // What follows the last NUL was printed by a logout file.
  return Object.fromEntries(
    entries.slice(0, -1).flatMap((entry) => {
      const at = entry.indexOf("=");
      const name = entry.slice(0, at);
      return at <= 0 || OF_THE_RUN.has(name) ? [] : [[name, entry.slice(at + 1)]];
    }),
  );
}
