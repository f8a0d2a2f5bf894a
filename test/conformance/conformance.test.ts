/** The protocol's own conformance suite against a real hub. What can't apply is in expected-failures.yml, with reasons. */
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { startTestHub } from "../support/hub.ts";
import { Forwarder } from "./forwarder.ts";

const MANIFEST = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json");
const SUITE = join(dirname(MANIFEST), "dist/index.js");
const BASELINE = fileURLToPath(new URL("expected-failures.yml", import.meta.url));

test("[MCP-20] every scenario passes, or is listed and fails", async () => {
  const hub = await startTestHub();
  await using forwarder = await Forwarder.start(hub.url, hub.agentToken);

  // "all" is "active" and the scenarios that the suite's authors hold back.
  const url = new URL("/mcp", forwarder.url).href;
  const { code, output } = await runSuite(["server", "--url", url, "--suite", "all", "--expected-failures", BASELINE]);

  expect(code, output).toBe(0);
  expect(output).toContain("Baseline check passed");
  expect(output).toContain("✓ dns-rebinding-protection: 2 passed, 0 failed");
});

test("[MCP-20] each listed scenario exists and has a reason", async () => {
  const entries = (await readFile(BASELINE, "utf8")).split("\n").filter((line) => line.trimStart().startsWith("-"));
  const { output } = await runSuite(["list", "--server"]);
  const known = new Set([...output.matchAll(/^ {2}- (\S+)/gm)].map((match) => match[1]));

  expect(entries.filter((line) => !/^ {2}- \S+ # \S.{9,}$/.test(line))).toEqual([]);
  expect(entries.map((line) => line.split(/\s+/)[2]).filter((name) => !known.has(name))).toEqual([]);
});

/** In a directory of its own: the suite leaves its results where it runs. */
async function runSuite(args: readonly string[]): Promise<{ code: number; output: string }> {
  const cwd = await mkdtemp(join(tmpdir(), "sidestick-conformance-"));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  return new Promise((resolve) => {
    execFile(process.execPath, [SUITE, ...args], { cwd, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), output: stdout + stderr });
    });
  });
}
