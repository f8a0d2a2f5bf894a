import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { ANN, BOB, output, status, TOKEN } from "../store/test-log.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { findingAfter, foundIn, headsIn, runSql, verify } from "./audited-hub.ts";
import { openAudited } from "./audited-store.ts";
import { makeOlderStore } from "./older-store.ts";

async function place() {
  const dataDir = await temporaryDirectory();
  return { dataDir, heads: headsIn(dataDir), file: join(dataDir, "audit.jsonl") };
}

/** Sequence and type of each line. */
async function linesIn(file: string): Promise<string[]> {
  const lines = (await readFile(file, "utf8")).split("\n").slice(0, -1);
  return lines
    .map((line) => JSON.parse(line) as { sequence: number; type: string })
    .map((it) => `${it.sequence} ${it.type}`);
}

test("[AUD-1, AUD-5] decisions of all streams are one chain and one file; output is in neither", async () => {
  const it = await place();
  const { store, close } = await openAudited(it.dataDir);
  await store.events.append(ANN, 0, [status("created"), output("x"), status("active")], "process");
  await store.events.append(BOB, 0, [output("y")], "process");
  await store.events.append(BOB, "any", [TOKEN, ...Array.from({ length: 25 }, () => output("z")), TOKEN], "power");
  await close();

  expect(await linesIn(it.file)).toEqual(["0 checkpoint", "1 status", "3 status", "5 token", "31 token"]);
  expect(await verify(it)).toMatchObject({ ok: true, anchoredTo: 31, chain: { records: 4 } });
});

test("[AUD-1] an append that was refused or could not be stored leaves no link", async () => {
  const it = await place();
  const { store, close } = await openAudited(it.dataDir);
  await store.events.append(ANN, 0, [status("created")], "process");
  const refused = await store.events.append(ANN, 0, [status("twice")], "process");
  await store.events.append(ANN, 1, [status("active")], "process");
  await close();

  expect(refused).toEqual({ ok: false, version: 1 });
  expect(await foundIn(it)).toBe("nothing");
});

test("[AUD-3] a store from before the chain is taken over behind a checkpoint, with all it holds", async () => {
  const it = await place();
  makeOlderStore(it.dataDir, [ANN, BOB]);
  const { store, close } = await openAudited(it.dataDir);
  const old = await store.events.read({ limit: 10 });
  await store.events.append(ANN, 2, [status("active")], "process");
  await close();

  expect(old.map(({ sequence, type }) => `${sequence} ${type}`)).toEqual([
    "1 status",
    "2 stdout",
    "3 status",
    "4 stdout",
  ]);
  expect(await linesIn(it.file)).toEqual(["0 checkpoint", "1 status", "3 status", "5 status"]);
  expect(await verify(it)).toMatchObject({
    ok: true,
    proof: "anchored",
    chain: { checkpoint: { reason: "taken_over" } },
  });
  expect(await findingAfter(it, "UPDATE events SET at = 999 WHERE sequence = 1")).toBe("changed 1");
});

test.each(["DELETE FROM audit_checkpoints", "UPDATE audit_checkpoints SET body = '{}'"])(
  "[AUD-3] a store without its checkpoint is refused as damaged: %s",
  async (sql) => {
    const it = await place();
    const { store, close } = await openAudited(it.dataDir);
    await store.events.append(ANN, 0, [status("created")], "process");
    await close();
    runSql(it, sql);

    await expect(openSqliteStore(it.dataDir, { now: Date.now })).rejects.toThrow("is damaged (its");
  },
);

test("[AUD-6] what the file lacks is appended at the start, nothing twice, whatever is left of it", async () => {
  const it = await place();
  const { store, close } = await openAudited(it.dataDir);
  for (const text of ["created", "active", "paused"]) await store.events.append(ANN, "any", [status(text)], "process");
  await close();
  const whole = await readFile(it.file, "utf8");
  const found: string[] = [];
  for (let left = 0; left < whole.length; left += 97) {
    await writeFile(it.file, whole.slice(0, left));
    await (await openAudited(it.dataDir)).close();
    // Less than one line: it is taken for a file that was turned over, and the head says where it stopped.
    found.push(
      (await readFile(it.file, "utf8")) === (left <= whole.indexOf("\n") ? "" : whole) ? "same" : String(left),
    );
  }

  expect(found.filter((text) => text !== "same")).toEqual([]);
  expect(found.length).toBeGreaterThan(10);
});

test("[AUD-7] a file that can't be written is caught up with, and the log goes on meanwhile", async () => {
  const it = await place();
  await mkdir(it.file);
  const { store, writer, close } = await openAudited(it.dataDir);
  await store.events.append(ANN, 0, [status("created")], "process");
  await writer.catchUp();
  const { problem } = writer;
  await rm(it.file, { recursive: true });
  await store.events.append(ANN, 1, [status("active")], "process");
  await writer.catchUp();
  const solved = writer.problem;
  await close();

  expect([problem, solved]).toEqual([expect.stringContaining("EISDIR"), undefined]);
  expect(await linesIn(it.file)).toEqual(["0 checkpoint", "1 status", "2 status"]);
});

test("[AUD-8] a file that is turned over goes on where it stopped, while it runs and across a restart", async () => {
  const it = await place();
  const first = await openAudited(it.dataDir);
  await first.store.events.append(ANN, 0, [status("created")], "process");
  await first.writer.catchUp();
  await rename(it.file, `${it.file}.1`);
  await first.store.events.append(ANN, 1, [status("active")], "process");
  await first.close();
  await rename(it.file, `${it.file}.2`);
  const second = await openAudited(it.dataDir);
  const turnedOver = await verify(it);
  await second.store.events.append(ANN, 2, [status("paused")], "process");
  await second.close();

  const files = [`${it.file}.1`, `${it.file}.2`, it.file];
  expect(await Promise.all(files.map(linesIn))).toEqual([["0 checkpoint", "1 status"], ["2 status"], ["3 status"]]);
  expect(turnedOver).toMatchObject({ ok: true, proof: "anchored", anchoredTo: 2 });
  expect(await verify(it)).toMatchObject({ ok: true, lines: { count: 1, from: 3 } });
});

test("[AUD-9, AUD-13] a truncation is found also after the hub went on from there", async () => {
  const it = await place();
  const first = await openAudited(it.dataDir);
  for (const text of ["created", "active", "paused"])
    await first.store.events.append(ANN, "any", [status(text)], "process");
  await first.close();
  runSql(it, "DELETE FROM events WHERE sequence = 3");
  await rm(it.file);
  const second = await openAudited(it.dataDir);
  await second.store.events.append(ANN, "any", [status("closed"), status("again")], "process");
  await second.close();

  expect(await readdir(it.heads)).toHaveLength(2);
  expect(await foundIn(it)).toBe("changed 3");
});

test("[AUD-5] whoever waits for the lines waits for those of what is stored, not for what keeps coming", async () => {
  const it = await place();
  const { store, writer, close } = await openAudited(it.dataDir);
  const over = new AbortController();
  const flood = (async () => {
    while (!over.signal.aborted) await store.events.append(ANN, "any", [status("again")], "process");
  })();
  await store.events.append(BOB, "any", [status("mine")], "power");
  const { head } = store.events;
  await writer.catchUp();
  const written = writer.written.sequence;
  over.abort();
  await flood;
  await close();

  expect(written).toBeGreaterThanOrEqual(head);
  expect(await foundIn(it)).toBe("nothing");
});
