import { mkdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished, expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { auditLine } from "../../domain/audit-chain.ts";
import { JsonLinesFile } from "./json-lines-file.ts";

const chainOf = (sequence: number): string => String(sequence).padStart(64, "0");
const lineOf = (sequence: number): string => auditLine(`{"sequence":${sequence},"type":"status"}`, chainOf(sequence));

async function opened(): Promise<{ path: string; file: JsonLinesFile }> {
  const path = join(await temporaryDirectory(), "audit.jsonl");
  const file = new JsonLinesFile(path);
  onTestFinished(() => file.close());
  return { path, file };
}

test("[AUD-5] lines are appended to a file of its owner alone", async () => {
  const { path, file } = await opened();
  await file.append([lineOf(1), lineOf(2)]);
  await file.append([lineOf(3)]);

  expect(await readFile(path, "utf8")).toBe(`${lineOf(1)}\n${lineOf(2)}\n${lineOf(3)}\n`);
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

test("[AUD-6] a torn end is cut off at the start, whatever is left of it", async () => {
  const { path } = await opened();
  const whole = `${lineOf(1)}\n${lineOf(2)}\n`;
  for (let left = 0; left <= lineOf(3).length; left += 1) {
    await writeFile(path, whole + lineOf(3).slice(0, left));
    const file = new JsonLinesFile(path);
    const newest = await file.newest();
    await file.close();
    expect(newest).toEqual([2, 1].map((sequence) => ({ sequence, chain: chainOf(sequence) })));
    expect(await readFile(path, "utf8")).toBe(whole);
  }
});

test("[AUD-6] a torn end longer than what is looked at is cut off too, and a line of a checkpoint names it", async () => {
  const { path, file } = await opened();
  const checkpoint = auditLine('{"sequence":4,"type":"checkpoint","checkpoint":2}', chainOf(9));
  await writeFile(path, `${checkpoint}\n${"x".repeat(300_000)}`);

  expect(await file.newest()).toEqual([{ sequence: 4, checkpoint: 2, chain: chainOf(9) }]);
});

test("[AUD-8] a file that was moved away is left alone, one that was emptied in place is begun anew", async () => {
  const { path, file } = await opened();
  await file.append([lineOf(1)]);
  await rename(path, `${path}.1`);
  await file.append([lineOf(2)]);
  await truncate(path, 0);
  await file.append([lineOf(3)]);

  expect(await readFile(`${path}.1`, "utf8")).toBe(`${lineOf(1)}\n`);
  expect(await readFile(path, "utf8")).toBe(`${lineOf(3)}\n`);
});

test("[AUD-7] what can't be appended is refused and can be appended later", async () => {
  const { path, file } = await opened();
  await mkdir(path);
  await expect(file.append([lineOf(1)])).rejects.toMatchObject({ code: "EISDIR" });
  await rm(path, { recursive: true });
  await file.append([lineOf(1)]);

  expect(await readFile(path, "utf8")).toBe(`${lineOf(1)}\n`);
});
