import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../../test/support/temporary.ts";
import { putAway, removeDirectory } from "./shared-files.ts";
import { soakCount } from "../../../test/support/soak.ts";

/** Exchanges folders for links, by a descriptor, as a session does that got one of another. */
const EXCHANGE = `
import ctypes, os, platform, sys
number = 316 if platform.machine() == "x86_64" else 276
libc = ctypes.CDLL(None)
top = os.open(sys.argv[1], os.O_RDONLY)
print("ready", flush=True)
while True:
    for it in range(40): libc.syscall(number, top, b"folder%d" % it, top, b"link%d" % it, 2)
`;

const ROUNDS = soakCount(40);

test("[GRD-33] a folder that becomes a link while it is removed leads to nothing else (needs python3)", async () => {
  const outside = await temporaryDirectory();
  writeFileSync(join(outside, "precious"), "");
  for (let round = 0; round < ROUNDS; round += 1) {
    const directory = await temporaryDirectory();
    for (let it = 0; it < 40; it += 1) {
      mkdirSync(join(directory, `folder${it}`));
      writeFileSync(join(directory, `folder${it}`, "file"), "");
      symlinkSync(outside, join(directory, `link${it}`));
    }
    const other = spawn("/usr/bin/python3", ["-c", EXCHANGE, directory], { stdio: ["ignore", "pipe", "ignore"] });
    const exited = once(other, "exit");
    await once(other.stdout, "data");

    await removeDirectory(directory);

    other.kill("SIGKILL");
    await exited;
  }
  expect(readdirSync(outside)).toEqual(["precious"]);
});

test("[GRD-33] whatever is in the way is put away: nothing, a file, a link, a folder with all in it", async () => {
  const directory = await temporaryDirectory();
  const path = join(directory, "here");
  const makes = [
    () => undefined,
    () => writeFileSync(path, ""),
    () => symlinkSync("/", path),
    () => mkdirSync(join(path, "a", "b"), { recursive: true }),
  ];
  for (const make of makes) {
    make();
    putAway(path);
    expect(existsSync(path)).toBe(false);
  }
  expect(readdirSync(directory, { recursive: true })).toHaveLength(3);
});
