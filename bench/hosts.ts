/**
 * Hosts elsewhere: 200 of them that speak the protocol and run nothing, with two sessions each, on one hub; and the way
 * there and back of a key over a WebSocket of this machine against the hub's own host. `--quick`: a smoke run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { SidestickClient } from "../src/client/sidestick.ts";
import { enrolLight, LightHost } from "../test/support/light-host.ts";
import { operatorClient, tokenOf } from "../test/support/hub.ts";
import { letAgentsBe } from "../test/support/policy.ts";
import { joinHost, seen } from "../test/support/remote-host.ts";
import { endHost } from "../test/support/terminal-hub.ts";
import { type Measure, percentile } from "./measure.ts";

const QUICK = process.argv.includes("--quick");
const HOSTS = QUICK ? 20 : 200;
const ROUNDS = QUICK ? 50 : 300;

export async function* run(): AsyncIterable<Measure> {
  const dataDir = mkdtempSync(join(tmpdir(), "ssb-"));
  await letAgentsBe(dataDir);
  const hub = await startHub(dataDir);
  try {
    yield* many(hub, dataDir);
    yield* keys(hub, dataDir);
  } finally {
    const exited = once(hub.child, "exit");
    hub.child.kill("SIGTERM");
    await exited;
    await endHost(dataDir);
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 });
  }
}

type Hub = { readonly child: ChildProcess; readonly url: string };

async function startHub(dataDir: string): Promise<Hub> {
  const script = join(import.meta.dirname, "..", "test", "composition", "terminal-hub.ts");
  const child = spawn(process.execPath, [script, "--port", "0", "--data-dir", dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir },
  });
  let url = "";
  for await (const line of createInterface({ input: child.stdout })) {
    url ||= /Address +(\S+)/.exec(line)?.[1] ?? "";
    if (line.startsWith("Ready")) break;
  }
  child.stdout.resume();
  return { child, url };
}

async function* many({ child, url }: Hub, dataDir: string): AsyncIterable<Measure> {
  const person = operatorClient(dataDir);
  const client = new SidestickClient({ url, token: await tokenOf(dataDir, "operator", "bench") });
  const before = residentMB(child);
  const hosts: LightHost[] = [];
  const sessions: string[] = [];
  for (let index = 0; index < HOSTS; index += 1) {
    const name = `light-${index}`;
    const host = new LightHost(await enrolLight(url, person, name));
    await host.connect();
    await seen(person, name, true);
    hosts.push(host);
    await person.workspace.put({ workspaceId: name, hostId: name });
    for (let at = 0; at < 2; at += 1) {
      sessions.push((await person.session.create({ kind: "terminal", workspaceId: name })).sessionId);
    }
  }
  yield { name: "hosts", value: HOSTS, unit: "hosts" };
  yield {
    name: "memory of the hub for each host with two sessions",
    value: (residentMB(child) - before) / HOSTS,
    unit: "MB",
  };
  const times: number[] = [];
  // All of them at once, again and again, as a busy fleet would.
  for (let round = 0; round < 5; round += 1) {
    for (let from = 0; from < sessions.length; from += 20) {
      const some = sessions.slice(from, from + 20);
      await Promise.all(
        some.map(async (sessionId) => times.push(await timed(() => client.session.input({ sessionId, data: "x" })))),
      );
    }
  }
  yield { name: "input to one of them, 20 at a time, p50", value: percentile(times, 0.5), unit: "ms" };
  yield { name: "input to one of them, 20 at a time, p95", value: percentile(times, 0.95), unit: "ms" };
  for (const host of hosts) host.close();
}

async function* keys({ url }: Hub, dataDir: string): AsyncIterable<Measure> {
  const person = operatorClient(dataDir);
  const host = await joinHost({ url, person, name: "far", workspaceId: "far" });
  try {
    const near = await terminal(person, "default");
    const far = await terminal(person, "far");
    const times: { readonly near: number[]; readonly far: number[] } = { near: [], far: [] };
    const client = new SidestickClient({ url, token: await tokenOf(dataDir, "operator", "bench") });
    // In turns: whatever else the machine does, it does to both.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [kind, sessionId] of [
        ["near", near],
        ["far", far],
      ] as const) {
        times[kind].push(await timed(() => client.session.input({ sessionId, data: "x" })));
      }
    }
    const [here, there] = [percentile(times.near, 0.5), percentile(times.far, 0.5)];
    yield { name: "a key to the hub's own host and back, p50", value: here, unit: "ms" };
    yield { name: "a key to a host over a WebSocket and back, p50", value: there, unit: "ms" };
    yield { name: "the WebSocket against the hub's own", value: there / here, unit: "times", atMost: 2 };
  } finally {
    await host.end();
  }
}

/** A terminal in which a program reads what is typed and shows nothing. */
async function terminal(person: SidestickClient, workspaceId: string): Promise<string> {
  await person.workspace.put({ workspaceId, settings: { containment: "open" } });
  const conversation_id = `keys-${workspaceId}`;
  const { sessionId } = await person.session.create({ kind: "terminal", workspaceId, conversationId: conversation_id });
  await person.pty.exec_interactive({ conversation_id, command: "stty -echo -icanon; exec cat > /dev/null" });
  await person.pty.wait_for({ conversation_id, match: "IDLE", idle_ms: 500 });
  return sessionId;
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}

function residentMB({ pid }: ChildProcess): number {
  const [, kB] = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Number(kB) / 1024;
}
