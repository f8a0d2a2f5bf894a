import { writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { placesOf, policyPlaces, readSettings } from "./settings.ts";

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
    commandSeconds: 300,
    keepActivityDays: 30,
    keepActivityMb: 2048,
    keepAuditDays: 365,
    keepAuditMb: 1024,
    keepOutputMb: 1024,
  });
});

test("[HUB-2] an account whose home is no directory has no config file", () => {
  const { port, configFile } = readSettings([], { ...nowhere, XDG_CONFIG_HOME: "/dev/null" });

  expect([port, configFile]).toEqual([4180, "/dev/null/sidestick/config.json"]);
});

test("[RMC-11, HUB-2] how long interactive commands may live is set by the name that its source gives it", () => {
  const asked = { ...nowhere, INTERACTIVE_CMD_TIMEOUT_SECONDS: "7" };

  expect(readSettings([], asked).commandSeconds).toBe(7);
  expect(readSettings(["--interactive-cmd-timeout-seconds", "8"], asked).commandSeconds).toBe(8);
  expect(() => readSettings([], { ...nowhere, INTERACTIVE_CMD_TIMEOUT_SECONDS: "0" })).toThrow("86400");
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

test("[POL-10] the policy is the data directory's, or the file that is named by flag or environment", () => {
  const named = { file: "/srv/policy/p.yaml", isNamed: true, directory: "/data/sidestick/policies" };
  const own = { file: "/data/sidestick/policy.yaml", isNamed: false, directory: "/data/sidestick/policies" };

  expect(policyPlaces(readSettings([], nowhere))).toEqual(own);
  expect(policyPlaces(readSettings(["--policy", "/srv/policy/p.yaml"], nowhere))).toEqual(named);
  expect(policyPlaces(readSettings([], { ...nowhere, SIDESTICK_POLICY: "/srv/policy/p.yaml" }))).toEqual(named);
});

test("[POL-15] the directory of a policy file is ours, so that guards hide it", () => {
  const settings = readSettings(["--policy", "/srv/policy/p.yaml"], nowhere);

  expect(placesOf(settings, nowhere)).toContain("/srv/policy");
  expect(placesOf(readSettings([], nowhere), nowhere)).not.toContain("/srv/policy");
});

test.each(["/p.yaml", "/tmp/p.yaml", join(homedir(), "p.yaml"), join(homedir(), "..", "p.yaml")])(
  "[POL-10] a policy file can't lie in a directory that guards can't do without: %s",
  (path) => {
    expect(() => readSettings(["--policy", path], nowhere)).toThrow("should be a file in a directory of its own");
  },
);
