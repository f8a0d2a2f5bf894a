/**
 * Makes what a guard must close but that isn't there: a file that doesn't exist can't be read-only, and an agent that
 * writes it speaks to the person's next shell. Each means nothing: the login is as it was. Rule GRD-11.
 */
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { familyOf } from "../terminal/shells/family.ts";

const WHY = "# Made by Sidestick: a file that is there can be kept read-only for agents. Yours to change.";

type Placeholder = { readonly path: string; readonly text: string };

/** What could not be made stays open, and is told. */
export function completeHome(home: string, shell: string): readonly string[] {
  const open: string[] = [];
  const attempt = (path: string, make: () => void): void => {
    try {
      if (lstatSync(path, { throwIfNoEntry: false }) === undefined) make();
    } catch {
      open.push(path);
    }
  };
  for (const { path, text } of files(home, shell)) {
    attempt(path, () => writeFileSync(path, `${text}\n`, { flag: "wx", mode: 0o644 }));
  }
  for (const path of directories(home)) attempt(path, () => mkdirSync(path, { recursive: true, mode: 0o700 }));
  return open;
}

function files(home: string, shell: string): readonly Placeholder[] {
  const plain = (...names: readonly string[]): readonly Placeholder[] =>
    names.map((name) => ({ path: join(home, name), text: WHY }));
  switch (familyOf(shell)) {
    case "bash":
      return [...bashLogin(home), ...plain(".profile", ".bashrc", ".bash_logout"), inputrc(home)];
    case "zsh":
      return plain(".zshenv", ".zprofile", ".zshrc", ".zlogin", ".zlogout", ".profile");
    default:
      return plain(".profile");
  }
}

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
  const named = [".ssh", ".config/autostart", ".config/systemd", ".config/environment.d", ".config/fish"];
  return [...named, ...programDirectories(home)].map((name) => join(home, name));
}

/** Those that a login would add to PATH if they were there. */
function programDirectories(home: string): readonly string[] {
  const text = [".profile", ".bash_profile", ".zprofile", ".bashrc", ".zshrc"].map((name) => textOf(join(home, name)));
  return ["bin", ".local/bin"].filter((name) =>
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
