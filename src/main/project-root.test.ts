import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { projectAround } from "./project-root.ts";

test("[POL-5] the roots are the project around a directory, below the home", async () => {
  const above = await temporaryDirectory();
  const home = join(above, "own");
  for (const path of [
    ".git",
    "own/.git",
    "own/p/.git",
    "own/p/a/b",
    "own/q/a",
    "else/r/.git",
    "else/r/a",
    "own/.h/.git",
  ]) {
    await mkdir(join(above, path), { recursive: true });
  }
  const roots = async (path: string) =>
    (await projectAround(join(above, path), home)).map((it) => it.slice(above.length));

  expect(await roots("own/p/a/b")).toEqual(["/own/p"]);
  expect(await roots("own/p")).toEqual(["/own/p"]);
  expect(await roots("own/q/a")).toEqual(["/own/q/a"]);
  expect(await roots("else/r/a")).toEqual(["/else/r"]);
  expect(await roots("own/.h")).toEqual([]);
  expect([await roots("own"), await projectAround(above, home), await projectAround("/", home)]).toEqual([[], [], []]);
});
