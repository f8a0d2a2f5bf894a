/**
 * Programs that single tests and whole folders of tests need beyond Node and a POSIX shell. A test whose program is
 * missing is skipped, and the summary says what to install. Rule HSE-23 in docs/spec/house.md.
 */
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** By the name that a title says in `(needs fish)`: where the program is looked for, and the Debian package that has it. */
const PROGRAMS: Readonly<Record<string, { readonly program: string; readonly package: string }>> = {
  bc: { program: "bc", package: "bc" },
  chromium: { program: "chromium-headless-shell", package: "chromium-headless-shell" },
  curl: { program: "curl", package: "curl" },
  dtach: { program: "dtach", package: "dtach" },
  expect: { program: "expect", package: "expect" },
  fish: { program: "fish", package: "fish" },
  gdb: { program: "gdb", package: "gdb" },
  git: { program: "git", package: "git" },
  gpg: { program: "gpg", package: "gnupg" },
  ip: { program: "ip", package: "iproute2" },
  less: { program: "less", package: "less" },
  ssh: { program: "ssh", package: "openssh-client" },
  sshd: { program: "sshd", package: "openssh-server" },
  openssl: { program: "openssl", package: "openssl" },
  perl: { program: "perl", package: "perl-base" },
  pinentry: { program: "pinentry-curses", package: "pinentry-curses" },
  ps: { program: "ps", package: "procps" },
  python3: { program: "python3", package: "python3" },
  screen: { program: "screen", package: "screen" },
  script: { program: "script", package: "bsdutils" },
  sqlite3: { program: "sqlite3", package: "sqlite3" },
  sudo: { program: "sudo", package: "sudo" },
  tmux: { program: "tmux", package: "tmux" },
  unshare: { program: "unshare", package: "util-linux" },
  vim: { program: "vim", package: "vim" },
  whiptail: { program: "whiptail", package: "whiptail" },
  zsh: { program: "zsh", package: "zsh" },
};

export const PROGRAM_NAMES: readonly string[] = Object.keys(PROGRAMS);

/** Folders and files whose every test needs a program, by how their paths begin. */
const BY_PATH: Readonly<Record<string, readonly string[]>> = {
  "test/web/": ["chromium"],
  "test/prompts/": ["python3"],
  "test/channels/e2e-": ["python3"],
  "test/channels/secrets.test.ts": ["python3"],
  "test/approvals/typing.test.ts": ["python3"],
  "test/control/credentials.test.ts": ["python3"],
  "test/control/stop-load.test.ts": ["python3"],
  "test/guard/automation.test.ts": ["dtach", "expect", "python3", "screen", "tmux"],
  "test/guard/peers.test.ts": ["python3"],
  "test/guard/programs.test.ts": ["python3"],
  "test/guard/stopping.test.ts": ["python3"],
  "src/host/terminal/launcher.test.ts": ["python3"],
  "src/host/terminal/probe/probe.test.ts": ["python3"],
  "src/host/terminal/probe/programs.test.ts": ["python3"],
  "src/host/terminal/prompts.test.ts": ["python3"],
  "src/host/terminal/shells/submission.test.ts": ["python3"],
};

/** Where programs of the system lie that an ordinary user's PATH leaves out. */
const SYSTEM_PATHS = ["/usr/local/sbin", "/usr/sbin", "/sbin"];

/** The programs that a test needs, by its file and its title with those of the suites around it. */
export function needsOf(file: string, title: string): string[] {
  const byPath = Object.entries(BY_PATH).flatMap(([begin, names]) => (file.startsWith(begin) ? names : []));
  const words = [...title.matchAll(/\(needs ([^()]*)\)/g)].flatMap(([, said = ""]) => said.split(/,| and /));
  return [...byPath, ...words.map((it) => it.trim()).filter((it) => Object.hasOwn(PROGRAMS, it))];
}

/**
 * The same, read from a file's source before anything runs. In a title that is made of a table's rows, `(needs $shell)`,
 * the rows are the strings of the file that name a program.
 */
export function needsInSource(file: string, source: string): string[] {
  const hasRows = /\(needs [^()]*\$/.test(source);
  const rows = [...source.matchAll(/["'`](\w+)["'`]/g)].flatMap(([, word = ""]) => (hasRows ? [word] : []));
  return [...new Set([...needsOf(file, source), ...rows.filter((it) => Object.hasOwn(PROGRAMS, it))])];
}

export function isMissing(name: string): boolean {
  const program = PROGRAMS[name]?.program ?? name;
  const folders = [...(process.env.PATH ?? "").split(delimiter), ...SYSTEM_PATHS];
  return !folders.some((folder) => folder !== "" && isExecutable(join(folder, program)));
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
