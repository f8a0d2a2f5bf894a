import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { canMount } from "../../test/support/small-disk.ts";
import { temporaryTree } from "../temporary-tree.ts";

/** In a namespace of its own: the mounts of the machine stay as they are. */
function inNamespace(source: string, directory: string): string {
  const words = [process.execPath, "--input-type=module-typescript", "-e", source, directory];
  const { stdout, stderr } = spawnSync("unshare", ["--mount", ...words], { encoding: "utf8" });
  return stdout + stderr;
}

const HEAD = `import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync } from "node:fs";
import { RunDirectory, leftoverLines } from ${JSON.stringify(join(import.meta.dirname, "run-directory.ts"))};
const bind = (from, to) => { mkdirSync(to, { recursive: true }); spawnSync("mount", ["--bind", from, to]); };
const outside = process.argv[1];
const directory = new RunDirectory();`;

test.runIf(canMount())(
  "[HSE-26] what tests mounted is told, unmounted and never emptied (needs root and unshare)",
  () => {
    using tree = temporaryTree({ "precious/kept": "1", "precious/deep/kept": "1" });
    const source = `${HEAD}
    for (const name of ["a b\\\\c", "twice", "twice", "home/mine"]) bind(outside, directory.path + "/" + name);
    const left = await directory.leftovers();
    console.log(JSON.stringify([left.files, left.mounts, leftoverLines(left).at(1)]));
    directory.remove();
    console.log(existsSync(directory.path), readdirSync(outside, { recursive: true }).sort().join(" "));`;

    const [told = "", ...rest] = inNamespace(source, join(tree.root, "precious")).trimEnd().split("\n");
    const [files, mounts, head] = JSON.parse(told) as [string[], string[], string];

    expect(files).toEqual(["a b\\c/", "twice/"]);
    expect(mounts.toSorted()).toEqual(["a b\\c", "home/mine", "twice"]);
    expect(head).toBe("left behind by tests (5):");
    expect(rest).toEqual(["false deep deep/kept kept"]);
  },
);

test.runIf(canMount())("[HSE-26] a directory stays while something in it is mounted (needs root and unshare)", () => {
  using tree = temporaryTree({ "precious/kept": "1" });
  const source = `${HEAD}
    bind(outside, directory.path + "/stays");
    // As for somebody who may not unmount it.
    process.env.PATH = "/nowhere";
    directory.remove();
    console.log(readdirSync(outside).join(" "));
    process.env.PATH = "/usr/bin:/bin";
    directory.remove();
    console.log(existsSync(directory.path), readdirSync(outside).join(" "));`;

  expect(inNamespace(source, join(tree.root, "precious"))).toMatch(
    /^could not be removed: \S+, because something is mounted on \S+\/stays\nkept\nfalse kept\n$/,
  );
});
