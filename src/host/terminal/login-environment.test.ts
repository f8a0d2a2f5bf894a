import { mkdir, readFile, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { isAlive } from "../../../test/support/live-terminal.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { LOGIN_MAX_MS, loginEnvironment, parseSettings } from "./login-environment.ts";

async function accountWith(shell: string, files: Readonly<Record<string, string>>) {
  const homedir = await temporaryDirectory();
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(homedir, path)), { recursive: true });
    await writeFile(join(homedir, path), text, { mode: 0o700 });
  }
  return { username: "ann", homedir, shell: shell.replace("~", homedir), uid: 12_345 };
}

test("[BLK-29] it is the account's, and nothing of this process passes", async () => {
  process.env["SIDESTICK_TEST_SECRET"] = "x";
  process.env["npm_config_test"] = "x";
  const environment = await loginEnvironment();
  delete process.env["SIDESTICK_TEST_SECRET"];
  delete process.env["npm_config_test"];

  const { username, homedir } = userInfo();
  expect(environment).toMatchObject({ HOME: homedir, USER: username, LOGNAME: username });
  expect(environment["LANG"]).not.toBe("");
  expect(
    Object.keys(environment).filter((name) => /^(npm_|SIDESTICK|NODE|VITEST|INIT_CWD|_$|SHLVL|PWD)/.test(name)),
  ).toEqual([]);
  expect(environment["PATH"]).not.toContain("node_modules");
});

test.each([
  { name: "bash", file: ".bash_profile", text: "export A='x\ny' B=\"$HOME/b\"\necho noise\n" },
  { name: "zsh", file: ".zprofile", text: "export A=$'x\\ny' B=\"$HOME/b\"\necho noise\n" },
  { name: "dash", file: ".profile", text: "export A='x\ny' B=\"$HOME/b\"\necho noise\n" },
  { name: "fish", file: ".config/fish/config.fish", text: "set -x A x\\ny; set -x B $HOME/b; echo noise\n" },
])("[BLK-30] what the login shell sets is in it: $name (needs $name)", async ({ name, file, text }) => {
  const shell = `/usr/bin/${name}`;
  const account = await accountWith(shell, { [file]: text });

  const environment = await loginEnvironment(account);

  expect(environment).toMatchObject({ A: "x\ny", B: `${account.homedir}/b`, SHELL: shell, USER: "ann" });
});

test.each<{ what: string; shell: string; files: Readonly<Record<string, string>> }>([
  { what: "is missing", shell: "/no/such/shell", files: {} },
  { what: "fails", shell: "/bin/false", files: {} },
  { what: "ends early", shell: "/usr/bin/bash", files: { ".bash_profile": "exit 3" } },
])("[BLK-31] a login shell that $what leaves the account's own", async ({ shell, files }) => {
  const account = await accountWith(shell, files);

  const environment = await loginEnvironment(account);

  expect(environment).toMatchObject({ HOME: account.homedir, USER: "ann", SHELL: shell });
  expect(environment["PATH"]).toContain("/usr/bin");
});

test("[BLK-31] a login shell that hangs is ended with all it started", async () => {
  const account = await accountWith("/usr/bin/bash", { ".bash_profile": "sleep 1000 & echo $! >~/pid\nsleep 1000\n" });

  // Long enough that the profile has begun, on any machine.
  const environment = await loginEnvironment(account, DEADLINE_MS / 90);

  expect(environment).toMatchObject({ HOME: account.homedir });
  expect(LOGIN_MAX_MS).toBe(3_000);
  const pid = Number(await readFile(join(account.homedir, "pid"), "utf8"));
  await eventually(() => expect(isAlive(pid)).toBe(false));
});

test("[BLK-30] settings of the system are read as PAM reads them", () => {
  expect(parseSettings("# c\nA=1\nexport B=\"x y\"\n C='z' \nnot a setting\nD=a=b\n1E=x\n")).toEqual({
    A: "1",
    B: "x y",
    C: "z",
    D: "a=b",
  });
});
