/** A hub and two hosts, each with a network of its own, and cables between them that are pulled and put back. */
import { execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import type { SidestickClient } from "../../src/client/sidestick.ts";
import { SEED, seeded } from "../crash/seeded.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { addressOf, operatorClient } from "../support/hub.ts";
import { letAgentsBe } from "../support/policy.ts";
import { joinHost, type RemoteHostProcess } from "../support/remote-host.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { makeCertificates } from "../support/tls-way.ts";
import { soakCount } from "../support/soak.ts";

const PULLS = soakCount(100);
const LINES = soakCount(200_000);

/** A hub says something every two seconds. */
const HOST_SETTINGS = { SIDESTICK_TEST_REDACTION: "off", SIDESTICK_TEST_DEAD_AFTER_MS: "4000" };

const ip = (...args: string[]): unknown => execFileSync("ip", args, { stdio: "ignore" });

const possible = ((): boolean => {
  try {
    ip("netns", "add", `ss-try-${process.pid}`);
    ip("netns", "del", `ss-try-${process.pid}`);
    return true;
  } catch {
    return false;
  }
})();

const name = (part: string): string => `ss-${part}-${process.pid}`;
const inside = (part: string): [string, ...string[]] => ["ip", "netns", "exec", name(part)];
const addressIn = (net: number, end: 1 | 2): string => `10.213.${net}.${end}`;

/** The hub's and each host's, with a cable from the hub to each. */
function layCables(hosts: readonly string[]): void {
  for (const part of ["hub", ...hosts]) {
    ip("netns", "add", name(part));
    onTestFinished(() => void ip("netns", "del", name(part)));
    ip("-n", name(part), "link", "set", "lo", "up");
  }
  for (const [net, host] of hosts.entries()) {
    const [near, far] = [`c${net}-${process.pid}`, `d${net}-${process.pid}`];
    ip("-n", name("hub"), "link", "add", near, "type", "veth", "peer", "name", far, "netns", name(host));
    ip("-n", name("hub"), "addr", "add", `${addressIn(net, 1)}/24`, "dev", near);
    ip("-n", name(host), "addr", "add", `${addressIn(net, 2)}/24`, "dev", far);
    ip("-n", name("hub"), "link", "set", near, "up");
    ip("-n", name(host), "link", "set", far, "up");
  }
}

const cable = (net: number, state: "up" | "down"): unknown =>
  ip("-n", name("hub"), "link", "set", `c${net}-${process.pid}`, state);

async function startHub(dataDir: string, publicUrl: string): Promise<SidestickClient> {
  await letAgentsBe(dataDir);
  const script = new URL("../composition/hub.ts", import.meta.url).pathname;
  const [file, ...args] = [...inside("hub"), process.execPath, script, "--port", "4180"];
  const child = spawn(file, [...args, "--data-dir", dataDir, "--public-url", publicUrl], {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, XDG_CONFIG_HOME: dataDir, XDG_STATE_HOME: dataDir },
  });
  onTestFinished(async () => {
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  });
  await addressOf(child);
  return operatorClient(dataDir);
}

/** TLS before the hub, on all its addresses. */
async function startTls(directory: string): Promise<void> {
  const script = `const tls = require("tls"), net = require("net"), fs = require("fs");
    const [key, cert] = ["hub.key", "hub.pem"].map((it) => fs.readFileSync(process.argv[1] + "/" + it));
    tls.createServer({ key, cert }, (near) => {
      const far = net.connect({ port: 4180, host: "127.0.0.1", noDelay: true });
      for (const [a, b] of [[near, far], [far, near]]) a.on("error", () => b.destroy()).once("close", () => b.destroy());
      near.pipe(far).pipe(near);
    }).listen(8443, () => console.log("ready"));`;
  const [file, ...args] = [...inside("hub"), process.execPath, "-e", script, directory];
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(createInterface({ input: child.stdout }), "line");
}

test.skipIf(!possible)(
  `[RML-7, RML-10, RML-11] ${PULLS} pulled, broken and delayed cables between a hub and two hosts: every byte, command and line once, none late (seed ${SEED}) (needs ip, openssl and network namespaces)`,
  async () => {
    const random = seeded(SEED);
    const directory = await temporaryDirectory();
    layCables(["one", "two"]);
    const certificates = makeCertificates(directory, ["DNS:hub.test"]);
    const person = await startHub(directory, "https://hub.test:8443");
    await startTls(directory);
    const hosts: RemoteHostProcess[] = [];
    for (const [net, host] of ["one", "two"].entries()) {
      // Names are of the machine, not of a namespace: each host knows the hub by its own cable's address.
      const preload = join(directory, `name-${net}.cjs`);
      writeFileSync(
        preload,
        `const dns = require("dns"), lookup = dns.lookup;
        dns.lookup = (name, options, done) => lookup(name === "hub.test" ? "${addressIn(net, 1)}" : name, options, done);`,
      );
      const joining = { url: "https://hub.test:8443", person, name: host, workspaceId: host };
      const env = { ...HOST_SETTINGS, NODE_OPTIONS: `--require ${preload}` };
      const joined = await joinHost({ ...joining, args: ["--ca", certificates.ca], prefix: inside(host), env });
      onTestFinished(joined.end);
      hosts.push(joined);
      await person.workspace.put({ workspaceId: host, settings: { containment: "open" } });
      await person.session.create({ kind: "terminal", workspaceId: host, conversationId: host });
    }
    const over = new AbortController();
    const typists = hosts.map((it) =>
      typing({ person, host: it.name, file: join(directory, `typed-${it.name}`) }, over),
    );
    // Each is awaited below; where something else fails first, that is what is told.
    for (const it of typists) it.catch(() => undefined);
    const counted = (host: string): string => join(directory, `count-${host}`);
    const healed = join(directory, "healed");
    // It writes slowly only while cables are pulled: the rest of the lines would take longer than a test waits.
    const command = (host: string) =>
      `echo run >> ${counted(host)}; for i in $(seq ${LINES}); do echo ${host}-$i; [ $((i % 100)) != 0 ] || [ -e ${healed} ] || sleep 0.05; done`;
    const runs = await Promise.all(
      hosts.map((it) => person.pty.exec_block({ conversation_id: it.name, command: command(it.name) })),
    );

    for (let pull = 0; pull < PULLS; pull += 1) {
      const net = random(2);
      const action = random(4);
      await sleep(random(200));
      if (action === 0) await delayed(net, random(150));
      else {
        cable(net, "down");
        if (action > 1) forget(net);
        await sleep(random(400));
        cable(net, "up");
      }
    }
    over.abort();
    writeFileSync(healed, "");

    for (const [net, host] of hosts.entries()) {
      cable(net, "up");
      await eventually(async () =>
        expect(await person.pty.status({ conversation_id: host.name })).toMatchObject({ mode: "idle" }),
      );
      const lines = Array.from({ length: LINES }, (_, index) => `${host.name}-${index + 1}\r\n`).join("");
      const came = await outputOf(person, host.name, runs[net]!.block_id);
      expect([came.length, sha(came)]).toEqual([lines.length, sha(Buffer.from(lines))]);
      expect(readFileSync(counted(host.name), "utf8")).toBe("run\n");
      const { answers, read } = await typists[net]!;
      expect(read).toEqual([...new Set(read)].toSorted((a, b) => a - b));
      expect(read.filter((it) => answers[it] === "host_offline")).toEqual([]);
      expect(answers.flatMap((code, index) => (code === "ok" && !read.includes(index) ? [index] : []))).toEqual([]);
    }
  },
);

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** The hub's ends of the connections are gone, and the host hears nothing of it: half of each is left. */
function forget(net: number): void {
  const kill = ["ss", "-K", "dst", addressIn(net, 2)];
  execFileSync("ip", ["netns", "exec", name("hub"), ...kill], { stdio: "ignore" });
}

type Typist = { readonly person: SidestickClient; readonly host: string; readonly file: string };

/** Types numbers into a program that writes down what it reads; what each was answered with, and what was read. */
async function typing({ person, host, file }: Typist, over: AbortController) {
  const conversation_id = `${host}-typed`;
  const { sessionId } = await person.session.create({
    kind: "terminal",
    workspaceId: host,
    conversationId: conversation_id,
  });
  await person.pty.exec_interactive({ conversation_id, command: `cat > ${file}` });
  const type = (data: string): Promise<string> => codeOf(person.session.input({ sessionId, data }));
  const answers: string[] = [];
  while (!over.signal.aborted) {
    answers.push(await type(`${answers.length}\r`));
    await sleep(20);
  }
  const read = (): readonly number[] => readFileSync(file, "utf8").trimEnd().split("\n").map(Number);
  await eventually(async () => expect(await type("-1\r")).toBe("ok"));
  await eventually(() => expect(read().at(-1)).toBe(-1));
  return { answers, read: read().filter((it) => it >= 0) };
}

/** Where the kernel can't delay, the cable is pulled for as long. */
async function delayed(net: number, ms: number): Promise<void> {
  const device = ["dev", `c${net}-${process.pid}`, "root", "netem"];
  const tc = (...args: string[]): unknown =>
    execFileSync("ip", ["netns", "exec", name("hub"), "tc", "qdisc", ...args], { stdio: "ignore" });
  try {
    tc("add", ...device, "delay", `${ms}ms`);
    await sleep(300);
    tc("del", ...device);
  } catch {
    cable(net, "down");
    await sleep(ms);
    cable(net, "up");
  }
}

async function outputOf(person: SidestickClient, conversation_id: string, block_id: string): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from: number | undefined; ;) {
    const wanted = { conversation_id, block_id, view: "raw", max_bytes: 65_536 } as const;
    const page = await person.pty.read_output({ ...wanted, ...(from !== undefined && { from_cursor: from }) });
    parts.push(Buffer.from(page.data, "base64"));
    if (page.cursor >= page.end_cursor || page.data === "") return Buffer.concat(parts);
    from = page.cursor;
  }
}
