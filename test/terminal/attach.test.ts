/** `sidestick attach` in a real PTY, and what outlives the hub. */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { takeDown } from "../../src/main/down.ts";
import { type CliOnTerminal, modesOf, startOnTerminal } from "../support/cli-on-terminal.ts";
import { type CliResult, runCli, runCliHere } from "../support/run-cli.ts";
import { eventually } from "../support/eventually.ts";
import { isAlive } from "../support/live-terminal.ts";
import { spawnTestHub, tokenOf } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { type ProductHub, startProductHub } from "../support/product-hub.ts";

let hub: ProductHub;
beforeAll(async () => {
  hub = await startProductHub();
  return hub.end;
});

let made = 0;
const conversation = (): string => `attach-test-${(made += 1)}`;
const cli = (...args: string[]): Promise<CliResult> => runCliHere([...args, "--data-dir", hub.dataDir]);

const attach = (args: readonly string[], dataDir = hub.dataDir): CliOnTerminal =>
  startOnTerminal(["attach", ...args, "--data-dir", dataDir]);

test("[TCL-1, TCL-2, TCL-4, TCL-5, TCL-7] attach: the screen, then a terminal to type in, of our size; then as it was", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "echo earlier");
  const { screen, type, resize, exited } = attach([name]);
  await eventually(() => expect(screen()).toContain("earlier"));

  type("stty size; printf '\\033[?1049h\\033[?1000h\\033[?25l'; echo o''k\r");
  await eventually(() => expect(screen()).toMatch(/30 90\r\n.*ok\r\n/s));
  resize(100, 33);
  await eventually(async () =>
    expect(await hub.person.pty.status({ conversation_id: name })).toMatchObject({ cols: 100, rows: 33 }),
  );
  type("\u001d");

  expect((await exited).exitCode).toBe(0);
  const [, after = ""] = screen().split("ok\r\n");
  expect(after).toMatch(
    /\[\?1049l.*\[\?[\d;]*1000[\d;]*l.*\[\?7;25h.*Detached; it runs on\. Come back: sidestick attach/s,
  );
  const [before, restored] = modesOf(screen());
  expect(restored).toBe(before);
});

test("[TCL-6] neither queries reach the local terminal, nor its answers the program", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "true");
  const { screen, type, exited } = attach([name]);
  await eventually(() => expect(screen()).toContain("true"));

  type("\u001b[?62;22c\u001b[I\u001b]11;rgb:0/0/0\u0007cat -v\r");
  await eventually(() => expect(screen()).toContain("cat -v\r\n"));
  type("a\u001b[24;80Rb\u001b[O\r");
  await eventually(() => expect(screen()).toContain("ab\r\nab\r\n"));
  type("\u0003printf '\\033[6n\\033[c'; echo asked\r");
  await eventually(() => expect(screen()).toContain("asked\r\n"));
  type("\u001d");

  await exited;
  expect(screen()).not.toContain("\u001b[6n");
  expect(screen()).not.toContain("\u001b[c");
});

test("[TCL-3] --read-only sends nothing and keeps the size; --watch does with the first key", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "echo here");
  const sizeOf = async () => (({ cols, rows }) => [cols, rows])(await hub.person.pty.status({ conversation_id: name }));
  const before = await sizeOf();
  const reader = attach([name, "--read-only"]);
  const watcher = attach([name, "--watch"]);
  await eventually(() => expect([reader.screen(), watcher.screen()].every((it) => it.includes("here"))).toBe(true));

  reader.type("echo nev''er\r");
  reader.resize(70, 20);
  reader.type("\u001d");
  await reader.exited;
  expect(await sizeOf()).toEqual(before);
  watcher.type("echo nO''w\r");
  await eventually(() => expect(watcher.screen()).toContain("nOw\r\n"));

  expect(await sizeOf()).toEqual([90, 30]);
  expect(watcher.screen()).not.toContain("never\r\n");
  watcher.type("\u001d");
  await watcher.exited;
});

test("[TCL-3, CTL-38, CTL-18] --watch leaves the agent its control; the first key takes it, and at the end it is said who drives", async () => {
  const name = conversation();
  const env = { SIDESTICK_TOKEN: await tokenOf(hub.dataDir, "agent", "bot") };
  await runCli(["run", "--conversation", name, "--data-dir", hub.dataDir, "echo here"], { env });
  const [session] = await hub.person.session.list({ conversationId: name });
  const { sessionId } = session!;
  const watcher = attach([name, "--watch"]);
  await eventually(() => expect(watcher.screen()).toContain("here"));
  const watched = await hub.person.control.get({ sessionId });

  watcher.type("x");
  await eventually(async () =>
    expect(await hub.person.control.get({ sessionId })).toMatchObject({ control_mode: "USER", interactive: true }),
  );
  watcher.type("\u001d");
  await watcher.exited;

  expect(watched).toMatchObject({ control_mode: "AGENT", holder: { id: "bot" }, interactive: false });
  const { holder } = await hub.person.control.get({ sessionId });
  const told = `Drives: ${holder?.id}. Agents are refused until you hand back: sidestick release ${name}`;
  expect(watcher.screen()).toContain(`Come back: sidestick attach ${name}. ${told}`);
});

test("[TCL-5, TCL-7] the end of the shell and a signal end it too, and the terminal is given back", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "echo here");
  const ended = attach([name]);
  await eventually(() => expect(ended.screen()).toContain("here"));
  ended.type("exit\r");
  await ended.exited;
  expect(ended.screen()).toContain("The terminal is over (exited).");

  await cli("run", "--conversation", name, "echo again");
  const told = attach([name]);
  await eventually(() => expect(told.screen()).toContain("again"));
  const pids = await pidsOf(["attach", name]);
  for (const pid of pids) process.kill(pid, "SIGTERM");

  expect((await told.exited).exitCode).toBe(143);
  expect(told.screen()).toContain("Detached by SIGTERM; it runs on.");
  const modes = [...modesOf(ended.screen()), ...modesOf(told.screen())];
  expect(modes).toEqual([modes[0], modes[0], modes[0], modes[0]]);
});

/** Processes of ours whose arguments hold these in a row. */
async function pidsOf(words: readonly string[]): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((it) => /^\d+$/.test(it));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
      return line.startsWith(process.execPath) && line.includes(words.join("\0")) ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

test("[TCL-7] what can't be attached to is told", async () => {
  const name = conversation();
  await cli("run", "--conversation", name, "exit");

  const over = await cli("attach", name, "--read-only");
  const noTerminal = await cli("attach", name);
  const both = await cli("attach", name, "--read-only", "--watch");

  expect([over.code, over.stderr]).toEqual([1, expect.stringContaining("This terminal is over")]);
  expect([noTerminal.code, noTerminal.stderr]).toEqual([2, expect.stringContaining("this is no terminal")]);
  expect(both.code).toBe(2);
});

async function ownHub(dataDir: string) {
  onTestFinished(() => takeDown(dataDir).then(() => undefined));
  return spawnTestHub(dataDir, [], "terminal-hub");
}

test("[TCL-1, TCL-8, TCL-15] a killed hub costs no byte: run, wait and attach go on with the next one", async () => {
  const dataDir = await temporaryDirectory();
  const first = await ownHub(dataDir);
  const go = join(dataDir, "go");
  const count = `for i in $(seq 1 400); do echo n$i; [ $i = 200 ] && until [ -e ${go} ]; do sleep 0.05; done; done; echo all''done`;
  const running = runCliHere(["run", "--conversation", "k", "--data-dir", dataDir, count]);
  await eventually(async () =>
    expect((await runCliHere(["wait", "k", "--match", "n200", "--data-dir", dataDir])).code).toBe(0),
  );
  const waiting = runCliHere(["wait", "k", "--match", "alldone", "--timeout", "60", "--data-dir", dataDir]);
  const viewer = attach(["k", "--read-only"], dataDir);
  await eventually(() => expect(viewer.screen()).toContain("n200"));

  await first.kill();
  await writeFile(go, "");
  await spawnTestHub(dataDir, [], "terminal-hub");

  const all = Array.from({ length: 400 }, (_, at) => `n${at + 1}\n`).join("");
  expect((await running).stdout).toBe(`${all}alldone\n`);
  expect((await waiting).stdout).toBe("alldone\n");
  await eventually(() => expect(viewer.screen()).toContain("alldone"));
  const later = [...viewer.screen().matchAll(/n(\d+)\r/g)].map((it) => Number(it[1])).filter((it) => it > 200);
  expect(later).toEqual(Array.from({ length: 200 }, (_, at) => at + 201));
  viewer.type("\u001d");
  await viewer.exited;
});

test("[TCL-21] down ends the hub, its host and what runs there; once more there is nothing to end", async () => {
  const dataDir = await temporaryDirectory();
  const { child } = await ownHub(dataDir);
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await runCliHere(["run", "--conversation", "d", "--timeout", "0.5", "--data-dir", dataDir, "sleep 300"]);
  const { stdout } = await runCliHere(["status", "d", "--json", "--data-dir", dataDir]);
  const { pid } = JSON.parse(stdout) as { pid: number };

  const down = await runCliHere(["down", "--data-dir", dataDir]);
  const again = await runCliHere(["down", "--data-dir", dataDir]);

  expect(down).toEqual({ code: 0, stdout: "", stderr: "The hub ended; the host ended.\n" });
  expect(again).toEqual({ code: 0, stdout: "", stderr: "The hub did not run; the host did not run.\n" });
  expect(child.exitCode).toBe(0);
  await eventually(() => expect(said).toContain("The hub goes down …\n"));
  expect(said).not.toContain("sidestick down");
  await eventually(() => expect(isAlive(pid)).toBe(false));
});

test("[TCL-21] a hub that Ctrl+C ends says what goes on", async () => {
  const dataDir = await temporaryDirectory();
  const { child } = await ownHub(dataDir);
  let said = "";
  child.stdout?.on("data", (chunk: Buffer) => (said += chunk.toString()));
  await runCliHere(["run", "--conversation", "d", "--data-dir", dataDir, "true"]);

  child.kill("SIGINT");

  await eventually(() => expect(said).toContain("1 session goes on; `sidestick down` ends them.\n"));
});
