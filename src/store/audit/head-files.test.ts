import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { HeadFiles } from "./head-files.ts";

const owner = { chainId: "chain-1", dataDir: "/data/one" };
const headAt = (sequence: number) => ({ sequence, checkpoint: 1, chain: String(sequence).padStart(64, "a") });

test("[AUD-9] the newest head is kept, for its owner alone, and found by its chain or its data directory", async () => {
  const directory = join(await temporaryDirectory(), "state", "heads");
  const place = join(directory, "chain-1");
  await new HeadFiles(directory, owner).keep(headAt(1));
  await new HeadFiles(directory, owner).keep(headAt(2));
  await new HeadFiles(directory, { chainId: "chain-2", dataDir: "/data/two" }).keep(headAt(9));
  await writeFile(join(directory, "other"), "not a head");

  const kept = [{ ...owner, ...headAt(2), place }];
  expect(await new HeadFiles(directory, owner).heads()).toEqual(kept);
  expect(await new HeadFiles(directory, { chainId: "chain-1", dataDir: "/moved" }).heads()).toEqual(kept);
  expect(await new HeadFiles(directory, { chainId: "chain-3", dataDir: "/data/one" }).heads()).toEqual(kept);
  expect(await new HeadFiles(directory, { chainId: "chain-3", dataDir: "/data/three" }).heads()).toEqual([]);
  expect([(await stat(directory)).mode & 0o777, (await stat(place)).mode & 0o777]).toEqual([0o700, 0o600]);
});

test("[AUD-9] a head that is ahead of the store is set aside, never written over", async () => {
  const directory = await temporaryDirectory();
  const files = new HeadFiles(directory, owner);
  await files.keep(headAt(5));
  await files.keep(headAt(3));
  await files.keep(headAt(6));

  expect((await readdir(directory)).toSorted()).toEqual(["chain-1", "chain-1.lost-5"]);
  expect(new Set((await files.heads()).map(({ sequence }) => sequence))).toEqual(new Set([5, 6]));
});

test("[AUD-9] where there is no directory there is no head", async () => {
  expect(await new HeadFiles("/dev/null/none", owner).heads()).toEqual([]);
});
