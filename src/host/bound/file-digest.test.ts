import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { digestOf, type Known } from "./file-digest.ts";
import { walk } from "./walk.ts";

/** A root of its own: `/a/file`, and a file of the same name outside of it. */
async function root(): Promise<string> {
  const outside = await temporaryDirectory();
  const inside = join(outside, "root");
  mkdirSync(join(inside, "a"), { recursive: true });
  writeFileSync(join(inside, "a", "file"), "#!/bin/sh\ninside\n");
  return inside;
}

test.each([
  { link: "/a/file", path: "/l", leads: "/a/file" },
  { link: "a/../../../../a/file", path: "/l", leads: "/a/file" },
  { link: "/a", path: "/l/file", leads: "/a/file" },
  { link: "../a/./file", path: "/a/../l", leads: "/a/file" },
  { link: "l", path: "/l", leads: undefined },
  { link: "/nowhere", path: "/l", leads: undefined },
])(
  "[APR-11] a link to $link at $path leads to $leads, and never out of what the session sees",
  async ({ link, path, leads }) => {
    const inside = await root();
    symlinkSync(link, join(inside, "l"));

    expect((await walk(inside, path))?.path).toBe(leads);
  },
);

test("[APR-11] a file is known by its whole content, and the names on the way to it", async () => {
  const inside = await root();
  symlinkSync("/a", join(inside, "l"));
  const walked = (await walk(inside, "/l/file"))!;

  expect(await digestOf(inside, walked)).toMatchObject({
    ok: true,
    digest: createHash("sha256").update("#!/bin/sh\ninside\n").digest("hex"),
    head: "#!/bin/sh\ninside\n",
  });
  expect(walked.steps.map(({ directory, name, kind }) => [directory, name, kind])).toEqual([
    ["/", "l", "link"],
    ["/", "a", "directory"],
    ["/a", "file", "other"],
  ]);
});

test.each([
  { what: "a pipe", make: (path: string) => void execFileSync("/usr/bin/mkfifo", [path]), reason: "no_file" },
  { what: "a directory", make: (path: string) => mkdirSync(path), reason: "no_file" },
  {
    what: "a file of more than 256 MiB",
    make: (path: string) => {
      writeFileSync(path, "");
      truncateSync(path, 256 * 1024 * 1024 + 1);
    },
    reason: "too_large",
  },
])("[APR-11] $what holds up nobody and is said not to be bound", async ({ make, reason }) => {
  const inside = await root();
  make(join(inside, "odd"));

  expect(await digestOf(inside, (await walk(inside, "/odd"))!)).toEqual({ ok: false, reason });
});

test("[APR-11] a file that is another by the time it is opened is not taken for the one that was found", async () => {
  const inside = await root();
  const walked = (await walk(inside, "/a/file"))!;
  writeFileSync(join(inside, "a", "file"), "another\n");

  expect(await digestOf(inside, walked)).toEqual({ ok: false, reason: "changing" });
});

test("[APR-11] what was written a moment ago is always read again", async () => {
  const inside = await root();
  const known: Known = new Map();

  await digestOf(inside, (await walk(inside, "/a/file"))!, known);

  expect(known.size).toBe(0);
});
