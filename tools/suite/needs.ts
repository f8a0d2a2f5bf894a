/**
 * Programs that single tests and whole folders of tests need beyond Node and a POSIX shell. A test whose program is
 * missing is skipped, and the summary says what to install. Rule HSE-23 in docs/spec/house.md.
 */
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

type Program = {
  readonly program: string;
  readonly package: string;
  /** Programs that do as well: other distributions have no package of that name. */
  readonly others?: readonly string[];
};

/** By the name that a title says in `(needs fish)`: where the program is looked for, and the Debian package that has it. */
const PROGRAMS: Readonly<Record<string, Program>> = {
  "apt-get": { program: "apt-get", package: "apt" },
  bash: { program: "bash", package: "bash" },
  bc: { program: "bc", package: "bc" },
  chromium: {
    program: "chromium-headless-shell",
    package: "chromium-headless-shell",
    others: ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"],
  },
  curl: { program: "curl", package: "curl" },
  dash: { program: "dash", package: "dash" },
  dpkg: { program: "dpkg", package: "dpkg" },
  dtach: { program: "dtach", package: "dtach" },
  expect: { program: "expect", package: "expect" },
  fish: { program: "fish", package: "fish" },
  gdb: { program: "gdb", package: "gdb" },
  git: { program: "git", package: "git" },
  gpg: { program: "gpg", package: "gnupg" },
  ip: { program: "ip", package: "iproute2" },
  less: { program: "less", package: "less" },
  ssh: { program: "ssh", package: "openssh-client" },
  "ssh-keygen": { program: "ssh-keygen", package: "openssh-client" },
  sshd: { program: "sshd", package: "openssh-server" },
  more: { program: "more", package: "util-linux" },
  openssl: { program: "openssl", package: "openssl" },
  perl: { program: "perl", package: "perl-base" },
  pgrep: { program: "pgrep", package: "procps" },
  pinentry: { program: "pinentry-curses", package: "pinentry-curses" },
  prlimit: { program: "prlimit", package: "util-linux" },
  ps: { program: "ps", package: "procps" },
  python3: { program: "python3", package: "python3" },
  screen: { program: "screen", package: "screen" },
  script: { program: "script", package: "bsdutils" },
  setpriv: { program: "setpriv", package: "util-linux" },
  sqlite3: { program: "sqlite3", package: "sqlite3" },
  sudo: { program: "sudo", package: "sudo" },
  tmux: { program: "tmux", package: "tmux" },
  unshare: { program: "unshare", package: "util-linux" },
  useradd: { program: "useradd", package: "passwd" },
  vim: { program: "vim", package: "vim" },
  watch: { program: "watch", package: "procps" },
  whiptail: { program: "whiptail", package: "whiptail" },
  zsh: { program: "zsh", package: "zsh" },
};

export const PROGRAM_NAMES: readonly string[] = Object.keys(PROGRAMS);

/** What a title may say besides: what every machine has, and conditions under which the test runs at all. */
const OTHERS: ReadonlySet<string> = new Set([
  "cat",
  "node",
  "root",
  "a checkout that others may enter",
  "an open checkout",
  "an open checkout of root's",
  "mount namespaces",
  "network namespaces",
]);

/** New namespaces for this account, as a guard has them. No package gives them. */
export const NAMESPACES = "namespaces";

/** What every guard is made with. */
const GUARD = ["perl", NAMESPACES];

/** Folders and files whose every test needs a program, by how their paths begin. */
export const BY_PATH: Readonly<Record<string, readonly string[]>> = {
  "test/web/": ["chromium"],
  "test/prompts/": ["python3"],
  "test/channels/e2e-": ["python3"],
  "test/channels/secrets.test.ts": ["python3"],
  "test/approvals/typing.test.ts": ["python3"],
  "test/control/credentials.test.ts": ["python3"],
  "test/commands/asked.test.ts": ["perl"],
  "test/control/left-running.test.ts": ["perl"],
  "test/control/stop-load.test.ts": ["perl", "python3"],
  "test/guard/agent-program.test.ts": GUARD,
  "test/guard/automation.test.ts": [...GUARD, "dtach", "expect", "python3", "screen", "tmux"],
  "test/guard/hostile.test.ts": [...GUARD, "curl", "python3"],
  "test/guard/needs-open.test.ts": GUARD,
  "test/guard/peers.test.ts": [...GUARD, "curl", "python3"],
  "test/guard/policy.test.ts": GUARD,
  "test/guard/programs.test.ts": [...GUARD, "python3"],
  "test/guard/stopping.test.ts": [...GUARD, "python3"],
  "src/host/exact-run.test.ts": ["dash"],
  "src/host/guard/guard.test.ts": GUARD,
  "src/host/terminal/launcher.test.ts": ["python3"],
  "src/host/terminal/probe/probe.test.ts": ["python3"],
  "src/host/terminal/probe/programs.test.ts": ["python3"],
  "src/host/terminal/prompts.test.ts": ["python3"],
  "src/host/terminal/shells/submission.test.ts": ["python3"],
  "src/host/terminal/stop-inside.test.ts": ["perl"],
  "src/host/terminal/stop-processes.test.ts": ["perl"],
  "src/host/terminal/stop-shells.test.ts": ["perl"],
  "src/host/terminal/sweep.test.ts": ["perl"],
};

/** Where programs of the system lie that an ordinary user's PATH leaves out. */
const SYSTEM_PATHS = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** What a test needs, by its file and its title with those of the suites around it. */
export function needsOf(file: string, title: string): string[] {
  const byPath = Object.entries(BY_PATH).flatMap(([begin, names]) => (file.startsWith(begin) ? names : []));
  return [...byPath, ...wordsOf(title).filter((it) => Object.hasOwn(PROGRAMS, it) || it === NAMESPACES)];
}

/** What a title says in vain: by a word that is unknown here, or can't be read, no test would ever be skipped. */
export function unknownNeeds(title: string): string[] {
  const unknown = wordsOf(title).filter((it) => !Object.hasOwn(PROGRAMS, it) && it !== NAMESPACES && !OTHERS.has(it));
  const unreadable = [...title.replaceAll(READABLE, "").matchAll(LIKE_A_NEED)].map(([text]) => text);
  return [...unknown, ...unreadable];
}

const READABLE = /\(needs ([^()]*[^()\s][^()]*)\)/g;
/** `(needs fish (3.6))`, `(needs: fish)`, `[Needs fish]`, `(needs)`, and one without its end. */
const LIKE_A_NEED = /[([{]\s*needs?\b(?:[^()]|\([^()]*\))*\)?/gi;

function wordsOf(title: string): string[] {
  const words = [...title.matchAll(READABLE)].flatMap(([, said = ""]) => said.split(/,| and /));
  return words.map((it) => it.trim()).filter((it) => it !== "");
}

/**
 * The programs alone, read from a file's source before anything runs. In a title that is made of a table's rows,
 * `(needs $shell)`, the rows are the strings of the file that name a program.
 */
export function needsInSource(file: string, source: string): string[] {
  const hasRows = /\(needs [^()]*\$/.test(source);
  const rows = [...source.matchAll(/["'`]([\w-]+)["'`]/g)].flatMap(([, word = ""]) => (hasRows ? [word] : []));
  return [...new Set([...needsOf(file, source), ...rows])].filter((it) => Object.hasOwn(PROGRAMS, it));
}

export function isMissing(name: string): boolean {
  if (name === NAMESPACES) return (areClosed ??= !canMakeNamespaces());
  return programPath(name) === undefined;
}

/** Where the program lies, or another that does as well. */
export function programPath(name: string): string | undefined {
  const { program = name, others = [] } = PROGRAMS[name] ?? {};
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_PATHS].filter((folder) => folder !== "");
  return [program, ...others].flatMap((it) => folders.map((folder) => join(folder, it))).find(isExecutable);
}

/** Of this process's account on this machine, which doesn't change while it runs. */
let areClosed: boolean | undefined;

/** Without a line of our product: a guard that is broken must not be taken for a machine that allows none. */
function canMakeNamespaces(): boolean {
  const flags = process.getuid?.() === 0 ? "-m" : "-Urm";
  return spawnSync("unshare", [flags, "true"], { stdio: "ignore" }).status === 0;
}

export function packageOf(name: string): string {
  return PROGRAMS[name]?.package ?? name;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
