/** Messages that make no sense, in both directions: neither side ends, nothing grows without end. */
import { duplexPair, type Duplex } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { Host } from "../../src/host/host.ts";
import type { HubSeat } from "../../src/host/link/hub-seat.ts";
import { encodeMessage, HubMessage } from "../../src/protocol/link.ts";
import { MessageReader } from "../../src/protocol/link-reader.ts";
import { RemoteHosts } from "../../src/server/hosts/remote-hosts.ts";
import { gatedSessions } from "../control/gated-session.ts";
import { type Random, SEED, seeded } from "../crash/seeded.ts";
import { newSession, silent, SIZE } from "../host/host-process.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { soakCount } from "../support/soak.ts";

const MESSAGES = soakCount(100_000);
const GROWTH_MAX = 300 * 1024 * 1024;

const OF_HOSTS = [
  "PONG",
  "REPLY",
  "INTERACTIVE_OUTPUT",
  "SESSION_EVENT",
  "INTERACTIVE_CMD_DONE",
  "ERROR",
  "WELCOME",
  "X",
];
const OF_HUBS = [
  "HELLO PING ACK START_INTERACTIVE_CMD ADOPT SEND_INPUT PREPARE RUN_BLOCK END_RUN CONTROL RESPAWN RESIZE READ_SCREEN",
  "SNAPSHOT STATUS CHANGES TERMINATE_CMD X",
].flatMap((it) => it.split(" "));

/** A message whose fields are right, missing or odd, in a frame that is seldom wrong. */
function fuzzed(
  types: readonly string[],
  sessionId: string,
  { random, at }: { random: Random; at: number },
): Uint8Array {
  const odd = [
    undefined,
    null,
    -1,
    2 ** 53,
    "x",
    [],
    {},
    sessionId,
    "z".repeat(3_000),
    at,
    0.5,
    true,
    { deep: [[[{}]]] },
  ];
  const often = (right: unknown): unknown => (random(5) > 0 ? right : odd[random(odd.length)]);
  const by = often({ kind: ["person", "agent", "host", "system"][random(4)], id: "eve" });
  const right: Readonly<Record<string, unknown>> = {
    session_id: sessionId,
    order: 1 + random(30),
    cursor: random(3) * 10,
    at,
    id: random(1_000),
    ok: random(2) === 0,
    code: "nothing",
    fields: {},
    event: ["log_line", "prompt", "input", "status", "keyframe"][random(5)],
    payload: {},
    reason: "x",
    by,
    epoch: random(5),
    number: at,
    class: "drive",
    versions: [1],
    cols: 80,
    rows: 24,
    for_agent: true,
    channel: "data",
    hub: "hub",
    detail: "d",
    block_id: sessionId,
    programs: [],
    scripts: [],
    command: { type: "take", by },
  };
  const fields = Object.fromEntries(Object.entries(right).map(([name, value]) => [name, often(value)]));
  const rare = { more: odd[random(odd.length)], keys: odd[random(odd.length)] };
  const header = Buffer.from(JSON.stringify({ type: types[random(types.length)], ...fields, ...rare }));
  const body = Buffer.alloc(random(4) === 0 ? random(70_000) : random(40), 0x61);
  const message = Buffer.concat([Buffer.alloc(8), header, body]);
  message.writeUInt32BE(4 + header.length + body.length, 0);
  message.writeUInt32BE(header.length, 4);
  if (random(200) === 0) message[random(message.length)] = random(256);
  return message;
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test(`[RML-22, RML-23] ${MESSAGES} fuzzed messages of a host harm no hub (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  const remotes = new RemoteHosts(silent);
  const { driver, close } = remotes.open("h", { online: () => undefined, offline: () => undefined });
  onTestFinished(close);
  const before = process.memoryUsage().rss;
  // Not inside the loop: each session would keep the connection that it began on.
  const take = async (): Promise<void> => undefined;

  for (let sent = 0; sent < MESSAGES;) {
    const data = meet(remotes);
    await eventually(() => expect(driver.online || data.destroyed).toBe(true));
    const session = newSession();
    const started = driver.start(session, SIZE, take).catch(() => undefined);
    for (; sent < MESSAGES && !data.destroyed && driver.online; sent += 1) {
      data.write(fuzzed(OF_HOSTS, session.sessionId, { random, at: sent }));
      if (sent % 10 === 0) await turn();
    }
    data.destroy();
    await started;
  }

  expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_MAX);
  const sound = meet(remotes);
  await eventually(() => expect(driver.online).toBe(true));
  expect(sound.destroyed).toBe(false);
});

/** A host that greets and answers, on two fresh connections; its data connection. */
function meet(remotes: RemoteHosts): Duplex {
  const [control, data] = (["control", "data"] as const).map((channel) => {
    const [near, far] = duplexPair();
    far.on("error", () => undefined);
    near.once("close", () => far.destroy());
    const say = (message: Parameters<typeof encodeMessage>[0]): void => void far.write(encodeMessage(message));
    const about = { version: 1, host_id: "h", pid: 1, instance: "i", sessions: [] };
    const reader = new MessageReader({
      message: (header) => {
        const message = HubMessage.parse(header);
        if (message.type === "HELLO") say({ type: "WELCOME", ...about });
        else if (message.type === "PING") say({ type: "PONG", at: 1 });
        else if ("id" in message) say({ type: "REPLY", id: message.id, ok: true, fields: {} });
      },
      fault: () => far.destroy(),
    });
    far.on("data", (chunk: Uint8Array) => reader.push(chunk));
    remotes.offer("h", channel, near);
    return far;
  });
  data!.once("close", () => control!.destroy());
  return data!;
}

test("[RML-22] a hub that can't store reads no more than 32 MB ahead, and goes on when it can", async () => {
  const remotes = new RemoteHosts(silent);
  const { driver, close } = remotes.open("h", { online: () => undefined, offline: () => undefined });
  onTestFinished(close);
  const data = meet(remotes);
  await eventually(() => expect(driver.online).toBe(true));
  const { sessionId, ...session } = newSession();
  const stored = Promise.withResolvers<void>();
  let taken = 0;
  await driver.start({ sessionId, ...session }, SIZE, async (frames) => {
    await stored.promise;
    taken += frames.length;
  });
  const body = Buffer.alloc(65_536);
  let order = 0;
  const fill = async (frames: number): Promise<void> => {
    for (let stuck = 0; order < frames && stuck < 200; stuck += 1) {
      for (; order < frames && !data.writableNeedDrain; stuck = 0) {
        const place = { session_id: sessionId, order: order + 1, cursor: order * body.length };
        data.write(encodeMessage({ type: "INTERACTIVE_OUTPUT", ...place }, body));
        order += 1;
      }
      await turn();
    }
  };

  await fill(2_000);
  const ahead = order;
  stored.resolve();
  await eventually(async () => {
    await fill(2_000);
    expect(taken).toBe(2_000);
  });

  expect(ahead * body.length).toBeGreaterThan(30 * 1024 * 1024);
  expect(ahead * body.length).toBeLessThan(40 * 1024 * 1024);
});

test(`[RML-23] ${MESSAGES} fuzzed messages of a hub harm no host (seed ${SEED})`, async () => {
  const random = seeded(SEED + 1);
  const { open } = gatedSessions(() => performance.now());
  const { promise: seated, resolve } = Promise.withResolvers<HubSeat>();
  const host = await Host.start({
    directory: await temporaryDirectory(),
    hostId: "h",
    openSession: open,
    logger: silent,
    idleMs: Number.POSITIVE_INFINITY,
    way: async (seat) => {
      resolve(seat);
      return async () => seat.close();
    },
  });
  onTestFinished(async () => {
    host?.shutdown("now");
    await host?.ended;
  });
  const seat = await seated;
  const before = process.memoryUsage().rss;
  const sessionId = crypto.randomUUID();

  for (let sent = 0; sent < MESSAGES;) {
    const far = knock(seat);
    far.write(encodeMessage({ type: "HELLO", versions: [1], channel: "data", hub: "hub" }));
    for (; sent < MESSAGES && !far.destroyed && !far.readableEnded; sent += 1) {
      far.write(fuzzed(OF_HUBS, sessionId, { random, at: sent }));
      if (sent % 10 === 0) await turn();
    }
    far.destroy();
    await turn();
  }

  expect(process.memoryUsage().rss - before).toBeLessThan(GROWTH_MAX);
  const far = knock(seat);
  const welcomed = new Promise((come) => far.once("data", come));
  far.write(encodeMessage({ type: "HELLO", versions: [1], channel: "data", hub: "another" }));
  await welcomed;
});

function knock(seat: HubSeat): Duplex {
  const [near, far] = duplexPair();
  far.on("error", () => undefined);
  far.on("data", () => undefined);
  near.once("close", () => far.destroy());
  seat.accept(near);
  return far;
}
