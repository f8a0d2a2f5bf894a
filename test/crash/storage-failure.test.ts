import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { linesOf } from "./victim.ts";

/** A mount that only the program under test sees, and that goes with it. */
const NAMESPACE = process.getuid?.() === 0 ? ["unshare", "-m"] : ["unshare", "-rm"];
const [UNSHARE = "", ...FLAGS] = NAMESPACE;
const canMount = spawnSync(UNSHARE, [...FLAGS, "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).status === 0;
const canLimit = spawnSync("prlimit", ["--fsize=1000000", "--nofile=64", "true"]).status === 0;

test.skipIf(!canMount)(
  "[LOG-13, LOG-14, BYT-4] a full disk loses nothing, shows nothing unstored, and passes (needs mount namespaces)",
  async () => {
    const directory = await temporaryDirectory();
    const script = 'mount -t tmpfs -o size=20m,mode=700 tmpfs "$1" && exec "$2" "$3" "$1"';
    const args = [directory, process.execPath, join(import.meta.dirname, "full-disk.ts")];
    const child = spawn(UNSHARE, [...FLAGS, "sh", "-c", script, "sh", ...args], {
      stdio: ["ignore", "pipe", "inherit"],
    });

    const [events = "", bytes = "", small = ""] = await linesOf(child);

    expect(JSON.parse(events)).toEqual({
      events: {
        failed: "database or disk is full",
        problem: "none",
        stored: true,
        after: 11,
        observedIsStored: true,
        deliveredIsStored: true,
        acknowledgedIsStored: true,
        integrity: "ok",
      },
    });
    expect(JSON.parse(bytes)).toEqual({
      bytes: { failed: true, sizeIsAcknowledged: true, tail: "0123456789", next: 3, end: "0123456789abc" },
    });
    expect(JSON.parse(small)).toEqual({ small: 15 });
  },
);

test.skipIf(!canLimit)(
  "[LOG-13, LOG-15] after a failed write nothing is accepted before a restart (needs prlimit)",
  async () => {
    const directory = await temporaryDirectory();
    const program = [process.execPath, join(import.meta.dirname, "short-file.ts"), directory];
    const child = spawn("prlimit", ["--fsize=2000000", ...program], { stdio: ["ignore", "pipe", "inherit"] });

    const [line = ""] = await linesOf(child);

    const found = JSON.parse(line) as Record<string, unknown> & { acknowledged: number };
    const refusal = `Writing ${join(directory, "events.db")} failed (disk I/O error): nothing more is stored until the hub is restarted.`;
    const { acknowledged } = found;
    expect(acknowledged).toBeGreaterThan(10);
    expect(found).toEqual({
      first: refusal,
      second: refusal,
      problem: refusal,
      acknowledged,
      observed: acknowledged,
      readable: acknowledged,
    });
    const store = await openSqliteStore(directory, { now: Date.now });
    expect(await store.integrityCheck()).toBe("ok");
    expect(store.events.head).toBeGreaterThanOrEqual(acknowledged);
    await store.close();
  },
);

test.skipIf(!canLimit)(
  "[BYT-12] output is refused while no file can be opened, and taken again once one can (needs prlimit)",
  async () => {
    const directory = await temporaryDirectory();
    const program = [process.execPath, join(import.meta.dirname, "few-files.ts"), directory];
    const child = spawn("prlimit", ["--nofile=64", ...program], { stdio: ["ignore", "pipe", "inherit"] });

    const [line = ""] = await linesOf(child);

    const refused = ["EMFILE", "EMFILE", "EMFILE", "EMFILE", "EMFILE"];
    const streams = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
    expect(JSON.parse(line)).toEqual({
      without: [refused, refused],
      again: [{ ok: true, size: 30 }, { ok: true, size: 5 }, "0123", 5, streams],
    });
  },
);
