/** The hub is killed with kill -9 while a terminal goes on: nothing is lost, nothing repeated, and the shell lives. */
import { createHash } from "node:crypto";
import { mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { Redactor } from "../../src/domain/redaction/redactor.ts";
import { SEED, seeded } from "../crash/seeded.ts";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { type HubProcess, spawnHub, tokenOf } from "../support/hub.ts";
import { keptPort } from "../support/kept-port.ts";
import { endHost } from "../support/terminal-hub.ts";
import { IS_SOAK, soakCount } from "../support/soak.ts";

const KILLS = soakCount(40);
const MEGABYTES = soakCount(256);

const LINES = IS_SOAK ? 400_000 : 100_000;

/** A hub that comes back on the same port whenever it is killed. */
class MortalHub {
  readonly #dataDir: string;
  readonly #composition: "terminal-hub" | "unredacted-hub";
  readonly #port: number;
  #process!: HubProcess;

  private constructor(dataDir: string, composition: "terminal-hub" | "unredacted-hub", port: number) {
    this.#dataDir = dataDir;
    this.#composition = composition;
    this.#port = port;
  }

  static async start(dataDir: string, composition: "terminal-hub" | "unredacted-hub"): Promise<MortalHub> {
    const hub = new MortalHub(dataDir, composition, await keptPort());
    await hub.#start();
    return hub;
  }

  get url(): string {
    return this.#process.url;
  }

  async killAndRestart(): Promise<void> {
    await this.#process.kill("SIGKILL");
    await this.#start();
  }

  async endAndRestart(): Promise<void> {
    await this.#process.kill("SIGTERM");
    await this.#start();
  }

  async end(): Promise<void> {
    await this.#process.kill();
    await endHost(this.#dataDir);
    await rm(this.#dataDir, { recursive: true, force: true, maxRetries: 10 });
  }

  async #start(): Promise<void> {
    this.#process = await spawnHub(this.#dataDir, ["--port", String(this.#port)], this.#composition);
  }
}

/** Follows a session's output over a WebSocket, over reconnects. */
class Follower {
  readonly #hash = createHash("sha256");
  received = 0;
  gaps = 0;

  constructor(client: SidestickClient, sessionId: string, from: number) {
    const stream = client.stream();
    stream.attach(sessionId, {
      from,
      onOutput: (bytes) => {
        this.received += bytes.length;
        this.#hash.update(bytes);
      },
      onGap: () => void (this.gaps += 1),
    });
    this.close = () => stream.close();
  }

  readonly close: () => void;

  digest(): string {
    return this.#hash.copy().digest("hex");
  }
}

async function started(composition: "terminal-hub" | "unredacted-hub") {
  const dataDir = await mkdtemp(join(tmpdir(), "sidestick-"));
  const hub = await MortalHub.start(dataDir, composition);
  const token = await tokenOf(dataDir, "operator", "olga");
  const client = new SidestickClient({ url: hub.url, token, timing: { retryMinMs: 20, retryMaxMs: 100 } });
  return { dataDir, hub, client };
}

let shared: ReturnType<typeof started> | undefined;
/** For all tests that a redacting one will do. */
const redacting = (): ReturnType<typeof started> => (shared ??= started("terminal-hub"));
afterAll(async () => (await shared)?.hub.end());

test("[TRM-19] a shell keeps its variables and its running command while hubs are killed", async () => {
  const { hub, client } = await redacting();
  const conversation_id = "kept";
  const first = await client.pty.exec_block({ conversation_id, command: "X=42; cd /usr", wait_ms: WAIT_BUDGET_MS });
  const run = await client.pty.exec_interactive({ conversation_id, command: "read -p 'Go? ' a; echo got-$a-$X" });
  await client.pty.wait_for({ conversation_id, match: "INPUT" });

  await hub.killAndRestart();

  const asked = await client.pty.wait_for({ conversation_id, match: "Go? ", from_cursor: run.cursor });
  const waiting = await client.pty.wait_for({ conversation_id, match: "INPUT", from_position: run.position });
  await client.pty.send({ conversation_id, data: "yes\r", if_prompt: waiting.prompt_id });
  const got = await client.pty.wait_for({ conversation_id, match: "got-yes-42", from_cursor: asked.cursor });
  const prompt = await client.pty.wait_for({ conversation_id, match: "PROMPT" });

  expect([asked.matched, got.matched]).toEqual([true, true]);
  expect(prompt).toMatchObject({ matched: true, exit_code: 0, cwd: "/usr" });
  const { blocks } = await client.pty.blocks({ conversation_id });
  expect(blocks.map((it) => it.seq)).toEqual([1, 2]);
  expect(blocks[0]?.block_id).toBe(first.block_id);
});

test(`[TRM-19] random bytes arrive at a WebSocket client as the program wrote them, over ${KILLS} kills of the hub (seed ${SEED})`, async () => {
  const { dataDir, hub, client } = await started("unredacted-hub");
  onTestFinished(() => hub.end());
  const random = seeded(SEED);
  const file = join(dataDir, "random");
  const written = await writeRandom(file, MEGABYTES);
  const conversation_id = "bytes";
  const run = await client.pty.exec_block({
    conversation_id,
    command: `stty raw -opost -echo; exec cat ${file}`,
  });
  const follower = new Follower(client, run.workspace_session_id, run.cursor);

  for (let kill = 0; kill < KILLS; kill += 1) {
    const target = Math.floor(((kill + random(100) / 100) * written.size) / KILLS);
    await eventually(() => expect(follower.received).toBeGreaterThanOrEqual(target));
    await hub.killAndRestart();
  }

  await eventually(() => expect(follower.received).toBeGreaterThanOrEqual(written.size));
  follower.close();
  expect({ size: follower.received, sha256: follower.digest(), gaps: follower.gaps }).toEqual({
    ...written,
    gaps: 0,
  });
});

test("[TRM-19] terminal text with redaction on is what the redactor makes of it", async () => {
  const { dataDir, hub, client } = await redacting();
  const file = join(dataDir, "text");
  const text = terminalText(IS_SOAK ? 32 : 1);
  await writeFile(file, text);
  const expected = createHash("sha256").update(redacted(text)).digest("hex");
  const conversation_id = "text";
  const run = await client.pty.exec_block({ conversation_id, command: `stty raw -opost -echo; exec cat ${file}` });
  const follower = new Follower(client, run.workspace_session_id, run.cursor);

  await hub.killAndRestart();

  await eventually(() => expect(follower.received).toBeGreaterThanOrEqual(text.length));
  follower.close();
  expect({ size: follower.received, sha256: follower.digest() }).toEqual({ size: text.length, sha256: expected });
});

async function writeRandom(path: string, megabytes: number): Promise<{ size: number; sha256: string }> {
  const random = seeded(SEED + 1);
  const hash = createHash("sha256");
  const file = await open(path, "w");
  for (let block = 0; block < megabytes; block += 1) {
    const words = new Uint32Array(1 << 18).map(() => random(2 ** 32));
    const bytes = new Uint8Array(words.buffer);
    hash.update(bytes);
    await file.write(bytes);
  }
  await file.close();
  return { size: megabytes * 2 ** 20, sha256: hash.digest("hex") };
}

/** Colours, prompts, secrets, wide characters. */
function terminalText(megabytes: number): Buffer {
  const random = seeded(SEED + 2);
  const token = () => Array.from({ length: 40 }, () => "abcdefghijklmnopqrstuvwxyz0123456789"[random(36)]).join("");
  const lines = [
    () => `\u001b[32mok\u001b[0m ${random(1e9)} ${token()}\r\n`,
    () => `drwxr-xr-x 2 root root 4096 übermäßig 漢字 😀 ${random(1e6)}\r\n`,
    () => `export KEY=ghp_${token()}\r\n`,
    () => `password: ${token()}\r\n`,
    () => `\rprogress ${random(100)}%`,
  ];
  const parts: string[] = [];
  for (let size = 0; size < megabytes * 2 ** 20;) size += parts[parts.push(lines[random(lines.length)]!()) - 1]!.length;
  return Buffer.from(parts.join("") + "\r\nend\r\n");
}

function redacted(text: Buffer): Buffer {
  const redactor = new Redactor();
  return Buffer.concat([redactor.push(text), redactor.barrier()]);
}

test("[TRM-19] a hub that is ended politely while output comes loses nothing either", async () => {
  const { hub, client } = await redacting();
  const conversation_id = "polite";
  const run = await client.pty.exec_block({ conversation_id, command: `seq 1 ${LINES}; echo over` });
  const sessionId = run.workspace_session_id;
  await eventually(async () => expect(await outputEnd(client, conversation_id)).toBeGreaterThan(200_000));

  await hub.endAndRestart();

  const over = await client.pty.wait_for({ conversation_id, match: "\nover", from_cursor: run.cursor });
  expect(over.matched).toBe(true);
  const text = Array.from({ length: LINES }, (_, index) => `${index + 1}\r\n`).join("");
  const follower = new Follower(client, sessionId, run.cursor);
  await eventually(() => expect(follower.received).toBeGreaterThanOrEqual(text.length));
  follower.close();
  expect(over.match_begin! - run.cursor).toBe(text.length - 2);
});

async function outputEnd(client: SidestickClient, conversation_id: string): Promise<number> {
  return (await client.pty.read_output({ conversation_id, from_cursor: 0, view: "raw" })).end_cursor;
}
