import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { MessageReader } from "../../src/protocol/link-reader.ts";
import { BODY_MAX, encodeMessage, type HostMessage, type HubMessage, LINK_VERSION } from "../../src/protocol/link.ts";
import { type Random, SEED, seeded } from "../crash/seeded.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { dial, newSession, SIZE, socketOf, spawnHost, Taken, typed } from "./host-process.ts";
import { soakCount } from "../support/soak.ts";

const ROUNDS = soakCount(2_000);

class RawHub {
  readonly socket: Socket;
  readonly heard: HostMessage[] = [];

  constructor(path: string) {
    this.socket = createConnection({ path });
    onTestFinished(() => void this.socket.destroy());
    const reader = new MessageReader({
      message: (header) => this.heard.push(header as HostMessage),
      fault: () => undefined,
    });
    this.socket.on("data", (chunk: Uint8Array) => reader.push(chunk));
    this.socket.on("error", () => undefined);
  }

  greet(hub: string): void {
    this.say({ type: "HELLO", versions: [LINK_VERSION], channel: "control", hub });
  }

  say(message: HubMessage, body?: Uint8Array): void {
    this.socket.write(encodeMessage(message, body));
  }

  /** Any header, as JSON. */
  sayAny(header: unknown): void {
    this.socket.write(encodeMessage(header as HubMessage));
  }
}

async function greeted(): Promise<RawHub> {
  const dataDir = await temporaryDirectory();
  await spawnHost(dataDir);
  const raw = new RawHub(socketOf(dataDir));
  raw.greet("raw");
  return raw;
}

test.each([
  { what: "an unknown type", header: { type: "DANCE" } },
  { what: "no object", header: 7 },
  { what: "null", header: null },
  { what: "a wrong field", header: { type: "ACK", session_id: "not an id", order: -1 } },
])("[HST-4] $what is answered with ERROR, and the connection goes on", async ({ header }) => {
  const raw = await greeted();

  raw.sayAny(header);
  raw.say({ type: "PING", at: 5 });

  await eventually(() => expect(raw.heard.at(-1)).toEqual({ type: "PONG", at: 5 }));
  expect(raw.heard.map((it) => it.type)).toEqual(["WELCOME", "ERROR", "PONG"]);
});

test("[HST-4] a request that makes no sense is answered under its id", async () => {
  const raw = await greeted();

  raw.sayAny({ type: "DANCE", id: 12, session_id: crypto.randomUUID() });

  await eventually(() => {
    expect(raw.heard.at(-1)).toMatchObject({ type: "REPLY", id: 12, ok: false, code: "invalid_request" });
  });
});

test("[HST-4] a body that is too large is answered with ERROR, and the connection goes on", async () => {
  const raw = await greeted();

  raw.say({ type: "PING", at: 1 }, new Uint8Array(BODY_MAX + 1));
  raw.say({ type: "PING", at: 2 });

  await eventually(() => expect(raw.heard.at(-1)).toEqual({ type: "PONG", at: 2 }));
  expect(raw.heard.map((it) => it.type)).toEqual(["WELCOME", "ERROR", "PONG"]);
});

test("[HST-4] a length that can't be true ends the connection, with the reason", async () => {
  const raw = await greeted();
  const closed = once(raw.socket, "close");

  raw.socket.write(Buffer.alloc(64, 0xff));
  await closed;

  expect(raw.heard.at(-1)).toMatchObject({ type: "ERROR", code: "framing" });
});

test(`[HST-4] noise harms neither the host nor its sessions (${ROUNDS} rounds, seed ${SEED})`, async () => {
  const dataDir = await temporaryDirectory();
  await spawnHost(dataDir);
  const hub = await dial(dataDir);
  const session = newSession();
  const taken = new Taken();
  await hub.driver.start(session, SIZE, taken.intake);
  const random = seeded(SEED);

  // At most a few at once: a host takes only so many connections.
  for (let round = 0; round < ROUNDS; round += 1) {
    const raw = new RawHub(socketOf(dataDir));
    for (let part = 0; part < 4; part += 1) raw.socket.write(noise(random, session.sessionId));
    const closed = once(raw.socket, "close");
    raw.socket.end();
    await closed;
  }

  await hub.driver.input(session.sessionId, typed("unharmed"));
  await eventually(() => expect(taken.text).toBe("unharmed"));
  expect(hub.link.online).toBe(true);
});

/** Random bytes, or a message with some of its bytes changed. None of it says HELLO, which would be a newer hub. */
function noise(random: Random, sessionId: string): Uint8Array {
  if (random(2) === 0) return Buffer.from(Array.from({ length: random(200) }, () => random(256)));
  const bytes = encodeMessage(
    { type: "TERMINATE_CMD", id: random(100), session_id: sessionId },
    Buffer.alloc(random(50)),
  );
  for (let changes = random(4); changes > 0; changes -= 1) bytes[random(bytes.length)] = random(256);
  return bytes;
}
