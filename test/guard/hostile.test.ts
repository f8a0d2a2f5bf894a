/** An agent that wants more than it was granted, in each level. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ATTEMPTS, type Attempt } from "./attempts.ts";
import { Victim, type Account } from "./victim.ts";

const ROOT: Account = { uid: 0, gid: 0 };

async function succeeded(victim: Victim, attempts: readonly Attempt[]): Promise<readonly string[]> {
  const facts = Object.entries(victim.facts).map(([name, value]) => `export ${name}='${value}'`);
  const found: string[] = [];
  for (const [index, { name, script }] of attempts.entries()) {
    const file = join(victim.directory, `attempt-${index}`);
    writeFileSync(file, [...facts, script].join("\n"), { mode: 0o755 });
    const command = `timeout 20 bash ${file} </dev/null >/dev/null 2>&1`;
    const { exit_code } = await victim.agent.pty.exec_block({ conversation_id: "hostile", command, wait_ms: 30_000 });
    if (exit_code === 0) found.push(name);
  }
  return found;
}

describe("root", () => {
  const attempts = ATTEMPTS.filter((it) => it.only !== "user");

  test(
    `[GRD-6, GRD-7, GRD-8, GRD-9] in a guard none of ${attempts.length} attempts succeeds`,
    { timeout: 120_000 },
    async () => {
      await using victim = await Victim.open(ROOT);

      expect(await succeeded(victim, attempts)).toEqual([]);
      expect(victim.evil).toEqual([]);
    },
  );
});
