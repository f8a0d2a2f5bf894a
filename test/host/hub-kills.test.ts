import { type ChildProcess, spawn } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { SEED, seeded } from "../crash/seeded.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { dial, kill, newSession, SIZE, spawnHost } from "./host-process.ts";
import { wholeRecords } from "./taken-records.ts";
import { soakCount } from "../support/soak.ts";

const KILLS = soakCount(200);
/** So many that every life has some. */
const BYTES = soakCount(512) * 1024 * 1024;

const random = seeded(SEED);

function startTaker(...args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [join(import.meta.dirname, "taker.ts"), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => kill(child));
  child.stdout.on("data", () => undefined);
  return child;
}

function after(delayMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}

test(`[HST-1, HST-5, HST-6] no kill of the hub loses or repeats a byte (${KILLS} kills, seed ${SEED})`, async () => {
  const dataDir = await temporaryDirectory();
  const source = join(dataDir, "source");
  writeFileSync(source, randomBytes(BYTES));
  // Small, so that the program is paused while no hub is there and every life sees some of its output.
  await spawnHost(dataDir, { command: `cat ${source}; cat`, spool: [256 * 1024, 1024 * 1024] });
  const file = join(dataDir, "taken");
  const session = newSession();
  const starter = await dial(dataDir);
  await starter.driver.start(session, SIZE, () => new Promise(() => undefined));
  starter.link.close();

  const sizes: number[] = [];
  for (let life = 0; life < KILLS; life += 1) {
    const taker = startTaker(dataDir, session.sessionId, file);
    if (life % 4 === 3) await after(random(300));
    else await once(taker.stdout!, "data").then(() => after(random(30)));
    await kill(taker);
    sizes.push(statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  }
  startTaker(dataDir, session.sessionId, file);
  await eventually(() => expect(statSync(file).size).toBeGreaterThan(BYTES));

  const { orders, content } = await eventually(() => {
    const records = wholeRecords(readFileSync(file));
    expect(records.content.reduce((sum, it) => sum + it.length, 0)).toBeGreaterThanOrEqual(BYTES);
    return records;
  });
  expect(orders.every((order, index) => order === index + 1)).toBe(true);
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  expect(digest(Buffer.concat(content))).toBe(digest(readFileSync(source)));
  expect(new Set(sizes).size).toBeGreaterThan(KILLS / 5); // else the kills came before or after everything
});
