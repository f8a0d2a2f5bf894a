import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import { eventually } from "../support/eventually.ts";
import { sessionDriverContract } from "../support/session-driver.contract.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { HostLink } from "../../src/server/hosts/host-link.ts";
import { socketAt } from "../../src/server/hosts/wire.ts";
import { dial, kill, newSession, openHost, silent, SIZE, socketOf, spawnHost, Taken, typed } from "./host-process.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const LINES = "sed -u /^exit/q";

/** Each test has sessions of its own there, and is the newest hub. */
let cats: Awaited<ReturnType<typeof openHost>>;
let lines: Awaited<ReturnType<typeof openHost>>;
beforeAll(async () => {
  cats = await openHost();
  return cats.stop;
});
beforeAll(async () => {
  lines = await openHost({ command: LINES });
  return lines.stop;
});

sessionDriverContract(async () => {
  const { dataDir } = lines;
  const { driver } = await dial(dataDir);
  return { driver, echo: "hello\n", answer: "hello\n", end: "exit\n" };
});

test("[HST-1, HST-21] a hub that comes back adopts a session without a hole and without a repeat", async () => {
  const { dataDir } = cats;
  const first = await dial(dataDir);
  const session = newSession();
  const taken = new Taken();
  await first.driver.start(session, SIZE, taken.intake);
  await first.driver.input(session.sessionId, typed("before "));
  await eventually(() => expect(taken.text).toBe("before "));
  await first.driver.input(session.sessionId, typed("between "));
  first.link.close();

  const second = await dial(dataDir);
  const adopted = await second.driver.adopt(session, { order: taken.orders.at(-1)! }, taken.intake);
  await second.driver.input(session.sessionId, typed("after"));

  expect(adopted).toBe("running");
  await eventually(() => expect(taken.text).toBe("before between after"));
  expect(taken.orders).toEqual(taken.orders.map((_, index) => index + 1));
});

test("[HST-21] a lost link is made again by itself, and the hub is told", async () => {
  const { dataDir } = cats;
  const { link, driver } = await dial(dataDir);
  const session = newSession();
  const taken = new Taken();
  await driver.start(session, SIZE, taken.intake);
  const returned = new Promise<void>((resolve) => driver.onReturn(resolve));

  link.restart("for the test");
  await returned;

  expect(await driver.adopt(session, { order: 0 }, taken.intake)).toBe("running");
  await driver.input(session.sessionId, typed("still there"));
  await eventually(() => expect(taken.text).toBe("still there"));
});

test("[HST-9] an end that nobody heard is told to the hub that comes, and then the session is forgotten", async () => {
  const { dataDir } = lines;
  const first = await dial(dataDir);
  const session = newSession();
  const deaf = () => Promise.reject(new Error("a full disk"));
  await first.driver.start(session, SIZE, deaf);
  await first.driver.input(session.sessionId, typed("exit\n"));
  first.link.close();

  const second = await dial(dataDir);
  const taken = new Taken();
  await second.driver.adopt(session, { order: 0 }, taken.intake);

  await eventually(() => expect(taken.frames.at(-1)).toMatchObject({ kind: "exit", exitCode: 0 }));
  await eventually(async () => expect(await second.driver.adopt(session, { order: 9 }, taken.intake)).toBe("gone"));
});

test("[HST-14] a rejected batch is offered again, the same frames, and none is lost", async () => {
  const { dataDir } = cats;
  const { driver } = await dial(dataDir);
  const offered: number[][] = [];
  const stored = new Taken();
  const atOnce = { now: 0, most: 0 };
  const intake = async (frames: readonly SessionFrame[]) => {
    atOnce.most = Math.max(atOnce.most, (atOnce.now += 1));
    await Promise.resolve();
    atOnce.now -= 1;
    offered.push(frames.map((it) => it.order));
    if (offered.length <= 2) throw new Error("a full disk");
    await stored.intake(frames);
  };
  const session = newSession();
  await driver.start(session, SIZE, intake);

  await driver.input(session.sessionId, typed("a"));
  await eventually(() => expect(offered.length).toBeGreaterThan(0));
  await driver.input(session.sessionId, typed("b"));

  await eventually(() => expect(stored.text).toBe("ab"));
  expect(offered.slice(0, 3)).toEqual([[1], [1], [1]]);
  expect(stored.orders).toEqual(stored.orders.map((_, index) => index + 1));
  expect(atOnce.most).toBe(1);
});

test("[HST-6] a session whose spool is full blocks its program, and goes on without a loss", async () => {
  const dataDir = await temporaryDirectory();
  const command = `i=0; while [ $i -lt 1000 ]; do i=$((i+1)); printf '%01000d' $i; done; cat`;
  await spawnHost(dataDir, { command, spool: [50_000, 150_000] });
  const first = await dial(dataDir);
  const session = newSession();
  await first.driver.start(session, SIZE, () => new Promise(() => undefined));
  first.link.close();
  const spoolFile = join(dataDir, "host", "spool", session.sessionId);
  await eventually(() => expect(statSync(spoolFile).size).toBeGreaterThan(125_000));
  expect(statSync(spoolFile).size).toBeLessThan(250_000);

  const second = await dial(dataDir);
  const taken = new Taken();
  await second.driver.adopt(session, { order: 0 }, taken.intake);

  const expected = Array.from({ length: 1000 }, (_, index) => String(index + 1).padStart(1000, "0")).join("");
  await eventually(() => expect(taken.text.length).toBe(expected.length));
  expect(taken.text === expected).toBe(true);
  expect(taken.orders).toEqual(taken.orders.map((_, index) => index + 1));
});

test("[HST-19] a large input goes in parts and reaches the program whole and in order", async () => {
  const dataDir = await temporaryDirectory();
  await spawnHost(dataDir, { command: "head -c 1000000 | sha256sum" });
  const { driver } = await dial(dataDir);
  const bytes = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => (index * 31 + (index >> 8)) & 0xff));
  const session = newSession();
  const taken = new Taken();
  await driver.start(session, SIZE, taken.intake);

  await driver.input(session.sessionId, typed(bytes));

  const digest = createHash("sha256").update(bytes).digest("hex");
  await eventually(() => expect(taken.text).toContain(digest));
});

test("[HST-19] input numbers go on where the last hub ended", async () => {
  const { dataDir } = cats;
  const first = await dial(dataDir);
  const session = newSession();
  const taken = new Taken();
  await first.driver.start(session, SIZE, taken.intake);
  await first.driver.input(session.sessionId, typed("a"));
  await first.driver.input(session.sessionId, typed("b"));
  first.link.close();

  const { link } = await dial(dataDir);
  const { fields } = await link.request({ type: "ADOPT", session_id: session.sessionId, order: 0 });

  expect(fields["inputs"]).toBe(2);
});

test("[HST-12] a stop acts at once behind a paste that the program doesn't read", async () => {
  const dataDir = await temporaryDirectory();
  await spawnHost(dataDir, { command: "exec sleep 1000" });
  const { driver } = await dial(dataDir);
  const session = newSession();
  const taken = new Taken();
  await driver.start(session, SIZE, taken.intake);
  const paste = driver.input(session.sessionId, typed(new Uint8Array(1_000_000))).catch((error: unknown) => error);

  // Behind a paste that is never read it would never come.
  await driver.stop(session.sessionId);

  await eventually(() => expect(taken.frames.at(-1)).toMatchObject({ kind: "exit" }));
  expect(await paste).toBeInstanceOf(Error);
});

test("[HST-13] a refusal comes back with its code and details, and a fault as internal", async () => {
  const { dataDir } = cats;
  const { link, driver } = await dial(dataDir);
  const session = newSession();
  await driver.start(session, SIZE, new Taken().intake);

  const refused = link.request({
    type: "START_INTERACTIVE_CMD",
    session_id: crypto.randomUUID(),
    ...SIZE,
    for_agent: false,
    cwd: "/refuse",
  });

  await expect(refused).rejects.toMatchObject({
    code: "limit_reached",
    message: "asked to refuse",
    details: { most: 3 },
  });
  await expect(driver.screen(session.sessionId)).rejects.toMatchObject({ code: "internal" });
  await expect(driver.status(crypto.randomUUID())).rejects.toMatchObject({ code: "not_found" });
});

test("[HST-13] an answer that got lost is an unknown outcome; what can't be sent finds the host offline", async () => {
  const dataDir = await temporaryDirectory();
  const host = await spawnHost(dataDir, { command: "exec sleep 1000" });
  const { driver } = await dial(dataDir);
  const session = newSession();
  await driver.start(session, SIZE, new Taken().intake);
  const paste = driver.input(session.sessionId, typed(new Uint8Array(200_000))).catch((error: unknown) => error);
  await driver.status(session.sessionId);

  await kill(host);

  expect(await paste).toMatchObject({ code: "unknown_outcome" });
  await expect(driver.status(session.sessionId)).rejects.toMatchObject({ code: "host_offline" });
  expect(await driver.adopt(session, { order: 0 }, new Taken().intake)).toBe("away");
});

test("[HST-3] an answer that is larger than a message comes whole", async () => {
  const { dataDir } = cats;
  const { driver } = await dial(dataDir);
  const session = newSession();
  await driver.start(session, SIZE, new Taken().intake);

  const { ansi } = await driver.snapshot(session.sessionId);

  expect(ansi).toBe("é".repeat(200_000));
});

test("[HST-10] without a common version the link is refused with both named, and not tried again", async () => {
  const { dataDir } = cats;

  const { link } = await dial(dataDir);
  const other = new HostLink({ connect: socketAt(socketOf(dataDir)), logger: silent, versions: [98, 99] });
  const refused = new Promise<Error>((resolve) => {
    const nothing = () => undefined;
    other.listen({ frame: nothing, online: nothing, offline: nothing, refused: resolve });
  });
  other.open();

  expect(await refused).toMatchObject({ code: "version", message: expect.stringMatching(/version 1 .* 98, 99/) });
  expect(other.online).toBe(false);
  expect(link.online).toBe(true);
});

test("[HST-11] a newer hub replaces the older, which is told and doesn't come back", async () => {
  const { dataDir } = cats;
  const older = await dial(dataDir);
  const session = newSession();
  await older.driver.start(session, SIZE, new Taken().intake);

  const newer = await dial(dataDir);
  const taken = new Taken();
  await newer.driver.adopt(session, { order: 0 }, taken.intake);
  await newer.driver.input(session.sessionId, typed("new"));

  await eventually(() => expect(taken.text).toBe("new"));
  await eventually(() => expect(older.link.refusal).toMatchObject({ code: "replaced" }));
  expect([older.link.online, newer.link.online]).toEqual([false, true]);
});

test("[HST-20] a host that falls silent is taken for dead, and found again when it speaks", async () => {
  const dataDir = await temporaryDirectory();
  const host = await spawnHost(dataDir);
  vi.useFakeTimers({ toFake: ["setInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const { link } = await dial(dataDir);

  host.kill("SIGSTOP");
  await eventually(() => expect(readFileSync(`/proc/${host.pid}/stat`, "utf8")).toMatch(/\) T /));
  vi.advanceTimersByTime(9_000);
  await turn();
  const afterNine = link.online;
  vi.advanceTimersByTime(3_000);
  await turn();
  const afterTwelve = link.online;
  host.kill("SIGCONT");

  expect([afterNine, afterTwelve]).toEqual([true, false]);
  await eventually(() => expect(link.online).toBe(true));
});
