/** `sidestick guard`: an agent's program on the person's terminal. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import { compileCache } from "../support/compile-cache.ts";
import { eventually } from "../support/eventually.ts";
import { CLI } from "../support/run-cli.ts";
import { TypedShell } from "./typed-shell.ts";
import { type Account, Victim } from "./victim.ts";
import { canHaveAccounts } from "../support/account.ts";
import { IS_SOAK } from "../support/soak.ts";

const QUIET = ["--disable-warning=ExperimentalWarning", CLI];

type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
};

function guarding(account: Account): void {
  let victim: Victim;
  const isWhole = account.uid === 0 || IS_SOAK;

  beforeAll(async () => {
    victim = await Victim.open(account);
    return () => victim[Symbol.asyncDispose]();
  });

  const environment = (): Record<string, string> => ({
    ...compileCache(account),
    PATH: "/usr/bin:/bin",
    HOME: victim.home,
    LANG: "C.UTF-8",
    SHELL: "/bin/bash",
  });

  function start(options: readonly string[], command: readonly string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    return spawn(process.execPath, [...QUIET, "guard", ...options, "--", ...command], {
      ...account,
      cwd: victim.home,
      env: { ...environment(), TMUX: "/tmp/x,1,0", SIDESTICK_LOG_LEVEL: "warn", ...env },
    });
  }

  async function guard(script: string, ...options: readonly string[]): Promise<Ended> {
    const child = start(options, ["bash", "-c", script]);
    child.stdin!.end("typed\n");
    const [out, err, [code, signal]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "exit") as Promise<[number | null, string | null]>,
    ]);
    return { code, signal, out, err };
  }

  const agents = async (name: string) => (await victim.person.token.list()).filter((it) => it.name === name);

  test("[GRD-23] the program has our address and a token of its own, and nothing else of ours", async () => {
    const { code, out, err } = await guard(
      "env | grep -E '^(SIDESTICK|TMUX)' | sed 's/=.*//' | sort; cat",
      "--name",
      "n1",
    );

    expect({ code, out, err }).toEqual({
      code: 0,
      out: "SIDESTICK_GUARD\nSIDESTICK_TOKEN\nSIDESTICK_URL\ntyped\n",
      err: "",
    });
    expect(await agents("n1")).toMatchObject([{ role: "agent", revokedAt: expect.any(String) }]);
  });

  test("[GRD-31] how its guard is built passes through no directory that a guarded session sees", async () => {
    const temporary = { TMPDIR: "/no/such/directory" };
    const child = start([], ["bash", "-c", "cd /proc/self/fd; echo *"], temporary);

    // The last one is the shell's, of the directory that it lists.
    expect(await text(child.stdout!)).toBe("0 1 2 3\n");
  });

  test("[GRD-23, GRD-24, CLI-22] inside, the command line is that agent over TCP; the sockets aren't there, and why is said", async () => {
    const cli = `${process.execPath} ${QUIET.join(" ")}`;
    const script = [
      `${cli} call hub.whoami; ls -A ${victim.dataDir}`,
      `${cli} doctor --data-dir ${victim.dataDir} >/dev/null 2>&1; echo $?`,
      `unset SIDESTICK_URL; ${cli} sessions`,
    ].join("\n");
    const { code, out, err } = await guard(script, "--name", "n2");

    expect({ code, out: out.replaceAll(/\s+/g, ""), err }).toEqual({
      code: 3,
      out: '{"role":"agent","kind":"agent","id":"n2"}1',
      err:
        "sidestick: This runs in a guard, where Sidestick's own files and sockets don't exist. Use the tools that you were " +
        "given (MCP), or $SIDESTICK_URL with a token of your own in $SIDESTICK_TOKEN: what sidestick guard starts has both.\n",
    });
  });

  const ends = [
    { script: "kill -TERM $$", code: null, signal: "SIGTERM" },
    { script: "kill -KILL $$", code: null, signal: "SIGKILL" },
    { script: "ulimit -c 0; kill -SEGV $$", code: 139, signal: null },
  ];
  test.each(isWhole ? ends : ends.slice(0, 1))(
    "[GRD-23] it ends as the program does: $script",
    async ({ script, code, signal }) => {
      expect(await guard(script)).toMatchObject({ code, signal });
    },
  );

  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  test.each(isWhole ? signals : signals.slice(0, 1))(
    "[GRD-23] %s to the command is one to the program",
    async (name) => {
      const trap = `trap 'echo told; exit 9' ${name.slice(3)}`;
      const child = start([], ["bash", "-c", `${trap}; echo ready; while :; do read -t 1; done`]);
      const out = lines(child);
      await eventually(() => expect(out()).toBe("ready\n"));
      child.kill(name);

      expect(await once(child, "exit")).toEqual([9, null]);
      expect(out()).toBe("ready\ntold\n");
    },
  );

  test("[GRD-23] it ends with the program's code, and all that it started is dead", async () => {
    const marker = `${100_000 + account.uid}.25`;
    const script = `setsid nohup sleep ${marker} >/dev/null 2>&1 & (sleep ${marker} >/dev/null 2>&1 &) ; exit 7`;

    expect(await guard(script)).toMatchObject({ code: 7, signal: null });
    expect(runs("sleep", marker)).toEqual([]);
  });

  test("[GRD-23] a killed command takes the program along, and its token is short-lived", async () => {
    const marker = `${200_000 + account.uid}.25`;
    const child = start(["--name", "n3"], ["bash", "-c", `setsid sleep ${marker} & sleep ${marker}`]);
    await eventually(() => expect(runs("sleep", marker)).toHaveLength(2));
    const before = Date.now();
    child.kill("SIGKILL");

    await eventually(() => expect(runs("sleep", marker)).toEqual([]));
    const [token] = await agents("n3");
    expect(Date.parse(token?.expiresAt ?? "") - before).toBeLessThanOrEqual(600_000);
  });

  test("[GRD-23, GRD-13] paths can be hidden, shown and made read-only, and the network cut off (needs curl)", async () => {
    victim.write("notes/a", "x");
    const script = `cat notes/a; cat ~/.aws/credentials; echo y > project/README; env | grep -cE "SIDESTICK_(URL|TOKEN)"; curl -s ${victim.url}/healthz`;
    const options = ["--hide", "notes", "--show", `${victim.home}/.aws`, "--read-only", "project", "--no-network"];
    const { code, out } = await guard(script, "--name", "n4", ...options);

    expect({ code, out }).toEqual({ code: 7, out: "aws_secret_access_key = of-the-person\n0\n" });
    expect(readFileSync(`${victim.home}/project/README`, "utf8")).toBe("to be worked on\n");
    expect(await agents("n4")).toEqual([]);
  });

  test("[GRD-11, GRD-23] what stays open because it can't be made is told", async () => {
    const home = `${victim.home}/odd`;
    victim.write("odd/.config", "a file where a directory should be");
    const elsewhere = { HOME: home, XDG_CONFIG_HOME: `${victim.home}/.config` };
    const child = start(["--data-dir", victim.dataDir], ["true"], elsewhere);
    const [err] = await Promise.all([text(child.stderr!), once(child, "exit")]);

    expect(child.exitCode).toBe(0);
    expect(err.split("\n")).toContain(
      `sidestick: ${home}/.config/autostart isn't there and could not be made, so the program may make it.`,
    );
  });

  test("[GRD-23] on a terminal keys, Ctrl+C, Ctrl+Z and fg are the program's, and the shell has its jobs back", async () => {
    const shell = shellOf();
    await shell.shows("> ");
    const modes = await shell.modes();
    shell.type(`${words("cat")}\r`);
    await shell.shows("cat\r\n");
    shell.type("one\r");
    await shell.shows("one\r\none\r\n");
    shell.type("\x1A");
    await shell.shows("Stopped");
    expect(await shell.run("jobs")).toContain("Stopped");
    shell.type("fg\r");
    await shell.shows("guard");
    shell.type("two\r");
    await shell.shows("two\r\ntwo\r\n");
    shell.type("\x03");
    await shell.prompt();

    expect(await shell.run("echo rc=$?")).toContain("rc=130");
    expect(await shell.run("jobs")).not.toContain("guard");
    expect(await shell.modes()).toBe(modes);
    shell.type("sh -c 'echo on; exec sleep 1000'\r");
    await shell.shows("\non\r\n");
    shell.type("\x03");
    await shell.prompt();
  });

  test("[GRD-23] a shell inside has its own jobs, and a program that dies raw leaves the terminal as it was", async () => {
    const shell = shellOf();
    await shell.shows("> ");
    const modes = await shell.modes();
    shell.type(`${words("bash --norc -i")}\r`);
    expect(await shell.prompt()).not.toContain("no job control");
    shell.type("cat\r");
    await shell.shows("cat\r\n");
    shell.type("here\r");
    await shell.shows("here\r\nhere\r\n");
    shell.type("\x1A");
    await shell.shows("Stopped");
    // One that bash still takes for stopped would keep it from exiting.
    await shell.run('kill -9 %1; while [ -n "$(jobs -s)" ]; do sleep 0.02; done');
    shell.type("exit 3\r");
    await shell.prompt();
    expect(await shell.run("echo rc=$?")).toContain("rc=3");

    await shell.run(`sh -c "${words(`sh -c 'stty raw -echo; kill -9 $$'`).replaceAll("$", "\\$")}; stty -g > modes"`);
    expect(readFileSync(`${victim.home}/modes`, "utf8").trim()).toBe(modes);
  });

  if (isWhole) tellingAlike();

  /** What doesn't depend on how the guard is built: as root alone. */
  function tellingAlike(): void {
    test("[GRD-23] inside, `sidestick mcp` serves the agent's tools", async () => {
      const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
      const messages = [
        { jsonrpc: "2.0", id: 1, method: "initialize", params: hello },
        { jsonrpc: "2.0", method: "notifications/initialized" },
        { jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "hub_whoami", arguments: {} } },
      ];
      victim.write("messages", messages.map((it) => `${JSON.stringify(it)}\n`).join(""));
      const talk = `coproc M { ${process.execPath} ${QUIET.join(" ")} mcp; }; cat messages >&\${M[1]}; head -n 2 <&\${M[0]}`;
      const { out } = await guard(talk, "--name", "n5");

      expect(out).toContain('"structuredContent":{"role":"agent","kind":"agent","id":"n5"}');
    });

    test.each([
      { args: ["--show", ".local"], command: ["true"], code: 2, told: "would show Sidestick's own data. See --help." },
      { args: ["--url", "http://127.0.0.1:1"], command: ["true"], code: 2, told: "it takes --data-dir, not --url." },
      {
        args: [],
        command: ["no-such-program"],
        code: 127,
        told: 'There is no program "no-such-program". Give its path',
      },
      { args: ["--data-dir", "/nowhere"], command: ["true"], code: 125, told: "The hub isn't running" },
    ])("[GRD-23] nothing is started, and why is said: $args $command", async ({ args, command, code, told }) => {
      const child = start(args, command);
      const [err] = await Promise.all([text(child.stderr!), once(child, "exit")]);

      expect({ code: child.exitCode, err }).toEqual({ code, err: expect.stringContaining(told) });
    });
  }

  if (account.uid === 0) refusing();

  function refusing(): void {
    test("[GRD-23, GRD-21] where no guard can be built, nothing is started and the remedy is told (needs setpriv)", async () => {
      const without = ["--bounding-set", "-sys_admin", "--inh-caps", "-all"];
      const child = spawn(
        "/usr/bin/setpriv",
        [...without, process.execPath, ...QUIET, "guard", "--", "touch", "made"],
        {
          cwd: victim.home,
          env: { PATH: "/usr/bin:/bin", HOME: victim.home },
        },
      );
      const [err] = await Promise.all([text(child.stderr), once(child, "exit")]);

      expect(child.exitCode).toBe(125);
      expect(err).toMatch(
        /^sidestick: This machine can't guard \(.*\)\. Nothing was started\. allow unprivileged user/,
      );
      expect(readdirSync(victim.home)).not.toContain("made");
      expect((await victim.person.token.list()).filter((it) => it.name === "touch")).toEqual([]);
    });
  }

  function shellOf(): TypedShell {
    const as =
      account.uid === 0 ? [] : ["setpriv", `--reuid=${account.uid}`, `--regid=${account.gid}`, "--clear-groups"];
    return new TypedShell(environment(), victim.home, as);
  }

  const words = (program: string): string => `${process.execPath} ${QUIET.join(" ")} guard -- ${program}`;
}

describe.runIf(process.getuid?.() === 0)("as root (needs root)", () => guarding({ uid: 0, gid: 0 }));
describe.runIf(canHaveAccounts)("as nobody (needs root, setpriv and an open checkout)", () =>
  guarding({ uid: 65_534, gid: 65_534 }),
);

function lines(child: ChildProcess): () => string {
  let seen = "";
  child.stdout!.on("data", (chunk: Buffer) => (seen += chunk.toString()));
  return () => seen;
}

function runs(...argv: readonly string[]): readonly string[] {
  const wanted = argv.map((it) => `${it}\0`).join("");
  return readdirSync("/proc").filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8") === wanted;
    } catch {
      return false;
    }
  });
}
