import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { readSettings } from "./settings.ts";

async function configured(text: string): Promise<Record<string, string>> {
  const path = join(await temporaryDirectory(), "config.json");
  await writeFile(path, text);
  return { SIDESTICK_CONFIG: path, HOME: "/nowhere" };
}

const nowhere = { XDG_CONFIG_HOME: "/nowhere", XDG_DATA_HOME: "/data", XDG_STATE_HOME: "/state" };

test("[HUB-2] without anything set, the defaults hold", () => {
  expect(readSettings([], nowhere)).toEqual({
    port: 4180,
    dataDir: "/data/sidestick",
    publicUrl: undefined,
    auditHeads: "/state/sidestick/audit-heads",
    configFile: "/nowhere/sidestick/config.json",
    logLevel: "info",
    keepActivityDays: 30,
    keepActivityMb: 2048,
    keepAuditDays: 365,
    keepAuditMb: 1024,
    keepOutputMb: 1024,
  });
});

test("[HUB-2] flags win over the environment, which wins over the file", async () => {
  const env = await configured('{"port": 1001, "logLevel": "warn", "dataDir": "/from/file"}');

  expect(readSettings([], env)).toMatchObject({ port: 1001, logLevel: "warn", dataDir: "/from/file" });
  expect(readSettings([], { ...env, SIDESTICK_PORT: "1002" })).toMatchObject({ port: 1002, logLevel: "warn" });
  expect(readSettings(["--port", "1003"], { ...env, SIDESTICK_PORT: "1002" })).toMatchObject({
    port: 1003,
    logLevel: "warn",
  });
});

test.each([
  [["--port", "70000"], {}, '--port is "70000", but should be a port number from 0 to 65535.'],
  [["--port", "x"], {}, '--port is "x", but should be a port number from 0 to 65535.'],
  [["--port", ""], {}, '--port is "", but should be a port number from 0 to 65535.'],
  [
    [],
    { SIDESTICK_LOG_LEVEL: "loud" },
    'SIDESTICK_LOG_LEVEL is "loud", but should be one of debug, info, warn, error.',
  ],
  [["--public-url", "ftp://x"], {}, '--public-url is "ftp://x", but should be an http or https address'],
  [["--public-url", "https://x.example/path"], {}, "but should be an http or https address without a path"],
  [["--public-url", "https://me:pw@x.example"], {}, "but should be an http or https address"],
  [["--keep-audit-days", "0"], {}, "but should be a whole number from 1 to 1000000"],
  [["--prot", "1"], {}, "Unknown option '--prot'"],
  [["--port"], {}, "--port"],
  [["extra"], {}, "extra"],
  [["--config", "/nowhere/config.json"], {}, "The config file /nowhere/config.json can't be read"],
])("[HUB-3] %j %j stops the start: %s", (argv, env, sentence) => {
  expect(() => readSettings(argv, { ...nowhere, ...env })).toThrow(sentence);
});

test.each([
  ['{"prot": 1}', '"prot" in'],
  ['{"port": "x"}', "port in"],
  ['{"port": 1, "port": 2}', "stands twice"],
  ["[]", "one JSON object"],
  ["{", "not valid JSON"],
])("[HUB-3] the config file %s stops the start: %s", async (text, sentence) => {
  const env = await configured(text);

  expect(() => readSettings([], env)).toThrow(sentence);
});
