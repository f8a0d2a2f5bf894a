import { expect, onTestFinished, test } from "vitest";
import type { NewEvent } from "../../src/domain/event.ts";
import { ANN, BOB, request, status } from "../store/test-log.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { type Audited, decisionsIn, findingAfter, foundIn, headsIn, verify } from "./audited-hub.ts";
import { type AuditedStore, openAudited } from "./audited-store.ts";

const many = (count: number, event: NewEvent): NewEvent[] => Array.from({ length: count }, () => event);

/** ANN's decisions go, BOB's stay, and they lie between each other. */
async function interleaved(rounds: number, size: number): Promise<{ it: AuditedStore; audited: Audited }> {
  const dataDir = await temporaryDirectory();
  const it = await openAudited(dataDir);
  onTestFinished(() => it.close());
  for (let round = 0; round < rounds; round += 1) {
    await it.store.events.append(ANN, "any", many(size, request(`ask ${round}`)), "process");
    await it.store.events.append(BOB, "any", [status(`state ${round}`)], "process");
  }
  return { it, audited: { dataDir, heads: headsIn(dataDir) } };
}

test("[AUD-4] what is left after a removal is verified, and tampering with it is found", async () => {
  const { it, audited } = await interleaved(6, 2);
  expect(await it.prune({ auditMaxBytes: 0, keep: new Set([BOB]) })).toBe(12);
  await it.store.events.append(BOB, "any", [status("after")], "process");
  await it.close();

  const report = await verify(audited);
  expect(report).toMatchObject({
    ok: true,
    proof: "anchored",
    chain: { records: 7, checkpoint: { id: 2, removed: 12 } },
  });
  const found: string[] = [];
  for (const sequence of decisionsIn(audited)) {
    found.push(await findingAfter(audited, `DELETE FROM events WHERE sequence = ${sequence}`));
    found.push(await findingAfter(audited, `UPDATE events SET at = at + 1 WHERE sequence = ${sequence}`));
  }
  expect(found.filter((text) => !/^(removed|changed|truncated) /.test(text))).toEqual([]);
});

test.each([
  "DELETE FROM audit_removed WHERE id = 3",
  "DELETE FROM audit_removed",
  "UPDATE audit_removed SET sequence = sequence + 1 WHERE id = 3",
  "UPDATE audit_removed SET chain = zeroblob(64) WHERE id = 3",
  "UPDATE audit_removed SET id = 99 WHERE id = 3",
  "UPDATE audit_checkpoints SET body = replace(body, '\"removed\":12', '\"removed\":11') WHERE id = 2",
  "DELETE FROM audit_checkpoints WHERE id = 2",
  "DELETE FROM audit_checkpoints WHERE id = 1",
  "INSERT INTO events SELECT 1, stream, type, class, at, source, NULL, NULL, payload, chain FROM events LIMIT 1",
])("[AUD-10] what is remembered of removed decisions can't be changed either: %s", async (sql) => {
  const { it, audited } = await interleaved(6, 2);
  await it.prune({ auditMaxBytes: 0, keep: new Set([BOB]) });
  await it.close();

  expect(await findingAfter(audited, sql)).not.toBe("nothing");
});

test("[AUD-4] when much was removed, a checkpoint vouches for what is left and the rest is forgotten", async () => {
  const { it, audited } = await interleaved(8, 500);
  await it.prune({ auditMaxBytes: 0, keep: new Set([BOB]) });
  await it.store.events.append(ANN, "any", [request("later")], "process");
  await it.prune({ auditMaxBytes: 0, keep: new Set([BOB]) });
  await it.close();

  const { ok, proof, chain } = await verify(audited);
  expect({ ok, proof, records: chain.records }).toEqual({ ok: true, proof: "anchored", records: 8 });
  expect(chain.checkpoint).toMatchObject({ kept: 8, removed: 1 });
  const [first, second] = decisionsIn(audited);
  const { sequence } = chain.checkpoint!.base;
  expect([
    await findingAfter(audited, `DELETE FROM events WHERE sequence = ${first}`),
    await findingAfter(audited, `UPDATE events SET payload = '{}' WHERE sequence = ${second}`),
    await findingAfter(audited, `UPDATE events SET chain = zeroblob(64) WHERE sequence = ${second}`),
    await findingAfter(audited, `UPDATE events SET sequence = 1 WHERE sequence = ${second}`),
  ]).toEqual([`removed ${sequence}`, `changed ${second}`, `changed ${second}`, "changed 1"]);
});

test("[AUD-5] no decision is removed before its line is written", async () => {
  const { it, audited } = await interleaved(2, 2);
  await it.writer.close();
  await it.store.events.append(ANN, "any", many(3, request("not written")), "process");
  const { written } = it.writer;
  const none = { activityMaxAgeMs: 0, activityMaxBytes: 0, auditMaxAgeMs: 1e12, auditMaxBytes: 0 };
  const pruned = await it.store.events.prune({ ...none, keep: new Set(), keepEvents: new Set(), written });
  await it.close();

  expect(pruned).toEqual({ activity: 0, audit: 6 });
  expect(decisionsIn(audited)).toHaveLength(3);
  expect(await foundIn(audited)).toBe("nothing");
});
