import { appendFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { followLines } from "./read-lines.ts";

async function following(text: string) {
  const path = join(await temporaryDirectory(), "lines");
  await writeFile(path, text);
  const stop = new AbortController();
  return { path, stop, lines: followLines(path, 0, stop.signal) };
}

test("[AUD-15] what is written before the last lines were taken is read, of a file that was moved too", async () => {
  const { path, stop, lines } = await following("one\n");

  const first = await lines.next();
  await appendFile(path, "two\n");
  await rename(path, `${path}.1`);
  await writeFile(path, "three\n");

  expect(first.value).toBe("one");
  expect((await lines.next()).value).toBe("two");
  expect((await lines.next()).value).toBe("three");
  stop.abort();
  expect(await lines.next()).toEqual({ done: true, value: undefined });
});

test("[AUD-15] a file that is gone for a while is followed when it is there again, and one that was emptied from its begin", async () => {
  const { path, stop, lines } = await following("one\n");
  await lines.next();
  await rename(path, `${path}.1`);

  const later = lines.next();
  await writeFile(path, "two, which is longer\n");
  expect((await later).value).toBe("two, which is longer");
  await writeFile(path, "three\n");

  expect((await lines.next()).value).toBe("three");
  stop.abort();
  await lines.next();
});
