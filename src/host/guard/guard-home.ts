/**
 * Makes what a guard must close but that isn't there: a file that doesn't exist can't be read-only, and an agent that
 * writes it speaks to the person's next shell. Each means nothing: the login is as it was. Rule GRD-11.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { familyOf } from "../terminal/shells/family.ts";
import { words } from "./guard-places.ts";

const WHY = "# Made by Sidestick: a file that is there can be kept read-only for agents. Yours to change.";

type Placeholder = { readonly path: string; readonly text: string };

/** What could not be made stays open, and is told. `path`: as after the login. */
export function completeHome(home: string, shell: string, path = ""): readonly string[] {
  const open: string[] = [];
  const attempt = (path: string, make: () => void): void => {
    try {
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) make();
    } catch {
      open.push(path);
    }
  };
  for (const { path, text } of files(home, shell)) {
    attempt(path, () => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, `${text}\n`, { flag: "wx", mode: 0o644 });
    });
  }
  const programs = path.split(":").filter((it) => it.startsWith(`${home}/`));
  for (const it of [...directories(home), ...programs]) {
    attempt(it, () => mkdirSync(it, { recursive: true, mode: 0o700 }));
  }
  return open;
}

function files(home: string, shell: string): readonly Placeholder[] {
  const plain = (names: readonly string[]): readonly Placeholder[] =>
    names.map((name) => ({ path: join(home, name), text: WHY }));
  const others = IF_THERE.flatMap(({ program, names }) => (existsSync(program) ? names : []));
  const all = [...ofShell(home, shell, plain), ...plain([".pam_environment", ...others])];
  return [...all, ...sourcedIn(home).map((path) => ({ path, text: WHY }))];
}

function ofShell(
  home: string,
  shell: string,
  plain: (names: readonly string[]) => readonly Placeholder[],
): readonly Placeholder[] {
  switch (familyOf(shell)) {
    case "bash":
      return [...bashLogin(home), ...plain(BASH), inputrc(home)];
    case "zsh":
      return plain([".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout", ".profile"]);
    default:
      return plain([".profile"]);
  }
}

/** The last two are read by what the system's own start-up files load. */
const BASH = words(".profile .bashrc .bash_logout .bash_aliases .bash_completion .config/bash_completion");

/** Read by what else a person starts, where there is such a thing. Not `.xsession`: an empty one is a desktop less. */
const IF_THERE = [
  { program: "/usr/bin/tmux", names: [".tmux.conf"] },
  { program: "/usr/bin/screen", names: [".screenrc"] },
  { program: "/etc/X11", names: [".xprofile", ".xsessionrc"] },
];

/**
 * Files below `home` that its start-up files read by name: `. ~/.cargo/env`, `source "$NVM_DIR/nvm.sh"` after
 * `NVM_DIR="$HOME/.nvm"`.
 */
export function sourcedIn(home: string): readonly string[] {
  const text = READ_FIRST.map((name) => textOf(join(home, name))).join("\n");
  const known = new Map([["HOME", home]]);
  const valueOf = (begin: string): string | undefined =>
    begin === "~" ? home : known.get(begin.replaceAll(/[${}]/g, ""));
  for (const [, name = "", begin = "", rest = ""] of text.matchAll(ASSIGNED)) {
    const value = valueOf(begin);
    if (value !== undefined && !known.has(name)) known.set(name, value + rest);
  }
  const paths = [...text.matchAll(SOURCED)].flatMap(([, begin = "", rest = ""]) => {
    const base = begin === "" ? "" : valueOf(begin);
    return base === undefined ? [] : [normalize(base + rest)];
  });
  return [...new Set(paths)].filter((it) => it.startsWith(`${home}/`));
}

const READ_FIRST = words(".profile .bash_profile .bash_login .bashrc .bash_aliases .zshenv .zprofile .zshrc .zlogin");
const ASSIGNED = /\b(\w+)=["']?(~|\$\w+|\$\{\w+\})((?:\/[\w.@+-]+)+)/g;
const SOURCED = /(?:^|[\s;&|({])(?:\\?\.|source)\s+["']?(~|\$\w+|\$\{\w+\}|)["']?((?:\/[\w.@+-]+)+)(?![\w/*?$[{])/gm;

/** The first of three that is there is read by a login: another before it would take its place. */
function bashLogin(home: string): readonly Placeholder[] {
  const next = [".bash_login", ".profile"].find((name) => existsSync(join(home, name))) ?? ".profile";
  return [{ path: join(home, ".bash_profile"), text: `${WHY}\nif [ -r ~/${next} ]; then . ~/${next}; fi` }];
}

/** With one of one's own, the system's isn't read. */
function inputrc(home: string): Placeholder {
  return { path: join(home, ".inputrc"), text: `${WHY}\n$include /etc/inputrc` };
}

function directories(home: string): readonly string[] {
  return [...DIRECTORIES, ...programDirectories(home)].map((name) => join(home, name));
}

/** Each is looked into by a login, a desktop or a shell, whoever made it. */
const DIRECTORIES = words(`
  .ssh .config/autostart .config/systemd .config/environment.d .config/fish .local/share/systemd
  .local/share/dbus-1 .local/share/bash-completion .config/plasma-workspace .config/autostart-scripts
  .config/user-tmpfiles.d .local/share/user-tmpfiles.d
`);

/** Those that a login would add to PATH, or read all files of, if they were there. */
function programDirectories(home: string): readonly string[] {
  const text = [".profile", ".bash_profile", ".zprofile", ".bashrc", ".zshrc"].map((name) => textOf(join(home, name)));
  return ["bin", ".local/bin", ".bashrc.d"].filter((name) =>
    text.some((it) => it.includes(`$HOME/${name}`) || it.includes(`~/${name}`)),
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
