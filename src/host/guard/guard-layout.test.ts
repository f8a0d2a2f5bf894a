import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { socketsIn } from "./guard-layout.ts";

test("[GRD-34] of too many names of sockets the whole directory is hidden", async () => {
  const directory = await temporaryDirectory();
  const make = (from: number, to: number): void => {
    for (let it = from; it < to; it += 1) mkdirSync(join(directory, `ssh-${it}`));
  };
  make(0, 200);
  mkdirSync(join(directory, "other"));
  expect(socketsIn(directory)).toHaveLength(200);

  make(200, 201);

  expect(socketsIn(directory)).toEqual([directory]);
});
