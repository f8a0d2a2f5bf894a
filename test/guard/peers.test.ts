/** Sockets whose path was carried to where they shouldn't be. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { guarded } from "../../src/host/guard/guard.ts";
import { isElsewhere } from "../../src/host/link/ancestry.ts";
import { startTestHub } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { Victim } from "./victim.ts";

const isRoot = process.getuid?.() === 0;
const AS_ROOT = isRoot ? [] : ["-r"];
const WAYS = [
  { how: "other files, as of a service with a /tmp of its own", flags: ["--mount"], answer: "200" },
  { how: "other processes", flags: ["--pid", "--fork"], answer: "403" },
  { how: "a root of its own, with the socket mounted there", flags: ["--mount", "--pid", "--fork"], answer: "403" },
];

const status = (socket: string): readonly string[] =>
  ["/usr/bin/curl -s -o /dev/null -w %{http_code} --unix-socket", socket, "http://hub/whoami"].join(" ").split(" ");

/** Not `spawnSync`: the hub lives in this process. */
async function output(file: string, args: readonly string[], env = process.env): Promise<string> {
  const child = spawn(file, args, { env, stdio: ["ignore", "pipe", "inherit"] });
  let seen = "";
  child.stdout.on("data", (chunk: Buffer) => (seen += chunk.toString()));
  await once(child, "close");
  return seen;
}

test.each(WAYS)("[GRD-24, SEC-15] a peer with $how gets $answer (needs unshare)", async ({ flags, answer }) => {
  const { dataDir } = await startTestHub();
  const socket = join(dataDir, "hub.sock");
  const carried = join(await temporaryDirectory(), "carried");
  mkdirSync(carried);
  const mounted = `mount --bind ${dataDir} ${carried} && exec ${status(join(carried, "hub.sock")).join(" ")}`;
  const inside = flags.includes("--mount") ? ["/bin/sh", "-c", mounted] : status(socket);
  const [file = "", ...args] = status(socket);

  expect(await output(file, args)).toBe("200");
  expect(await output("/usr/bin/unshare", [...AS_ROOT, ...flags, ...inside])).toBe(answer);
});

test("[GRD-24] a guard into which the socket leaked is refused", async () => {
  const { dataDir } = await startTestHub();
  const directory = await temporaryDirectory();
  const [file = "", ...args] = status(join(dataDir, "hub.sock"));
  const program = { file, args, env: { HOME: directory, PATH: "/usr/bin:/bin" }, cwd: "/" };
  const start = guarded(program, { planIn: directory, ours: [], shown: [], terms: {}, terminal: "none" });

  expect(await output(start.file, start.args, start.env)).toBe("403");
});

test.runIf(isRoot)("[GRD-24] the host's socket closes on a peer that sees other processes (needs root)", async () => {
  await using victim = await Victim.open({ uid: process.getuid!(), gid: process.getgid!() });
  const script = `import socket,sys
s = socket.socket(socket.AF_UNIX); s.settimeout(float(sys.argv[2])); s.connect(sys.argv[1])
try: print("closed" if s.recv(1) == b"" else "talks")
except TimeoutError: print("listens")
except ConnectionResetError: print("closed")`;
  const socket = join(victim.dataDir, "host", "link.sock");
  const ask = (seconds: string) => ["/usr/bin/python3", "-c", script, socket, seconds];
  const run = (argv: readonly string[]): string => execFileSync(argv[0]!, argv.slice(1), { encoding: "utf8" }).trim();

  expect(run(ask("0.5"))).toBe("listens");
  // Whoever says nothing is sent away after five seconds, wherever it is.
  expect(run(["/usr/bin/unshare", ...AS_ROOT, "--pid", "--fork", ...ask("4")])).toBe("closed");
});

test("[GRD-24] of whom nothing can be told is elsewhere", () => {
  const { pid } = spawnSync("/bin/true");

  expect(isElsewhere(process.pid)).toBe(false);
  expect(isElsewhere(pid)).toBe(true);
});
