import { writeFile } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { answering, refusing, serveAtSocket } from "../../test/support/answering-hub.ts";
import { runCli, runCliHere, runOnTerminal, startCli } from "../../test/support/run-cli.ts";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { AppError, ERRORS, problemOf } from "../protocol/errors.ts";
import { operationNames } from "../protocol/operations.ts";
import { COMMANDS } from "./commands.ts";
import { readVersion } from "./version.ts";

test("[CLI-1] --version prints the version alone", async () => {
  expect(await runCli(["--version"])).toEqual({ code: 0, stdout: `${readVersion()}\n`, stderr: "" });
});

test.each([[["--help"]], [["-h"]], [["help"]], [[]]])("[CLI-1] %j lists every command", async (args) => {
  const { code, stdout, stderr } = await runCliHere(args);

  expect([code, stderr]).toEqual([0, ""]);
  expect(COMMANDS.filter(({ name }) => !stdout.includes(`  ${name} `))).toEqual([]);
  expect(stdout).toContain("Exit codes: 0 done, 1 failed, 2 wrong command line, 3 hub not reachable, 4 refused");
});

test.each(COMMANDS.filter((it) => it.isRaw !== true).map(({ name }) => name))(
  "[CLI-1] %s --help has usage, options and summary",
  async (name) => {
    const { code, stdout } = await runCliHere([...name.split(" "), "--help"]);

    const { options = {}, examples = [] } = COMMANDS.find((it) => it.name === name) ?? {};
    const expected = [`Usage: sidestick ${name}`, ...Object.keys(options).map((option) => `--${option}`), ...examples];
    expect(code).toBe(0);
    expect(expected.filter((text) => !stdout.includes(text))).toEqual([]);
  },
);

test("[CLI-1] up has its own help", async () => {
  const { code, stdout } = await runCli(["up", "--help"]);

  expect(code).toBe(0);
  expect(stdout).toContain("--port PORT");
});

test("[CLI-1] the help of host lists what may follow it", async () => {
  const { stdout } = await runCli(["host", "--help"]);

  const names = COMMANDS.map(({ name }) => name).filter((it) => it.startsWith("host"));
  expect(names.filter((name) => !stdout.includes(`${name} `))).toEqual([]);
});

test("[CLI-1] the help says which commands don't take what all others do, and a default of their own once", async () => {
  const general = await runCliHere(["--help"]);
  const status = await runCliHere(["host", "status", "--help"]);

  expect(general.stdout).toContain("Every command but up, host join, host: --json, --data-dir DIR");
  expect(status.stdout.match(/--data-dir .*/g)).toEqual([
    "--data-dir DIR          that of `host join` (default ~/.local/share/sidestick-host)",
  ]);
});

test("[CLI-1] the help of a first word lists what may follow", async () => {
  const { code, stdout } = await runCliHere(["sessions", "--help"]);

  expect(code).toBe(0);
  expect(stdout).toContain("sessions create  Start a session and print its id");
});

test.each([
  { args: ["sesions"], told: 'There is no command "sesions". Did you mean "sessions"?' },
  { args: ["xyzzy"], told: 'There is no command "xyzzy".' },
  { args: ["token"], told: '"token" needs one more word: token create, token list, token revoke.' },
  { args: ["token", "lst"], told: 'There is no command "token lst". Did you mean "token list"?' },
  { args: ["--data-dir", "d", "sessions"], told: "Options come after the command" },
  { args: ["sessions", "--nope"], told: "Unknown option '--nope'." },
  {
    args: ["sessions", "--status", "open"],
    told: '--status is "open", but should be one of created, active, paused, closed.',
  },
  {
    args: ["sessions", "create", "--kind", "terminal", "--containment", "user"],
    told: "--containment user needs the account in which it runs: add --user NAME.",
  },
  { args: ["sessions", "get"], told: '"sessions get" needs <session|conversation>.' },
  { args: ["sessions", "get", "a", "b"], told: '"sessions get" does not take "b".' },
  {
    args: ["sessions", "create"],
    told: "--kind is needed: terminal (browser, file and desktop are kinds to come, without a driver yet).",
  },
  { args: ["token", "create", "--role", "agent"], told: "--role and --name are needed." },
  { args: ["token", "create", "--role", "boss", "--name", "n"], told: '--role is "boss", but should be one of' },
  { args: ["events", "--after", "x"], told: '--after is "x", but should be a whole number.' },
  { args: ["events", "--types", "stdout,nope"], told: '--types is "nope", but should be one of stdout,' },
  { args: ["sessions", "--url", "ftp://x"], told: '--url is "ftp://x", but should be an address' },
  { args: ["sessions", "--url", "http://me:secret@x"], told: "--url holds a password" },
  {
    args: ["sessions", "--token-file", "/nonexistent/t"],
    told: "The token file /nonexistent/t can't be read (ENOENT).",
  },
])("[CLI-2, CLI-3] $args is a wrong command line", async ({ args, told }) => {
  const { code, stdout, stderr } = await runCliHere(args);

  expect([code, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^sidestick: .*\n$/);
  expect(stderr).toContain(told);
});

test("[CLI-2, CLI-3] the process ends with that code", async () => {
  expect(await runCli(["sesions"])).toEqual({
    code: 2,
    stdout: "",
    stderr: 'sidestick: There is no command "sesions". Did you mean "sessions"? See --help.\n',
  });
});

test("[CLI-3, CLI-4] no hub: what to do, and exit code 3", async () => {
  const dataDir = await temporaryDirectory();

  const start = `npm start -- --data-dir ${dataDir}`;
  const told = `sidestick: The hub isn't running (no answer at ${dataDir}/hub.sock). Start it: ${start}\n`;
  expect(await runCli(["sessions", "--data-dir", dataDir])).toEqual({ code: 3, stdout: "", stderr: told });
});

test("[CLI-4] what starts the hub names its directory, unless it is the default, as a shell reads it", async () => {
  const home = await temporaryDirectory();
  const advice = async (env: Record<string, string>) =>
    /Start it: (.*)/.exec((await runCli(["sessions"], { env })).stderr)?.[1];

  const told = await Promise.all([
    advice({ HOME: home }),
    advice({ HOME: home, SIDESTICK_DATA_DIR: join(home, "o'clock $HOME") }),
  ]);

  expect(told).toEqual(["npm start", String.raw`npm start -- --data-dir '${home}/o'\''clock $HOME'`]);
});

test("[CLI-3, CLI-4] no hub at an address", async () => {
  const { code, stderr } = await runCli(["sessions", "--url", "http://127.0.0.1:1"], { env: { SIDESTICK_TOKEN: "t" } });

  expect(code).toBe(3);
  expect(stderr).toContain("The hub isn't reachable (no answer at http://127.0.0.1:1:");
});

test("[CLI-3, CLI-4] a hub that dies during the call", async () => {
  const dataDir = await serveAtSocket((request) => request.socket.destroy());

  const { code, stderr } = await runCli(["sessions", "--data-dir", dataDir]);

  expect(code).toBe(3);
  expect(stderr).toContain("went away before it answered (ECONNRESET). See whether it was done before you try again");
});

test.each([
  { code: "unauthenticated", exit: 4 },
  { code: "forbidden", exit: 4 },
  { code: "origin_refused", exit: 4 },
  { code: "policy_denied", exit: 1 },
  { code: "approval_expired", exit: 1 },
  { code: "approval_rejected", exit: 1 },
  { code: "secret_for_person", exit: 1 },
  { code: "not_found", exit: 1 },
  { code: "storage_unavailable", exit: 1 },
  { code: "internal", exit: 1 },
] as const)("[CLI-3, CLI-4] $code ends with $exit, as a sentence or as a problem", async ({ code, exit }) => {
  const dataDir = await serveAtSocket(refusing(code));

  const plain = await runCliHere(["workspaces", "--data-dir", dataDir]);
  const json = await runCliHere(["workspaces", "--json", "--data-dir", dataDir]);

  const problem = JSON.parse(json.stderr) as Record<string, string>;
  const { httpStatus: unwanted, status } = problem;
  expect([plain.code, plain.stdout, json.code, json.stdout]).toEqual([exit, "", exit, ""]);
  expect(problem).toMatchObject({ code, detail: expect.any(String) as string, remedy: expect.any(String) as string });
  expect([status, unwanted]).toEqual([ERRORS[code].http, undefined]);
  expect(plain.stderr).toBe(`sidestick: ${problem.detail} ${problem.remedy}\n`);
});

test("[CLI-4] a list as JSON is the hub's answer and nothing else", async () => {
  const dataDir = await serveAtSocket(answering([{ workspaceId: "w" }]));

  const { code, stdout, stderr } = await runCliHere(["workspaces", "--json", "--data-dir", dataDir]);

  expect([code, stderr, JSON.parse(stdout)]).toEqual([0, "", [{ workspaceId: "w" }]]);
});

const nasty = {
  sessionId: "s",
  kind: "terminal",
  status: "active",
  createdAt: "x",
  workspaceId: "w",
  containment: "open",
  title: "\u001b]0;x\u0007\u009b2J\u202e",
};

test("[CLI-6] a hostile title reaches no terminal, in no format", async () => {
  const dataDir = await serveAtSocket(answering([nasty]));

  const table = await runCli(["sessions", "--data-dir", dataDir]);
  const json = await runCli(["sessions", "--json", "--data-dir", dataDir]);

  const unsafe = /[^\n\P{C}]/u;
  expect(table.stdout).toContain(String.raw`\e]0;x\u{7}\u{9b}2J\u{202e}`);
  expect([unsafe.test(table.stdout), unsafe.test(json.stdout)]).toEqual([false, false]);
  expect(JSON.parse(json.stdout)).toEqual([nasty]);
});

test("[CLI-6] neither does a hostile error", async () => {
  const dataDir = await serveAtSocket((_request, response) => {
    const problem = { ...problemOf(new AppError("internal")), detail: "\u001b[2J" };
    response.writeHead(500, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
  });

  const { stderr } = await runCli(["sessions", "--data-dir", dataDir]);

  expect(stderr).toContain(String.raw`sidestick: \e[2J.`);
});

test("[CLI-5] a table fits the terminal it is on (needs script)", async () => {
  const dataDir = await serveAtSocket(
    answering([{ ...nasty, title: "a title of many words, more than there is room for" }]),
  );

  const { stdout } = await runOnTerminal(["sessions", "--data-dir", dataDir], { cols: 66 });

  const lines = stdout.replaceAll("\r", "").trimEnd().split("\n");
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => line.length <= 66)).toBe(true);
  expect(lines[1]).toMatch(/…$/);
});

test("[CLI-8] the token goes along on the socket too; the file wins over the environment", async () => {
  const dataDir = await serveAtSocket((request, response) =>
    answering([{ workspaceId: request.headers.authorization ?? "none" }])(request, response),
  );
  const file = join(dataDir, "token");
  await writeFile(file, "from-file\n");
  const asked = (args: string[], env = {}) =>
    runCli(["workspaces", "--json", ...args], { env: { SIDESTICK_DATA_DIR: dataDir, ...env } });

  const outputs = await Promise.all([
    asked([]),
    asked([], { SIDESTICK_TOKEN: "from-env" }),
    asked(["--token-file", file], { SIDESTICK_TOKEN: "from-env" }),
  ]);

  const seen = outputs.map(({ stdout }) => (JSON.parse(stdout) as { workspaceId: string }[])[0]?.workspaceId);
  expect(seen).toEqual(["none", "Bearer from-env", "Bearer from-file"]);
});

test("[CLI-8] the data directory: option, environment, config file, XDG", async () => {
  const home = await temporaryDirectory();
  const config = join(home, "c.json");
  await writeFile(config, JSON.stringify({ dataDir: join(home, "by-config") }));
  const told = async (args: string[], env: Record<string, string>) =>
    /at (\S+)\/hub.sock/.exec((await runCli(["sessions", ...args], { env })).stderr)?.[1];

  const places = await Promise.all([
    told(["--data-dir", join(home, "by-option")], { SIDESTICK_DATA_DIR: join(home, "by-env") }),
    told([], { SIDESTICK_DATA_DIR: join(home, "by-env"), SIDESTICK_CONFIG: config }),
    told([], { SIDESTICK_CONFIG: config }),
    told([], { XDG_DATA_HOME: home }),
    told([], { HOME: home }),
  ]);

  const expected = ["by-option", "by-env", "by-config", "sidestick", ".local/share/sidestick"];
  expect(places).toEqual(expected.map((name) => join(home, name)));
});

test("[CLI-10] `| head` ends a long list quietly", async () => {
  const dataDir = await serveAtSocket(answering(Array.from({ length: 20_000 }, () => nasty)));

  const child = startCli(["sessions", "--data-dir", dataDir]);
  const stderr = child.stderr === null ? undefined : text(child.stderr);
  child.stdout?.once("data", () => child.stdout?.destroy());
  const [code] = (await once(child, "exit")) as [number];

  expect([code, await stderr]).toEqual([0, ""]);
});

test("[CLI-13] call --list knows every operation", async () => {
  const { code, stdout } = await runCliHere(["call", "--list", "--json"]);

  expect(code).toBe(0);
  expect((JSON.parse(stdout) as { name: string }[]).map(({ name }) => name)).toEqual(operationNames);
});

test.each([
  { args: ["session.lst"], told: "Did you mean session.list?" },
  { args: ["event.stream"], told: "use: sidestick events --follow" },
  { args: ["event.list", '{"token":"hunter2"'], told: "The input should be a JSON object" },
  { args: ["event.list", '["hunter2"]'], told: "The input should be a JSON object" },
  { args: [], told: '"call" needs an operation, or --list.' },
])("[CLI-13] call $args is a wrong command line", async ({ args, told }) => {
  const { code, stderr } = await runCliHere(["call", ...args]);

  expect(code).toBe(2);
  expect(stderr).toContain(told);
  expect(stderr).not.toContain("hunter2");
});

test("[CLI-14] reset without a terminal needs --yes", async () => {
  const dataDir = await serveAtSocket(answering({ ok: true, closedSessions: 2, endedApprovals: 1 }));

  const asked = await runCli(["reset", "--data-dir", dataDir]);
  const meant = await runCli(["reset", "--yes", "--data-dir", dataDir]);

  expect(asked).toEqual({
    code: 2,
    stdout: "",
    stderr: "sidestick: Nobody is here to confirm; say --yes if it is meant. See --help.\n",
  });
  expect(meant).toEqual({ code: 0, stdout: "", stderr: "Closed 2 sessions, ended 1 approvals.\n" });
});

test.each([
  { typed: "y\r", code: 0, told: "Closed 2 sessions" },
  { typed: "n\r", code: 1, told: "Nothing was done." },
  { typed: "\r", code: 1, told: "Nothing was done." },
  { typed: "\u0004", code: 1, told: "Nothing was done." },
])("[CLI-14] on a terminal reset asks: $typed (needs script)", async ({ typed, code, told }) => {
  const dataDir = await serveAtSocket(answering({ ok: true, closedSessions: 2, endedApprovals: 1 }));

  const result = await runOnTerminal(["reset", "--data-dir", dataDir], { until: "[y/N]", type: typed });

  expect(result.code).toBe(code);
  expect(result.stdout).toContain(told);
});

test("[CLI-15] doctor without a hub looks at the machine and fails", async () => {
  const dataDir = await temporaryDirectory();

  const { code, stdout } = await runCli(["doctor", "--data-dir", dataDir]);
  const json = await runCli(["doctor", "--json", "--data-dir", dataDir]);

  expect([code, json.code]).toEqual([1, 1]);
  expect(stdout).toMatch(/^✗ hub: .* → Start it: npm start -- --data-dir .*$/m);
  expect(JSON.parse(json.stdout)).toMatchObject({ ok: false, version: readVersion() });
});

const DIAGNOSIS = "✓ a: fine\n! b: so so → do this\n✗ c: not there\n- d: not there either\n";

test.each([
  { ok: true, code: 0 },
  { ok: false, code: 1 },
])("[CLI-15] doctor believes the hub: ok $ok is $code", async ({ ok, code }) => {
  const checks = [
    { name: "a", state: "ready", needed: true, detail: "fine", remedy: "none" },
    { name: "b", state: "degraded", needed: false, detail: "so so", remedy: "do this" },
    { name: "c", state: "missing", needed: true, detail: "not there" },
    { name: "d", state: "missing", needed: false, detail: "not there either" },
  ];
  const dataDir = await serveAtSocket(answering({ ok, version: "1", checks }));

  const result = await runCliHere(["doctor", "--data-dir", dataDir]);

  expect(result).toEqual({ code, stdout: DIAGNOSIS, stderr: "" });
});
