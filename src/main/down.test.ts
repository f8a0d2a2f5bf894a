import { spawn } from "node:child_process";
import { mkdir } from "node:fs/promises";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { takeDown } from "./down.ts";

const LISTENS = `require("net").createServer().listen(process.argv[1], () => console.log("listens"))`;

/** Below a parent that never asks for its end, as the first process of many containers does. */
async function listening(path: string): Promise<void> {
  const parent = spawn("/bin/sh", ["-c", '"$@" & exec sleep 1000', "sh", process.execPath, "-e", LISTENS, path]);
  onTestFinished(() => void parent.kill("SIGKILL"));
  await once(parent.stdout, "data");
}

test("[TCL-21] what has ended counts as ended, though its parent never asks for it", async () => {
  const dataDir = await temporaryDirectory();
  await mkdir(join(dataDir, "host"));
  await listening(join(dataDir, "hub.sock"));
  await listening(join(dataDir, "host", "link.sock"));

  expect(await takeDown(dataDir)).toEqual({ hub: "ended", host: "ended" });
  expect(await takeDown(dataDir)).toEqual({ hub: "absent", host: "absent" });
});
