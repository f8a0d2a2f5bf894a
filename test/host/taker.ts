/**
 * A hub that takes one session's frames into a file until it is killed, going on where the file ends. Each record is
 * `u32 order · u32 length · bytes`; what a kill left of a record is cut off.
 *
 *   node taker.ts <data-dir> <session-id> <file>
 */
import { ftruncateSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { SessionFrame } from "../../src/domain/session-frame.ts";
import { createLogger } from "../../src/lib/logger.ts";
import { HostDriver } from "../../src/server/hosts/host-driver.ts";
import { HostLink } from "../../src/server/hosts/host-link.ts";
import { socketAt } from "../../src/server/hosts/wire.ts";
import { newRecord, wholeRecords } from "./taken-records.ts";
import { printNow } from "../support/print-now.ts";

const [dataDir = "", sessionId = "", file = ""] = process.argv.slice(2);

const descriptor = openSync(file, "a+", 0o600);
const { order, bytes } = wholeRecords(readFileSync(file));
ftruncateSync(descriptor, bytes);

const logger = createLogger("error", (line) => process.stderr.write(line));
const link = new HostLink({ connect: socketAt(join(dataDir, "host", "link.sock")), logger });
const driver = new HostDriver({ link, hostId: "local", logger });

async function intake(frames: readonly SessionFrame[]): Promise<void> {
  const records = Buffer.concat(frames.map((it) => newRecord(it.order, it.kind === "bytes" ? it.bytes : NOTHING)));
  for (let done = 0; done < records.length;) done += writeSync(descriptor, records, done);
  printNow(`${frames.at(-1)?.order}\n`);
}

const NOTHING = new Uint8Array(0);

link.listen({
  frame: () => undefined,
  offline: () => undefined,
  online: () => void driver.adopt({ sessionId }, { order }, intake),
});
link.open();
