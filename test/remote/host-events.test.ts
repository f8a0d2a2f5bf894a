/** What the log keeps of hosts: who was let in for ever, who was there now and then. */
import { duplexPair, type Duplex } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { createLogger } from "../../src/lib/logger.ts";
import { openDesks } from "../../src/main/desks.ts";
import { encodeMessage, HubMessage } from "../../src/protocol/link.ts";
import { MessageReader } from "../../src/protocol/link-reader.ts";
import { eventually } from "../support/eventually.ts";
import { MemoryDriver } from "../support/memory-driver.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const DAY_MS = 86_400_000;
const ANN = { kind: "person", id: "ann" } as const;
const FACTS = { os: "Linux", arch: "x64", shells: [], version: "0" };

async function opened(dataDir: string, clock: { now: () => number }) {
  const limits = {
    activityMaxAgeMs: 10 * DAY_MS,
    activityMaxBytes: 1e12,
    auditMaxAgeMs: 100 * DAY_MS,
    auditMaxBytes: 1e12,
    outputMaxBytes: 1e12,
  };
  const logger = createLogger("error", () => undefined);
  const desks = await openDesks({
    dataDir,
    openDrivers: async () => [new MemoryDriver("terminal")],
    logger,
    clock,
    limits,
  });
  let closed: Promise<void> | undefined;
  const close = () => (closed ??= desks.close());
  onTestFinished(close);
  const linkEvents = async () =>
    (await desks.log.read({ types: ["host_link"], limit: 100 })).map((it) => it.payload["online"]);
  return { ...desks, close, linkEvents };
}

/** A host that greets on both of its connections; ends them. */
function come(hostId: string, offer: (channel: "data" | "control", stream: Duplex) => void): () => void {
  const ends = (["data", "control"] as const).map((channel) => {
    const [near, far] = duplexPair();
    far.on("error", () => undefined);
    const reader = new MessageReader({
      message: (header) => {
        if (HubMessage.parse(header).type !== "HELLO") return;
        const about = { version: 1, host_id: hostId, pid: 1, instance: "i", sessions: [], facts: FACTS };
        far.write(encodeMessage({ type: "WELCOME", ...about }));
      },
      fault: () => far.destroy(),
    });
    far.on("data", (chunk: Uint8Array) => reader.push(chunk));
    offer(channel, near);
    return () => {
      near.destroy();
      far.destroy();
    };
  });
  return () => ends.forEach((end) => end());
}

test("[RML-12] a host that comes and goes is told of at most once in five seconds, and then as it is", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  let now = Date.now();
  const { hosts, remotes, linkEvents } = await opened(await temporaryDirectory(), { now: () => now });
  const { host_id: hostId } = await hosts.enrol({ code: hosts.invite({ name: "flaps" }, ANN).code, ...FACTS });
  const isOnline = (online: boolean) => eventually(() => expect(hosts.get(hostId).online).toBe(online));
  const flap = async (): Promise<void> => {
    const end = come(hostId, (channel, stream) => remotes.offer(hostId, channel, stream));
    await isOnline(true);
    end();
    await isOnline(false);
  };

  await flap();
  now += 2_000;
  await flap();
  await flap();
  vi.advanceTimersByTime(2_999);
  const soon = await linkEvents();
  vi.advanceTimersByTime(1);
  await eventually(async () => expect(await linkEvents()).toHaveLength(2));

  expect(soon).toEqual([true]);
  expect(await linkEvents()).toEqual([true, false]);
});

test("[RML-12, HUB-8] who was let in is known however long ago that was; who was there is forgotten in time", async () => {
  let now = Date.now();
  const clock = { now: () => now };
  const dataDir = await temporaryDirectory();
  const first = await opened(dataDir, clock);
  const { hosts, remotes } = first;
  const { host_id: hostId } = await hosts.enrol({ code: hosts.invite({ name: "old" }, ANN).code, ...FACTS });
  come(hostId, (channel, stream) => remotes.offer(hostId, channel, stream));
  await eventually(async () => expect(await first.linkEvents()).toEqual([true]));

  now += 1_000 * DAY_MS;
  await first.retention.run();
  const kept = await first.linkEvents();
  await first.close();
  const second = await opened(dataDir, clock);

  expect(kept).toEqual([]);
  expect(second.hosts.get("old")).toMatchObject({ hostId, online: false, os: "Linux" });
});
