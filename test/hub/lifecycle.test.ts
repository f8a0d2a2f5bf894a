import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { runUp } from "../../src/main/up.ts";
import { spawnTestHub, startTestHub, tokenOf } from "../support/hub.ts";
import { ask, verdict } from "../support/http.ts";
import { runCliHere } from "../support/run-cli.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { endHostAfterTest } from "../support/terminal-hub.ts";
import { TestViewer } from "../support/viewer.ts";
import { eventually } from "../support/eventually.ts";

const command = new URL("../../bin/sidestick", import.meta.url).pathname;

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

const NOTHING_OF_OURS = { XDG_CONFIG_HOME: "/nowhere", SIDESTICK_AUDIT_HEADS: "/dev/null/none" };

/** `sidestick up` in this process, for what keeps it from serving. */
async function up(...args: readonly string[]): Promise<Ended> {
  const umask = process.umask();
  const [stdout, stderr]: [string[], string[]] = [[], []];
  vi.spyOn(console, "log").mockImplementation((line: string) => void stdout.push(`${line}\n`));
  vi.spyOn(console, "error").mockImplementation((line: string) => void stderr.push(`${line}\n`));
  for (const [name, value] of Object.entries(NOTHING_OF_OURS)) vi.stubEnv(name, value);
  try {
    const code = await runUp(args);
    return { code, stdout: stdout.join(""), stderr: stderr.join("") };
  } finally {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    process.umask(umask);
  }
}

test("[HUB-1] up prints the address, a login link, what is ready and what is not, and then serves", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const child = spawn(command, ["up", "--port", "0", "--data-dir", dataDir], {
    env: { ...process.env, XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir },
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  await eventually(() => expect(text).toContain("Ready."));

  const url = /Address +(http:\/\/127\.0\.0\.1:\d+)$/m.exec(text)?.[1] ?? "";
  const code = /Log in +\S+\/login#code=([\w-]{43}) /.exec(text)?.[1] ?? "";
  expect(text).toMatch(/^ {2}✓ store: SQLite/m);
  expect(text).toMatch(/^ {2}- browser sessions: /m);
  expect(verdict(await ask(url, { path: "/readyz" }))).toBe("200");
  expect(verdict(await ask(url, { method: "POST", path: "/login", body: { code } }))).toBe("200");
  const create = ["token", "create", "--role", "operator", "--name", "ann", "--data-dir", dataDir];
  const token = (await runCliHere(create)).stdout;
  expect(token).toMatch(/^sidestick_operator_[\w-]{43}\n$/);
  expect(
    (await ask(url, { method: "POST", path: "/sessions", token: token.trim(), body: { kind: "browser" } })).body.code,
  ).toBe("kind_unavailable");

  const exited = once(child, "exit");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
});

test("[CLI-23] the program runs by a link to it, from another directory, in which it stays", async () => {
  const place = await temporaryDirectory();
  await symlink(command, join(place, "first"));
  await symlink("first", join(place, "linked"));

  const ended = await promisify(execFile)("./linked", ["policy", "check", "nowhere.yaml", "--data-dir", "here"], {
    cwd: place,
    env: { ...process.env, XDG_CONFIG_HOME: "/nowhere" },
  }).catch((error: unknown) => error as Ended);

  expect(ended).toMatchObject({ code: 1 });
  expect(ended.stdout + ended.stderr).toContain("nowhere.yaml");
});

test("[HUB-3] help answers, a wrong setting stops the start with exit code 2", async () => {
  expect(await up("--help")).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("--public-url URL"),
  });
  expect(await up("--port", "x")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'sidestick: --port is "x", but should be a port number from 0 to 65535.\n',
  });
});

test("[HUB-4] a taken port: one sentence, exit code 1", async () => {
  const dataDir = await temporaryDirectory();
  endHostAfterTest(dataDir);
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;

  expect(await up("--port", String(port), "--data-dir", dataDir)).toEqual({
    code: 1,
    stdout: "",
    stderr: `sidestick: Port ${port} on 127.0.0.1 is taken. End what uses it, or choose another: --port PORT\n`,
  });
});

test("[HUB-4] a data directory that isn't one: one sentence, exit code 1, nothing destroyed", async () => {
  const file = join(await temporaryDirectory(), "file");
  await writeFile(file, "mine");

  const ended = await up("--port", "0", "--data-dir", file);

  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr).toMatch(/^sidestick: The hub can't write in .*--data-dir DIR\n$/);
  expect(await readFile(file, "utf8")).toBe("mine");
});

test.skipIf(process.getuid?.() === 0)(
  "[HUB-4] a data directory that may not be written: one sentence (skipped as root: root may write everywhere)",
  async () => {
    const dataDir = join(await temporaryDirectory(), "data");
    await mkdir(dataDir);
    await chmod(dataDir, 0o500);

    expect(await up("--port", "0", "--data-dir", dataDir)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^sidestick: The hub can't write in .*\n$/),
    });
  },
);

test("[HUB-4] a damaged database: one sentence that names the file, which stays as it was", async () => {
  const dataDir = await temporaryDirectory();
  const file = join(dataDir, "events.db");
  await writeFile(file, "this is no database, but somebody may still want it");

  const ended = await up("--port", "0", "--data-dir", dataDir);

  expect(ended).toMatchObject({ code: 1, stdout: "" });
  expect(ended.stderr.trim().split("\n")).toHaveLength(1);
  expect(ended.stderr).toContain(file);
  expect(await readFile(file, "utf8")).toBe("this is no database, but somebody may still want it");
});

test.each([
  { how: "SIGTERM", signals: ["SIGTERM"] },
  { how: "Ctrl+C that arrives twice, as under npm,", signals: ["SIGINT", "SIGINT"] },
] as const)("[HUB-5] $how ends streams, answers what is being asked, and exits with 0", async ({ signals }) => {
  const dataDir = await temporaryDirectory();
  const hub = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const viewer = await TestViewer.open(hub.url, { token });
  const sse = await fetch(`${hub.url}/events/stream`, { headers: { authorization: `Bearer ${token}` } });
  const creating = Array.from({ length: 5 }, () =>
    ask(hub.url, { method: "POST", path: "/sessions", token, body: { kind: "terminal" } }).then(verdict, () => "cut"),
  );
  await Promise.any(creating);
  const exited = once(hub.child, "exit");

  for (const signal of signals) hub.child.kill(signal);

  expect(await exited).toEqual([0, null]);
  expect(await readFile(join(dataDir, "hub.log"), "utf8")).toContain("the hub is down");
  expect(await sse.text()).toContain(": sidestick");
  await eventually(() => expect(viewer.closeCode).toBe(1001));
  expect(await readdir(dataDir)).not.toContain("hub.sock");
  const answered = (await Promise.all(creating)).filter((it) => it === "201").length;
  const again = await startTestHub({ dataDir });
  expect((await ask(again.url, { path: "/sessions", token })).body.length).toBeGreaterThanOrEqual(answered);
});

test("[HUB-4, HUB-6] doctor says what works, with and without a hub; a second one on its data directory is refused", async () => {
  const dataDir = await temporaryDirectory();

  const without = await runCliHere(["doctor", "--data-dir", dataDir]);
  const hub = await spawnTestHub(dataDir);
  const second = await up("--port", "0", "--data-dir", dataDir);
  const running = await runCliHere(["doctor", "--data-dir", dataDir, "--json"]);

  expect(without.code).toBe(1);
  expect(without.stdout).toMatch(/✗ hub.*npm start -- --data-dir/s);
  expect(second).toMatchObject({ code: 1, stdout: "" });
  expect(second.stderr.trim().split("\n")).toHaveLength(1);
  expect(verdict(await ask(hub.url, { path: "/whoami", token: await tokenOf(dataDir, "viewer", "v") }))).toBe("200");
  expect(running.code).toBe(0);
  expect(JSON.parse(running.stdout)).toMatchObject({
    ok: true,
    checks: expect.arrayContaining([
      expect.objectContaining({ name: "store", state: "ready" }),
      expect.objectContaining({ name: "browser sessions", state: "missing", needed: false }),
    ]),
  });
  await hub.kill("SIGTERM");
});

test("[HUB-5] neither pending output, nor a waiting read, nor a stream that is just opening holds the hub up", async () => {
  const dataDir = await temporaryDirectory();
  const hub = await spawnTestHub(dataDir);
  const token = await tokenOf(dataDir, "operator", "olga");
  const { sessionId } = (await ask(hub.url, { method: "POST", path: "/sessions", token, body: { kind: "terminal" } }))
    .body;
  const cut = () => undefined;
  const waiting = ask(hub.url, { path: "/events?after=999999&waitMs=40000", token }).catch(cut);
  const over = new AbortController();
  const typing = (async () => {
    while (!over.signal.aborted)
      await ask(hub.url, { method: "POST", path: `/sessions/${sessionId}/input`, token, body: { data: "x" } }).catch(
        () => over.abort(),
      );
  })();
  const knocking = (async () => {
    while (!over.signal.aborted) await TestViewer.knock(hub.url, { token }).catch(() => over.abort());
  })();
  await eventually(async () =>
    expect((await ask(hub.url, { path: "/events?types=stdout", token })).body.length).toBeGreaterThan(0),
  );
  const exited = once(hub.child, "exit");

  hub.child.kill("SIGTERM");

  // Before what waits is answered: that would be later than a test may take.
  expect(await exited).toEqual([0, null]);
  await Promise.all([waiting, typing, knocking]);
});

test("[HUB-4] a path that is too long for a socket, or below /proc: one sentence, and no hanging", async () => {
  const long = join(await temporaryDirectory(), "x".repeat(120));

  expect((await up("--port", "0", "--data-dir", long)).stderr).toMatch(
    /^sidestick: The path of .* is too long for a socket.*--data-dir DIR\n$/,
  );
  expect((await up("--port", "0", "--data-dir", "/proc/x/y")).stderr).toMatch(
    /^sidestick: The hub can't write in \/proc\/x\/y .*\n$/,
  );
});
