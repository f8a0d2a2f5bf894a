import { execFileSync, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEADLINE_MS } from "../../../test/support/deadline.ts";
import { siblingDoes } from "../../../test/support/escapes.ts";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import type { GuardTerms } from "../../protocol/link.ts";
import { completeHome } from "./guard-home.ts";
import { guardAbility, guarded, installPlaces } from "./guard.ts";

type Inside = { readonly status: number | null; readonly stdout: string; readonly stderr: string };

/** Runs a script in a guard without a terminal. */
async function inside(
  script: string,
  terms: GuardTerms = {},
  home?: string,
  { ours = [], programs = [] }: { readonly ours?: readonly string[]; readonly programs?: readonly string[] } = {},
): Promise<Inside> {
  const planIn = await temporaryDirectory();
  const HOME = home ?? (await temporaryDirectory());
  const env = { HOME, SHELL: "/bin/bash", PATH: [...programs, "/usr/bin:/bin"].join(":") };
  const program = { file: "/bin/bash", args: ["-c", script], env, cwd: HOME };
  const start = guarded(program, { planIn, ours, shown: [], terms, terminal: "none" });
  return spawnSync(start.file, start.args, {
    env: start.env,
    encoding: "utf8",
    timeout: DEADLINE_MS,
    killSignal: "SIGKILL",
  });
}

test("[GRD-21] this machine can guard, and says so by having done it", () => {
  expect(guardAbility()).toMatchObject({ available: true });
});

test.each([
  { where: "a variable", env: { EVIL: "x\0do" }, cwd: "/" },
  { where: "the directory", env: { EVIL: "x" }, cwd: "/\0do" },
])("[GRD-31] a NUL byte in $where, which would end a field of the plan, is refused", ({ env, cwd }) => {
  const program = { file: "/bin/true", args: [], env: { HOME: "/dev/null", ...env }, cwd };

  expect(() => guarded(program, { planIn: 3, ours: [], shown: [], terms: {}, terminal: "none" })).toThrow(
    "A path or variable of a guarded program holds a NUL byte",
  );
});

test("[GRD-17] exit codes, signals, output and directory pass through", async () => {
  const home = await temporaryDirectory();

  expect(await inside("pwd; echo wrong >&2; exit 9", {}, home)).toMatchObject({
    status: 9,
    stdout: `${home}\n`,
    stderr: "wrong\n",
  });
  expect(await inside("kill -TERM $$")).toMatchObject({ status: null, signal: "SIGTERM" });
});

test("[GRD-18] what made itself the program's sibling doesn't keep the guard from ending, and ends with it", async () => {
  const { status, stdout } = await inside(`exec perl -e '${siblingDoes('exec "sleep", "1000"')}; exit 9'`);

  // Its output is closed: nobody has it any more.
  expect({ status, stdout }).toEqual({ status: 9, stdout: "" });
});

test("[GRD-9] a directory of sockets that goes away while the guard is built keeps nobody from starting", async () => {
  const gone = `/tmp/ssh-${crypto.randomUUID()}`;
  mkdirSync(gone);
  const planIn = await temporaryDirectory();
  const HOME = await temporaryDirectory();
  const program = { file: "/bin/true", args: [], env: { HOME, SHELL: "/bin/bash", PATH: "/usr/bin:/bin" }, cwd: HOME };
  const start = guarded(program, { planIn, ours: [], shown: [], terms: {}, terminal: "none" });
  rmdirSync(gone);

  const { status, stderr } = spawnSync(start.file, start.args, { env: start.env, encoding: "utf8" });

  expect([status, stderr, start.plan.includes(gone)]).toEqual([0, "", true]);
});

test("[GRD-13] a workspace hides, shows, and closes paths to writing", async () => {
  const home = await temporaryDirectory();
  for (const name of ["secret", "fixed", ".aws"]) mkdirSync(join(home, name));
  for (const name of ["secret/x", "fixed/x", ".aws/x"]) writeFileSync(join(home, name), "here\n");
  mkdirSync(join(home, ".ssh"));
  writeFileSync(join(home, ".ssh/config"), "hosts\n");
  writeFileSync(join(home, ".ssh/id"), "key\n");
  const look = "cat secret/x; cat fixed/x; cat .aws/x; cat .ssh/config .ssh/id; echo more >> fixed/x; true";

  const usual = await inside(look, {}, home);
  const changed = await inside(
    look,
    { hidden: ["~/secret"], read_only: ["~/fixed"], shown: ["~/.aws", "~/.ssh/config"] },
    home,
  );

  expect(usual.stdout).toBe("here\nhere\n");
  expect(changed.stdout).toBe("here\nmore\nhere\nhosts\n");
  expect(readFileSync(join(home, "fixed/x"), "utf8")).toBe("here\nmore\n");
});

test.each([
  { home: "home", shown: ["~/.aws/", "~/.ssh//config"] },
  { home: "link", shown: ["~/.aws", "~/.ssh/config"] },
  { home: "link", shown: ["~/../home/.aws", "~/.ssh/conf*"] },
])("[GRD-13] what is shown can be named in other ways: $shown of $home", async ({ home, shown }) => {
  const base = await temporaryDirectory();
  for (const name of ["home/.aws", "home/.ssh"]) mkdirSync(join(base, name), { recursive: true });
  for (const name of [".aws/x", ".ssh/config", ".ssh/id"]) writeFileSync(join(base, "home", name), `${name}\n`);
  symlinkSync("home", join(base, "link"));

  const { stdout } = await inside("cat .aws/x .ssh/config .ssh/id", { shown }, join(base, home));

  expect(stdout).toBe(".aws/x\n.ssh/config\n");
});

test.each<GuardTerms>([
  { shown: ["~/.config"] },
  { shown: ["~", "/etc"] },
  { shown: ["~/.config/autostart"] },
  { hidden: ["~/.config"], shown: ["~/.config/autostart"] },
])("[GRD-11, GRD-14] what is shown can't be changed for that: %j", async (terms) => {
  const home = await temporaryDirectory();
  for (const name of [".config/autostart", ".aws"]) mkdirSync(join(home, name), { recursive: true });
  const tries = [`touch /etc/ss${process.pid}`, "touch .config/autostart/evil", "touch .aws/x"];
  const script = tries.map((it) => `${it} 2>/dev/null && echo '${it}'`).join("; ");

  const { stdout } = await inside(`${script}; ls -d .config/autostart`, terms, home);

  expect(stdout).toBe(".config/autostart\n");
});

test.runIf(process.getuid?.() === 0)(
  "[GRD-14] root can't change what is shown of /run (needs root and unshare)",
  async () => {
    const place = "/run/netconfig";
    const script = `ls -d ${place}; touch ${place}/x 2>/dev/null && echo changed`;
    const node = [process.execPath, new URL("run-inside.contract.ts", import.meta.url).pathname];
    const inside = [...node, await temporaryDirectory(), await temporaryDirectory(), script];
    // A /run of its own: nothing is made in the machine's, where another copy of the test would find it.
    const machine = `mount -t tmpfs tmpfs /run && mkdir ${place} && exec "$@"`;

    const { stdout } = spawnSync("unshare", ["-m", "sh", "-c", machine, "sh", ...inside], { encoding: "utf8" });

    expect(stdout).toBe(`${place}\n`);
  },
);

test.each(["~/.local/data", "~/.local/d*", "~/.local/link", "~/.local/data/x", "~/.local"])(
  "[GRD-8] what is ours isn't shown as %s",
  async (shown) => {
    const home = await temporaryDirectory();
    mkdirSync(join(home, ".local/data"), { recursive: true });
    writeFileSync(join(home, ".local/data/x"), "ours\n");
    symlinkSync("data", join(home, ".local/link"));

    const { stdout, stderr } = await inside("cat .local/data/x", { shown: [shown] }, home, {
      ours: [join(home, ".local/data")],
    });

    expect({ stdout, stderr }).toEqual({ stdout: "", stderr: "cat: .local/data/x: No such file or directory\n" });
  },
);

test("[GRD-12] links on the way to what is closed can't be replaced", async () => {
  const home = await temporaryDirectory();
  mkdirSync(join(home, "dotfiles", "config", "autostart"), { recursive: true });
  writeFileSync(join(home, "dotfiles", "bashrc"), "# mine\n");
  symlinkSync("dotfiles/bashrc", join(home, ".bashrc"));
  symlinkSync("dotfiles/config", join(home, ".config"));
  const tries = [
    "rm .bashrc",
    "mv .bashrc b",
    "ln -sfn /dev/null .bashrc",
    "echo evil >> .bashrc",
    "mv dotfiles d",
    "rm .config",
    "ln -sfn /tmp .config",
    "touch .config/autostart/evil",
    "mv dotfiles/config c",
  ];

  const { stdout } = await inside(tries.map((it) => `${it} 2>/dev/null && echo '${it}'`).join("; "), {}, home);

  expect(stdout).toBe("");
  expect(readFileSync(join(home, ".bashrc"), "utf8")).toBe("# mine\n");
});

test("[GRD-11] packages that our programs load are closed too, linked ones and those beside us", async () => {
  const home = await temporaryDirectory();
  mkdirSync(join(home, "project/node_modules/sidestick"), { recursive: true });
  mkdirSync(join(home, "packages/ws"), { recursive: true });
  symlinkSync(join(home, "packages"), join(home, "project/node_modules/sidestick/node_modules"));
  const places = installPlaces(join(home, "project/node_modules/sidestick"));

  const { stdout } = await inside(
    "touch project/node_modules/evil || touch packages/ws/evil || touch project/node_modules/sidestick/evil || echo closed",
    { read_only: [...places] },
    home,
  );

  expect(stdout).toBe("closed\n");
});

test("[GRD-13] without the network there is only a loopback of its own (needs python3)", async () => {
  await using server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const reach = `(: > /dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo reached`;
  const own = `import socket; s = socket.create_server(("127.0.0.1", 0)); socket.create_connection(s.getsockname())`;

  const { stdout: shared } = await inside(reach);
  const { stdout: alone } = await inside(`${reach}; grep -c : /proc/net/dev; python3 -c '${own}' && echo own`, {
    network: false,
  });

  expect([shared, alone]).toEqual(["reached\n", "1\nown\n"]);
});

test("[GRD-32] a descriptor of whoever starts it, a directory outside, is not open inside", async () => {
  const [planIn, HOME] = [await temporaryDirectory(), await temporaryDirectory()];
  mkdirSync(join(HOME, ".aws"));
  writeFileSync(join(HOME, ".aws/x"), "secret\n");
  const script = "cat /proc/self/fd/9/.aws/x; cd /proc/self/fd; echo *";
  const program = { file: "/bin/bash", args: ["-c", script], env: { HOME, PATH: "/usr/bin:/bin" }, cwd: HOME };
  const { file, args, env } = guarded(program, { planIn, ours: [], shown: [], terms: {}, terminal: "none" });

  const { stdout } = spawnSync("/bin/sh", ["-c", 'exec 9< "$0"; exec "$@"', HOME, file, ...args], {
    env,
    encoding: "utf8",
  });

  // The last one is the shell's own, of the directory that it lists.
  expect(stdout).toBe("0 1 2 3\n");
});

test("[GRD-19] a guard that can't be built as planned runs nothing", async () => {
  const directory = await temporaryDirectory();
  const program = { file: "/usr/bin/touch", args: [join(directory, "ran")], env: { HOME: directory }, cwd: "/" };
  const { file, args, env } = guarded(program, { planIn: directory, ours: [], shown: [], terms: {}, terminal: "none" });
  const plan = join(directory, "guard-plan");
  writeFileSync(plan, readFileSync(plan, "utf8").replace("\0private\0", "\0private\0seal\0/no/such/place\0"));

  const { status, stderr } = spawnSync(file, args, { env, encoding: "utf8" });

  expect({ status, stderr }).toEqual({
    status: 125,
    stderr: "sidestick: no guard: read-only /no/such/place: No such file or directory\n",
  });
  expect(existsSync(join(directory, "ran"))).toBe(false);
});

test.each([
  { files: {}, login: "" },
  { files: { ".profile": "echo profile" }, login: "profile" },
  { files: { ".bash_login": "echo login", ".profile": "echo profile" }, login: "login" },
  { files: { ".bash_profile": "echo own", ".profile": "echo profile" }, login: "own" },
])("[GRD-11] what is made for a home changes no login: $login", async ({ files, login }) => {
  const home = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(home, name), `${text}\n`);
  const said = (): string => execFileSync("/bin/bash", ["-lc", ":"], { env: { HOME: home }, encoding: "utf8" }).trim();
  const before = said();

  completeHome(home, "/bin/bash");

  expect([before, said()]).toEqual([login, login]);
  expect(existsSync(join(home, ".bash_profile"))).toBe(true);
});

test("[GRD-11] what isn't there and a person's next shell would read, or look for programs in, can't be written", async () => {
  const [home, other] = [await temporaryDirectory(), await temporaryDirectory()];
  const bashrc = `. "$HOME/.cargo/env"; . ~/.bash_aliases\nTOOLS="$HOME/.tools"\n[ -s x ] && \\. "$TOOLS/init.sh"\n`;
  writeFileSync(join(home, ".bashrc"), `${bashrc}for it in ~/.bashrc.d/*; do . $it; done\n`);
  const names = `.bash_aliases .bash_completion .config/bash_completion .cargo/env .tools/init.sh .bashrc.d/x go/bin/ls
    .local/share/systemd/user/x .local/share/dbus-1/services/x .local/share/bash-completion/completions/ls`;
  const tries = [...names.trim().split(/\s+/), join(other, "ls")];
  const script = tries.map((it) => `mkdir -p "$(dirname ${it})"; echo evil > ${it} && echo ${it}`).join("; ");

  const { stdout } = await inside(`${script}; touch ~/.cargo/free && echo free`, {}, home, {
    programs: [join(home, "go/bin"), other],
  });

  expect(stdout).toBe("free\n");
});

test("[GRD-11] what can't be made for a home is told", async () => {
  const home = await temporaryDirectory();
  writeFileSync(join(home, ".config"), "a file where a directory should be");

  expect(completeHome(home, "/bin/bash")).toContain(join(home, ".config/autostart"));
});
