/** Who is in a guard meets no policy file. */
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { openGuardedHub, type GuardedHub } from "../support/guarded-hub.ts";
import { UNJUDGED } from "../support/policy.ts";

let hub: GuardedHub;
let directory: string;
let file: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "sidestick-"));
  file = join(directory, "mine.yaml");
  await writeFile(file, UNJUDGED, { mode: 0o600 });
  hub = await openGuardedHub({ args: ["--policy", file] });
});

afterAll(async () => {
  await hub.end();
  await rm(directory, { recursive: true, force: true });
});

async function output(command: string): Promise<string> {
  const block = await hub.agent.pty.exec_block({ conversation_id: "c", command, wait_ms: WAIT_BUDGET_MS });
  return block.output ?? "";
}

test("[POL-15] neither the data directory's policy nor the one that --policy names is there, or can be put there", async () => {
  const own = join(hub.dataDir, "policy.yaml");
  const tries = [file, own].map((it) => `cat ${it}; echo 'default: auto' > ${it}; ls -A ${directory} ${hub.dataDir}`);

  const said = await output(tries.join("; "));

  expect(said).not.toContain("extends");
  expect(await readFile(file, "utf8")).toBe(UNJUDGED);
  expect(await readFile(own, "utf8")).toBe(UNJUDGED);
});

test("[POL-15] nor when a new file was put in its place while the guard runs", async () => {
  await output("true");
  await writeFile(`${file}.new`, UNJUDGED, { mode: 0o600 });
  await rename(`${file}.new`, file);

  expect(await output(`cat ${file} && echo seen; echo x > ${file}`)).not.toContain("seen");
  expect(await readFile(file, "utf8")).toBe(UNJUDGED);
});
