/** Terminals inside terminals, programs outside the foreground, other machines, other users. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { canHaveAccounts, IS_ROOT, TemporaryAccount } from "../../../../test/support/account.ts";
import { eventually } from "../../../../test/support/eventually.ts";
import { keptPort } from "../../../../test/support/kept-port.ts";
import { temporaryDirectory } from "../../../../test/support/temporary.ts";
import { readProcFile } from "./proc-file.ts";
import { descendants, type Look } from "./probe.ts";
import { allProcesses } from "./processes.ts";
import { closeProbe, inShell, kill, lookUntil, ProgramOnPty } from "./program-on-pty.contract.ts";
import { NO_HOME } from "../../../../test/support/no-home.ts";
import { sshd } from "../../../../test/fixtures/programs/ssh-server.ts";

afterAll(closeProbe);

test("[PRB-10] a password asked for inside script is found there (needs script)", async () => {
  const outer = inShell("script -qc 'read -s secret' /dev/null", { env: { SHELL: "/bin/bash" } });

  const seen = await lookUntil(outer, { waiting: true, kind: "password", program: "bash", confidence: "high" });

  expect(seen).toMatchObject({ evidence: { nested: true, syscall: "read", echo: false, canonical: true } });
});

test("[PRB-10] script in script in script is followed inwards (needs script)", async () => {
  const script = (command: string): string => `script -qc ${JSON.stringify(command)} /dev/null`;

  await lookUntil(inShell(script(script(script("cat")))), { waiting: true, kind: "line", program: "cat" });
});

test("[PRB-10] script around a program that sleeps does not wait (needs script)", async () => {
  const outer = inShell("script -qc 'exec sleep 1000' /dev/null");
  await outer.running("sleep");

  await lookUntil(outer, { waiting: false, confidence: "high" });
});

test.runIf(IS_ROOT)(
  "[PRB-10] what sudo runs on a terminal of its own is found there (needs root and sudo)",
  async () => {
    const asking = inShell("sudo bash -c 'read -s secret'");
    const busy = inShell("sudo sleep 1000");

    await lookUntil(asking, { waiting: true, kind: "password", program: "bash", confidence: "high" });
    await busy.running("sleep");
    await lookUntil(busy, { waiting: false });
  },
);

test.runIf(IS_ROOT)(
  "[PRB-11] a private terminal of the same number is not taken for ours (needs root, unshare, namespaces and python3)",
  async () => {
    const code = [
      "import os, pty, subprocess",
      "number = int(os.ttyname(0).split('/')[-1])",
      "subprocess.check_call(['mount', '-t', 'devpts', '-o', 'newinstance,ptmxmode=666', 'devpts', '/dev/pts'])",
      "below = [os.open('/dev/pts/ptmx', os.O_RDWR | os.O_NOCTTY) for _ in range(number)]",
      "subprocess.check_call(['mount', '--bind', '/dev/pts/ptmx', '/dev/ptmx'])",
      "pty.spawn(['bash', '-c', 'tty; read -s secret'])",
    ].join("\n");
    const outer = new ProgramOnPty("/usr/bin/unshare", ["-m", "/usr/bin/python3", "-c", code]);

    const seen = await lookUntil(outer, { waiting: true, kind: "password", evidence: { nested: true } });

    await eventually(() => expect(outer.output).toContain(outer.slavePath));
    expect(seen).toMatchObject({ program: "bash", confidence: "high" });
  },
);

describe("tmux (needs tmux)", () => {
  async function tmux(command: string): Promise<{ readonly server: readonly string[]; readonly outer: ProgramOnPty }> {
    const server = ["-S", join(await temporaryDirectory(), "socket"), "-f", "/dev/null"];
    onTestFinished(() => void spawnSync("tmux", [...server, "kill-server"]));
    return { server, outer: inShell(["tmux", ...server, "new", `'${command}'`].join(" ")) };
  }

  test("[PRB-10, PRB-13] a password asked for inside tmux is found behind its server", async () => {
    const { outer } = await tmux(`bash -c "read -s secret"`);

    const seen = await lookUntil(outer, { waiting: true, kind: "password", program: "bash", confidence: "high" });

    expect(seen).toMatchObject({ evidence: { nested: true, holder: true } });
  });

  test("[PRB-12] with two panes nobody knows which one gets the keys", async () => {
    const { server, outer } = await tmux(`bash -c "read -s secret"`);
    await lookUntil(outer, { kind: "password" });

    spawnSync("tmux", [...server, "split-window", "cat"]);

    await lookUntil(outer, {
      waiting: true,
      kind: "opaque",
      confidence: "low",
      evidence: { nested: true, terminals: 2 },
    });
  });
});

test("[PRB-13] the passphrase that gpg's agent asks for is found outside the foreground (needs gpg and pinentry)", async () => {
  const home = join(await temporaryDirectory(), "gnupg");
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "gpg-agent.conf"), "pinentry-program /usr/bin/pinentry-curses\n");
  onTestFinished(() => endAgent(home));
  const command = `GPG_TTY=$(tty) gpg --homedir ${home} --quiet --symmetric --output /dev/null /etc/hostname`;

  const seen = await lookUntil(inShell(command), { waiting: true, kind: "password", confidence: "medium" });

  expect(seen).toMatchObject({ program: "pinentry-curses", evidence: { holder: true, canonical: false } });
});

/** Left alone, pinentry-curses runs in circles when its terminal is gone. */
function endAgent(home: string): void {
  const agents = allProcesses().filter((pid) => readProcFile(`/proc/${pid}/cmdline`)?.includes(`${home}\0`) === true);
  for (const pid of agents.flatMap((agent) => [...descendants(agent), agent])) kill(pid);
}

describe("ssh (needs ssh and sshd)", () => {
  async function startSshd(directory: string): Promise<number> {
    const [hostKey, userKey] = [join(directory, "host"), join(directory, "user")];
    for (const key of [hostKey, userKey])
      execFileSync("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
    await writeFile(join(directory, "authorized"), await readFile(`${userKey}.pub`));
    const port = await keptPort();
    const settings = [
      `ListenAddress 127.0.0.1:${port}`,
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${join(directory, "authorized")}`,
      "PidFile none\nStrictModes no\nUsePAM no\nPermitRootLogin yes\nPasswordAuthentication yes",
      // As a shell in a shell: what whoever runs the tests has in their .bashrc may take any time.
      "SetEnv SHLVL=1",
    ];
    await writeFile(join(directory, "config"), settings.join("\n"));
    const [file = "", ...args] = sshd(join(directory, "config"));
    const server = spawn(file, args, { stdio: "ignore" });
    onTestFinished(async () => {
      const gone = once(server, "exit");
      kill(server.pid!, "SIGTERM");
      await gone;
    });
    await eventually(() => once(connect(port, "127.0.0.1").on("connect", destroy), "connect"));
    return port;
  }

  function destroy(this: { destroy(): void }): void {
    this.destroy();
  }

  /** Without that sshd gives a terminal to its group itself, which only root may. */
  const hasPtys = process.getuid?.() === 0 || /^devpts .*\bgid=\d/m.test(readProcFile("/proc/mounts") ?? "");

  test.runIf(hasPtys)(
    "[PRB-9] its own questions are told, what happens on the other side is opaque (only as root or where terminals belong to a group)",
    async () => {
      const directory = await temporaryDirectory();
      const port = await startSshd(directory);
      const known = `-F none -o UserKnownHostsFile=${join(directory, "known")} -p ${port}`;
      const asking = inShell(`ssh ${known} -o PubkeyAuthentication=no 127.0.0.1`);

      await lookUntil(asking, { waiting: true, kind: "line", program: "ssh", confidence: "high" });
      asking.type("yes\r");
      await lookUntil(asking, { waiting: true, kind: "password", program: "ssh", confidence: "high" });

      const inside = inShell(`ssh ${known} -t -i ${join(directory, "user")} 127.0.0.1 'echo in; read -s secret'`);
      await eventually(() => expect(inside.output).toContain("in"));
      await lookUntil(inside, { waiting: true, kind: "opaque", program: "ssh", confidence: "low" });
    },
  );
});

describe.runIf(canHaveAccounts)("another user (needs root, sudo and a checkout that others may enter)", () => {
  const password = crypto.randomUUID();
  let account: TemporaryAccount;

  beforeAll(() => {
    account = new TemporaryAccount();
    execFileSync("/usr/sbin/chpasswd", { input: `${account.name}:${password}\n` });
    return () => account[Symbol.dispose]();
  });

  /** What a host that runs as that user sees of a program on its own terminal. */
  async function lookAsUser(until: string, command: string, env: Readonly<Record<string, string>> = {}): Promise<Look> {
    const script = new URL("look-once.contract.ts", import.meta.url).pathname;
    const patienceMs = "3000";
    const host = spawn(process.execPath, [script, until, patienceMs, "/bin/bash", "--norc", "-c", `${command}\n:`], {
      uid: account.uid,
      gid: account.gid,
      env: { PATH: "/usr/bin:/bin:/usr/sbin", HOME: NO_HOME, LANG: "C.UTF-8", ...env },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(host.stdout, "data")) as [Buffer];
    await once(host, "exit");
    return JSON.parse(line.toString()) as Look;
  }

  test.each([
    { command: "sudo -k true", program: "sudo" },
    { command: "su", program: "su" },
    { command: "passwd", program: "passwd" },
  ])("[PRB-2] `$command` asks a normal user for a password", async ({ command, program }) => {
    await lookUntil(inShell(command, { uid: account.uid, gid: account.gid }), {
      waiting: true,
      kind: "password",
      program,
      confidence: "high",
    });
  });

  test.each([
    { command: "sudo -k true", until: "assword", program: "sudo" },
    { command: "su", until: "assword", program: "su" },
    { command: "passwd", until: "assword", program: "passwd" },
  ])("[PRB-14] a host without rights over `$command` tells it from the modes", async ({ command, until, program }) => {
    expect(await lookAsUser(until, command)).toMatchObject({
      waiting: true,
      kind: "password",
      program,
      confidence: "medium",
      evidence: { hidden: true, echo: false, canonical: true },
    });
  });

  test("[PRB-10, PRB-14] a hidden relay is followed into a terminal that is the user's own", async () => {
    const env = { PROBE_ANSWER: password, PROBE_THEN: "inside" };

    expect(
      await lookAsUser("assword", `su --pty ${account.name} -c 'echo in""side; read -s secret'`, env),
    ).toMatchObject({
      waiting: true,
      kind: "password",
      program: "bash",
      confidence: "high",
      evidence: { nested: true },
    });
  });

  test("[PRB-14] a host sees its own user's programs in full", async () => {
    expect(await lookAsUser("name?", "read -p 'name? '")).toMatchObject({ kind: "line", confidence: "high" });
  });
});

test.runIf(IS_ROOT)(
  "[PRB-15] without /proc only a password is told, and that it is a guess (needs root, unshare and namespaces)",
  async () => {
    const script = new URL("look-once.contract.ts", import.meta.url).pathname;
    const lookBlind = (command: string): Look => {
      const hidden = `mount -t tmpfs tmpfs /proc && exec "$@"`;
      const host = [process.execPath, script, "name?", "1000", "/bin/bash", "--norc", "-c", command];
      return JSON.parse(
        execFileSync("/usr/bin/unshare", ["-m", "sh", "-c", hidden, "sh", ...host], { encoding: "utf8" }),
      ) as Look;
    };

    expect(lookBlind("read -s -p 'name? '")).toEqual({
      waiting: true,
      kind: "password",
      program: "",
      pid: 0,
      confidence: "low",
      switches: 0,
      evidence: { echo: false, canonical: true, signals: true, processes: false },
    });
    expect(lookBlind("read -p 'name? '")).toEqual({ waiting: false, confidence: "low", reason: "/proc can't be read" });
  },
);
