import { statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { LogFile } from "./log-file.ts";

test("[HUB-7] the log file is turned over instead of growing without bound, and is private", async () => {
  const path = join(await temporaryDirectory(), "hub.log");
  const file = new LogFile(path);
  const line = `${"x".repeat(1024 * 1024 - 1)}\n`;

  for (let i = 0; i < 80; i += 1) file.write(line);
  file.close();

  const sizes = [statSync(path).size, statSync(`${path}.1`).size];
  expect(Math.max(...sizes)).toBeLessThan(35 * 1024 * 1024);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});
