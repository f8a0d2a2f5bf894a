/** What an agent leaves where our own programs might look for more. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { addressOf } from "../support/hub.ts";
import { temporaryDirectory } from "../support/temporary.ts";

const SIDESTICK = fileURLToPath(new URL("../../bin/sidestick", import.meta.url));

test("[GRD-8] packages in HOME that ours could use are not loaded by the hub", async () => {
  const home = await temporaryDirectory();
  const loaded = join(home, "loaded");
  for (const name of ["bufferutil", "utf-8-validate"]) {
    const folder = join(home, ".node_modules", name);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "index.js"), `require("fs").appendFileSync(${JSON.stringify(loaded)}, "${name}\\n");`);
  }
  const hub = spawn(SIDESTICK, ["up", "--port", "0"], {
    env: { PATH: "/usr/bin:/bin", HOME: home },
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(async () => {
    const exited = once(hub, "exit");
    hub.kill("SIGTERM");
    await exited;
  });

  await addressOf(hub);

  expect(existsSync(loaded)).toBe(false);
});
