import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { chmod, mkdir } from "node:fs/promises";
import { createConnection } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { Host } from "../../src/host/host.ts";
import { listenForHubs } from "../../src/host/link/link-server.ts";
import { connectLocalHost, hostEnvironment, type LocalHost } from "../../src/main/local-host.ts";
import { encodeMessage } from "../../src/protocol/link.ts";
import { openPeerReader } from "../../src/server/peer.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { eventually } from "../support/eventually.ts";
import { plainSessions } from "../support/plain-session.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import {
  dial,
  HOST_PROGRAM,
  kill,
  newSession,
  silent,
  SIZE,
  socketOf,
  spawnHost,
  Taken,
  typed,
} from "./host-process.ts";

/** Ended when the test is over, with the host. */
async function connected(dataDir: string): Promise<LocalHost> {
  const local = await connectLocalHost({ dataDir, logger: silent, program: [HOST_PROGRAM] });
  onTestFinished(async () => {
    await local.close();
    await killPid(pidOf(dataDir));
  });
  return local;
}

function pidOf(dataDir: string): number {
  return Number(readFileSync(join(dataDir, "host", "lock"), "utf8"));
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie has ended; somebody has yet to ask for it.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

async function killPid(pid: number): Promise<void> {
  if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await eventually(() => expect(isAlive(pid)).toBe(false));
}

async function ending(child: ChildProcess): Promise<{ code: number | null; out: string }> {
  const [out, [code]] = await Promise.all([text(child.stdout!), once(child, "exit") as Promise<[number | null]>]);
  return { code, out };
}

/** In this process. */
async function hostHere(dataDir: string): Promise<{ readonly host: Host; readonly isOver: () => boolean }> {
  const way = listenForHubs({ path: socketOf(dataDir), peerOf: await openPeerReader(), logger: silent });
  const parts = { directory: join(dataDir, "host"), hostId: "local", logger: silent, way };
  const host = (await Host.start({ ...parts, openSession: plainSessions("cat") })) ?? expect.fail("it didn't start");
  let isOver = false;
  void host.ended.then(() => (isOver = true));
  return { host, isOver: () => isOver };
}

/** Unlike `eventually`, moves no fake timer. */
async function turnsUntil(isTrue: () => boolean): Promise<void> {
  for (const end = performance.now() + DEADLINE_MS; !isTrue() && performance.now() < end;) {
    await new Promise(setImmediate);
  }
}

function startAgain(dataDir: string, ...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [HOST_PROGRAM, "--data-dir", dataDir, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => kill(child));
  return child;
}

test("[HST-15] a second host says that one runs and ends with 0; the first goes on", async () => {
  const dataDir = await temporaryDirectory();
  const first = await spawnHost(dataDir);

  const second = await ending(startAgain(dataDir));

  expect(second).toEqual({ code: 0, out: `A host already runs there (pid ${first.pid}).\n` });
  const { link } = await dial(dataDir);
  expect(link.welcome).toMatchObject({ pid: first.pid, sessions: [] });
});

test("[HST-15] where one holds the directory and doesn't answer, the next says so and fails", async () => {
  const dataDir = await temporaryDirectory();
  await mkdir(join(dataDir, "host"), { mode: 0o700 });
  const lock = join(dataDir, "host", "lock");
  const holder = spawn("flock", [lock, "sh", "-c", "echo held; read line"], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void holder.kill());
  await once(holder.stdout, "data");

  const next = spawn(process.execPath, [HOST_PROGRAM, "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, HOST_IMPATIENT: "1" },
  });
  const [said, [code]] = await Promise.all([text(next.stderr), once(next, "close")]);

  expect([code, said]).toEqual([1, `sidestick: Another host holds ${join(dataDir, "host")}, but does not answer.\n`]);
});

test("[HST-15] of many that start at once, one runs", async () => {
  const dataDir = await temporaryDirectory();
  const children = Array.from({ length: 4 }, () => startAgain(dataDir));

  await eventually(() => expect(children.filter((it) => it.exitCode === 0)).toHaveLength(3));

  const { link } = await dial(dataDir);
  expect(children.map((it) => it.pid)).toContain(link.welcome?.pid);
});

test("[HST-15] the socket of a host that was killed is replaced", async () => {
  const dataDir = await temporaryDirectory();
  await kill(await spawnHost(dataDir));
  expect(existsSync(socketOf(dataDir))).toBe(true);

  const next = await spawnHost(dataDir);

  const { link } = await dial(dataDir);
  expect(link.welcome?.pid).toBe(next.pid);
});

test("[HST-2] the socket is for its owner alone, and so is all around it", async () => {
  const dataDir = await temporaryDirectory();
  await spawnHost(dataDir);

  const modes = ["host", "host/link.sock", "host/spool", "host/lock", "host.log"].map((path) => {
    return statSync(join(dataDir, path)).mode & 0o777;
  });

  expect(modes).toEqual([0o700, 0o600, 0o700, 0o600, 0o600]);
});

test.skipIf(process.getuid?.() !== 0)(
  "[HST-2] a connection of another user is closed unheard, even where the file's mode lets it in (needs root and setpriv)",
  async () => {
    const dataDir = await temporaryDirectory();
    await spawnHost(dataDir);
    await Promise.all([dataDir, join(dataDir, "host")].map((path) => chmod(path, 0o755)));
    await chmod(socketOf(dataDir), 0o666);
    const script = `const s = require("net").connect(${JSON.stringify(socketOf(dataDir))});
      let got = "nothing"; s.on("connect", () => (got = "connected,"));
      s.on("data", () => (got += "data,")); s.on("error", (e) => (got += e.code + ",")); s.on("close", () => console.log(got));`;

    const arguments_ = ["--reuid", "65534", "--clear-groups", process.execPath, "-e", script];
    const { stdout } = spawnSync("/usr/bin/setpriv", arguments_, { encoding: "utf8" });

    // EPIPE or ECONNRESET may be how it notices.
    expect(stdout).toMatch(/^connected,/);
    expect(stdout).not.toContain("data");
  },
);

test("[HST-16] the hub starts a host that outlives it, and finds it again with its sessions", async () => {
  const dataDir = await temporaryDirectory();
  const first = await connected(dataDir);
  const session = newSession();
  const taken = new Taken();
  await first.driver.start(session, SIZE, taken.intake);
  await first.close();

  const second = await connected(dataDir);

  expect(second.link.welcome).toMatchObject({ pid: first.link.welcome?.pid, sessions: [session.sessionId] });
  expect(await second.driver.adopt(session, { order: 0 }, taken.intake)).toBe("running");
  await second.driver.input(session.sessionId, typed("hello"));
  await eventually(() => expect(taken.text).toBe("hello"));
});

test("[HST-16] a terminal's signals don't end it", async () => {
  const dataDir = await temporaryDirectory();
  const host = await spawnHost(dataDir);
  const { link, driver } = await dial(dataDir);
  const session = newSession();
  await driver.start(session, SIZE, new Taken().intake);

  host.kill("SIGINT");
  host.kill("SIGHUP");

  expect(await driver.status(session.sessionId)).toMatchObject({ shell: "sh" });
  expect(link.welcome?.pid).toBe(host.pid);
  expect(host.exitCode ?? host.signalCode).toBe(null);
});

test("[HST-16] the host's environment holds nothing of npm's and no token", async () => {
  const dataDir = await temporaryDirectory();
  process.env["SIDESTICK_TOKEN"] = "secret";
  process.env["npm_config_x"] = "y";
  onTestFinished(() => {
    delete process.env["SIDESTICK_TOKEN"];
    delete process.env["npm_config_x"];
  });
  await connected(dataDir);

  const environment = readFileSync(`/proc/${pidOf(dataDir)}/environ`, "utf8");

  expect(environment).toContain("PATH=");
  expect(environment).not.toMatch(/npm_|SIDESTICK_|node_modules|VITEST/);
});

test("[HST-16] the environment keeps what a login gives", () => {
  const kept = { HOME: "/srv/ann", LANG: "C.UTF-8", LC_TIME: "de_DE", SHELL: "/bin/zsh" };
  const path = "/x/node_modules/.bin:relative:/usr/bin:/bin";

  expect(
    hostEnvironment({ ...kept, PATH: path, NODE_OPTIONS: "-r x", npm_x: "1", AWS_SECRET_ACCESS_KEY: "s" }),
  ).toEqual({
    ...kept,
    PATH: "/usr/bin:/bin",
  });
});

test("[HST-16] a host that can't start is an error that says why", async () => {
  const dataDir = await temporaryDirectory();
  writeFileSync(join(dataDir, "host"), "in the way");

  const failing = connectLocalHost({ dataDir, logger: silent, program: [HOST_PROGRAM] });

  await expect(failing).rejects.toThrow(/The host could not start: .*host/);
});

test("[HST-17] SHUTDOWN when idle ends a host at once that has nothing to do", async () => {
  const dataDir = await temporaryDirectory();
  const local = await connected(dataDir);
  const pid = pidOf(dataDir);

  expect(await local.shutdown("idle")).toBe(0);

  await eventually(() => expect(isAlive(pid)).toBe(false));
  expect(existsSync(socketOf(dataDir))).toBe(false);
});

test("[HST-17] SHUTDOWN when idle waits for the last session; now ends it", async () => {
  const dataDir = await temporaryDirectory();
  const local = await connected(dataDir);
  const pid = pidOf(dataDir);
  const session = newSession();
  const taken = new Taken();
  await local.driver.start(session, SIZE, taken.intake);

  expect(await local.shutdown("idle")).toBe(1);
  expect(await local.driver.status(session.sessionId)).toMatchObject({ shell: "sh" });
  expect(await local.shutdown("now")).toBe(1);

  await eventually(() => expect(isAlive(pid)).toBe(false));
  expect(taken.frames.at(-1)).toMatchObject({ kind: "exit" });
});

test("[HST-17] a host that ends now doesn't wait for a hub that has left", async () => {
  const dataDir = await temporaryDirectory();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { host, isOver } = await hostHere(dataDir);
  const { link, driver } = await dial(dataDir);
  const taken = new Taken();
  const hasEnded = (): boolean => taken.frames.at(-1)?.kind === "exit";
  await driver.start(newSession(), SIZE, async (frames) => {
    await taken.intake(frames);
    if (hasEnded()) await new Promise(() => undefined); // the end is never acknowledged
  });
  host.shutdown("now");
  await turnsUntil(hasEnded);
  const before = isOver();

  link.close();

  await turnsUntil(isOver);
  expect([before, isOver()]).toEqual([false, true]);
});

test("[HST-17] a host that was to end when idle serves the hub that comes before that", async () => {
  const dataDir = await temporaryDirectory();
  const first = await connected(dataDir);
  await first.driver.start(newSession(), SIZE, new Taken().intake);
  await first.shutdown("idle");
  await first.close();

  const second = await connected(dataDir);
  const taken = new Taken();
  const session = newSession();
  await second.driver.start(session, SIZE, taken.intake);
  await second.driver.input(session.sessionId, typed("served"));

  await eventually(() => expect(taken.text).toBe("served"));
});

test("[HST-17] a host without sessions and without a hub ends by itself after a minute, and not before", async () => {
  const dataDir = await temporaryDirectory();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const { host, isOver } = await hostHere(dataDir);
  onTestFinished(() => void host.shutdown("now"));
  const { link, driver } = await dial(dataDir);
  const session = newSession();
  await driver.start(session, SIZE, new Taken().intake);
  vi.advanceTimersByTime(60_000);
  await driver.stop(session.sessionId);
  await eventually(() => expect(driver.status(session.sessionId)).rejects.toMatchObject({ code: "not_found" }));
  vi.advanceTimersByTime(60_000);
  await expect(driver.status(session.sessionId)).rejects.toMatchObject({ code: "not_found" });
  const before = isOver();

  link.close();

  await eventually(() => {
    vi.advanceTimersByTime(60_000);
    expect([before, isOver()]).toEqual([false, true]);
  });
});

test("[HST-17] --idle-seconds says after how long", async () => {
  const host = startAgain(await temporaryDirectory(), "--idle-seconds", "0");

  expect((await ending(host)).code).toBe(0);
});

test("[HST-18] a host that died is started again, and its sessions are gone", async () => {
  const dataDir = await temporaryDirectory();
  const local = await connected(dataDir);
  const first = local.link.welcome;
  const session = newSession();
  await local.driver.start(session, SIZE, new Taken().intake);
  const returned = new Promise<void>((resolve) => local.driver.onReturn(resolve));

  await killPid(pidOf(dataDir));
  await returned;

  expect(local.link.welcome?.instance).not.toBe(first?.instance);
  expect(await local.driver.adopt(session, { order: 0 }, new Taken().intake)).toBe("gone");
});

test("[HST-2] whoever doesn't say HELLO is not heard", async () => {
  const dataDir = await temporaryDirectory();
  await spawnHost(dataDir);
  const socket = createConnection({ path: socketOf(dataDir) });
  onTestFinished(() => void socket.destroy());

  socket.write(encodeMessage({ type: "SHUTDOWN", id: 1, when: "now" }));

  expect(await text(socket)).toContain("The first message has to be HELLO");
  const { link } = await dial(dataDir);
  expect(link.online).toBe(true);
});
