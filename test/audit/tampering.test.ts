import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  type Audited,
  auditedDirectory,
  copyOf,
  decisionsIn,
  findingAfter,
  findingInLines,
  foundIn,
  runSql,
  verify,
} from "./audited-hub.ts";
import { SEED, seeded } from "../crash/seeded.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { IS_SOAK } from "../support/soak.ts";

let audited: Audited;
let decisions: number[];

beforeAll(async () => {
  audited = await auditedDirectory(await mkdtemp(join(tmpdir(), "sidestick-")));
  decisions = decisionsIn(audited);
});

afterAll(() => rm(audited.dataDir, { recursive: true }));

/** Of so many: the first, the last and one between them, another one each time; all in a soak. */
const someOf = (count: number): readonly number[] =>
  IS_SOAK ? [...Array(count).keys()] : [0, 1 + seeded(SEED)(count - 2), count - 1];

type OfRecord<T> = (sequence: number, index: number) => T;

const ofSome = <T>(what: OfRecord<T>): T[] => someOf(decisions.length).map((index) => what(decisions[index]!, index));

/** All at once would be many open files; one by one is slow only in the number of lines. */
async function findings(sql: OfRecord<string>): Promise<string[]> {
  const found: string[] = [];
  for (const text of ofSome(sql)) found.push(await findingAfter(audited, text));
  return found;
}

describe("the store", () => {
  test("[AUD-10, AUD-13] what nobody touched is verified, from the first record to the heads", async () => {
    const report = await verify(audited);

    expect(report).toMatchObject({
      ok: true,
      proof: "anchored",
      anchoredTo: decisions.at(-1),
      chain: { from: decisions[0], to: decisions.at(-1), records: decisions.length },
      lines: { count: decisions.length + 1, to: decisions.at(-1) },
      heads: [{ state: "matches" }, { state: "matches" }],
    });
    expect(decisions.length).toBeGreaterThan(12);
  });

  test.each([
    ["stream", "stream = (SELECT id FROM streams WHERE id <> stream LIMIT 1)"],
    ["type", "type = (SELECT id FROM types WHERE id <> type LIMIT 1)"],
    ["class", "class = 3 - class"],
    ["time", "at = at + 1"],
    ["source", "source = (SELECT id FROM sources WHERE id <> source LIMIT 1)"],
    ["position", "position = ifnull(position, 0) + 1"],
    ["cursor", "cursor = ifnull(cursor, 0) + 1"],
    ["payload", "payload = replace(payload, '\"', ' \"')"],
    ["payload's type", "payload = '[]'"],
    ["digest", "chain = unhex(hex(zeroblob(32)) || hex(substr(chain, 33)))"],
    ["link", "chain = unhex(hex(substr(chain, 1, 32)) || hex(zeroblob(32)))"],
    ["link, taken away", "chain = NULL"],
  ])("[AUD-10] a changed %s is found in every record", async (_name, change) => {
    const expected = ofSome((sequence) => `changed ${sequence}`);

    expect(await findings((sequence) => `UPDATE events SET ${change} WHERE sequence = ${sequence}`)).toEqual(expected);
  });

  test("[AUD-10] a changed sequence is found in every record", async () => {
    const found = await findings((sequence) => `UPDATE events SET sequence = 1000 WHERE sequence = ${sequence}`);

    expect(found.filter((it) => it === "nothing")).toEqual([]);
  });

  test("[AUD-10] a record that was made activity is found", async () => {
    const found = await findings((sequence) => `UPDATE events SET class = 0 WHERE sequence = ${sequence}`);

    expect(found.filter((it) => !/^(removed|truncated) /.test(it))).toEqual([]);
  });

  test("[AUD-10] a decision that was put in as activity, past the chain, is found", async () => {
    const [sequence] = decisions;
    const copied = "stream, type, 0, at, source, position, cursor, payload, NULL";
    const copy = `SELECT 1000, ${copied} FROM events WHERE sequence = ${sequence}`;

    expect(await findingAfter(audited, `INSERT INTO events ${copy}`)).toBe("added 1000");
  });

  test("[AUD-10, AUD-13] a removed record is found at the next one, the last by the heads", async () => {
    const found = await findings((sequence) => `DELETE FROM events WHERE sequence = ${sequence}`);

    const expected = ofSome((_, index) => {
      const next = decisions[index + 1];
      return next === undefined ? `truncated ${decisions.at(-2)}` : `removed ${next}`;
    });
    expect(found).toEqual(expected);
  });

  test("[AUD-10] a removal that no checkpoint knows of is found", async () => {
    const found = await findings(
      (sequence) =>
        `INSERT INTO audit_removed (sequence, chain) SELECT sequence, chain FROM events WHERE sequence = ${sequence};
         DELETE FROM events WHERE sequence = ${sequence}`,
    );

    expect(found).toEqual(ofSome((sequence) => `removed ${sequence}`));
  });

  test("[AUD-13] a store that was cut at any place is found by the heads", async () => {
    const found = await findings((sequence) => `DELETE FROM events WHERE sequence >= ${sequence}`);

    expect(found).toEqual(ofSome((_, index) => `truncated ${decisions[index - 1] ?? 0}`));
  });

  test("[AUD-10] two records that changed places are found", async () => {
    const found = await findings((sequence, index) => {
      const other = decisions[(index + 1) % decisions.length];
      return `UPDATE events SET sequence = -1 WHERE sequence = ${sequence};
        UPDATE events SET sequence = ${sequence} WHERE sequence = ${other};
        UPDATE events SET sequence = ${other} WHERE sequence = -1`;
    });

    const first = ofSome((sequence, index) => Math.min(sequence, decisions[(index + 1) % decisions.length]!));
    expect(found).toEqual(first.map((sequence) => `swapped ${sequence}`));
  });

  test("[AUD-10] a record that was put in is found", async () => {
    const found = await findings(
      (sequence) =>
        `INSERT INTO events SELECT ${sequence} + 1000, stream, type, class, at, source, position, cursor, payload, chain
         FROM events WHERE sequence = ${sequence}`,
    );

    expect(found.filter((it) => it === "nothing")).toEqual([]);
  });

  test.each([
    "DELETE FROM audit_checkpoints",
    "UPDATE audit_checkpoints SET body = replace(body, 'begun', 'taken_over')",
    "UPDATE audit_checkpoints SET id = 2",
    "UPDATE audit_checkpoints SET after = 3",
    "UPDATE audit_checkpoints SET chain = zeroblob(32)",
    "UPDATE streams SET name = name || 'x'",
    "UPDATE sources SET name = name || 'x'",
    "UPDATE types SET name = 'other' WHERE name = 'status'",
    "PRAGMA user_version = 1",
  ])("[AUD-10] what stands beside the records is covered: %s", async (sql) => {
    expect(await findingAfter(audited, sql)).not.toBe("nothing");
  });
});

describe("the audit file", () => {
  const each = async (change: (lines: string[], index: number) => string[]): Promise<string[]> => {
    const found: string[] = [];
    for (const index of someOf(decisions.length + 1))
      found.push(await findingInLines(audited, (lines) => change(lines, index)));
    return found;
  };

  test.each([
    ["type", (line: string) => line.replace('"type":"', '"type":"x')],
    ["time", (line: string) => line.replace('"timestamp":"2', '"timestamp":"1')],
    ["space", (line: string) => line.replace("{", "{ ")],
    ["hash", (line: string) => line.replace(/.{64}"\}$/, `${"0".repeat(64)}"}`)],
    ["nothing of a line", () => "{}"],
  ])("[AUD-12] a changed %s is found in every line", async (_name, change) => {
    const found = await each((lines, index) => lines.with(index, change(lines[index]!)));

    expect(found.filter((it) => !it.startsWith("line_differs"))).toEqual([]);
  });

  test("[AUD-12] a removed line is found, but for the first: that is a file that was turned over", async () => {
    const found = await each((lines, index) => lines.toSpliced(index, 1));

    expect(found[0]).toBe("nothing");
    expect(found.slice(1).filter((it) => !it.startsWith("line_differs"))).toEqual([]);
  });

  test("[AUD-12] lines that changed places, came twice or were cut off at the end are found", async () => {
    const swapped = await each((lines, index) => {
      const other = (index + 1) % lines.length;
      return lines.with(index, lines[other]!).with(other, lines[index]!);
    });
    const twice = await each((lines, index) => lines.toSpliced(index, 0, lines[index]!));
    const cut = await each((lines, index) => lines.slice(0, index + 1));

    expect([...swapped, ...twice].filter((it) => !it.startsWith("line_differs"))).toEqual([]);
    expect(cut.slice(0, -1).filter((it) => !it.startsWith("line_differs"))).toEqual([]);
    expect(cut.at(-1)).toBe("nothing");
  });
});

describe("the heads outside", () => {
  test("[AUD-13] without the file and the head kept, the chain is self-consistent only", async () => {
    const copy = await copyOf(audited);
    await rm(join(copy.dataDir, "audit.jsonl"));
    await rm(copy.heads, { recursive: true });
    runSql(copy, `DELETE FROM events WHERE sequence > ${decisions[3]}`);

    expect(await verify(copy)).toMatchObject({ ok: true, proof: "self-consistent only", anchoredTo: undefined });
  });

  test.each(["audit.jsonl", "sidestick"])("[AUD-13] without %s the other one finds a truncation", async (name) => {
    const copy = await copyOf(audited);
    await rm(join(copy.dataDir, name), { recursive: true });
    runSql(copy, `DELETE FROM events WHERE sequence > ${decisions[3]}`);

    expect(await foundIn(copy)).toBe(`truncated ${decisions[3]}`);
  });

  test("[AUD-13] a store that is gone, and another one in its place, are found", async () => {
    const gone = await copyOf(audited);
    await rm(join(gone.dataDir, "events.db"));
    const replaced = await auditedDirectory(await temporaryDirectory());
    for (const name of ["events.db", "audit.jsonl"]) await rm(join(replaced.dataDir, name));
    const last = decisions.at(-1);
    await auditedDirectory(replaced.dataDir);

    expect(await foundIn(gone)).toBe("removed 0");
    expect(await foundIn(replaced)).toBe(`replaced ${last}`);
  });
});
