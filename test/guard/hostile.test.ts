/** An agent that wants more than it was granted. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { canHaveAccounts, OrdinaryUser } from "./account.ts";
import { ATTEMPTS, type Attempt } from "./attempts.ts";
import { Victim } from "./victim.ts";

async function succeeded(victim: Victim, attempts: readonly Attempt[]): Promise<readonly string[]> {
  const facts = Object.entries(victim.facts).map(([name, value]) => `export ${name}='${value}'`);
  const found: string[] = [];
  for (const [index, { name, script }] of attempts.entries()) {
    const file = join(victim.directory, `attempt-${index}`);
    writeFileSync(file, [...facts, script].join("\n"), { mode: 0o755 });
    const command = `timeout 20 bash ${file} </dev/null >/dev/null 2>&1`;
    const ran = await victim.agent.pty.exec_block({ conversation_id: "hostile", command, wait_ms: 30_000 });
    if (ran.exit_code === undefined) console.log(name, ran);
    if (ran.exit_code === 0) found.push(name);
  }
  return found;
}

const RULES = "[GRD-6, GRD-7, GRD-8, GRD-9, GRD-10, GRD-11, GRD-12, GRD-13]";
const asRoot = ATTEMPTS.filter((it) => it.only !== "user");
const asUser = ATTEMPTS.filter((it) => it.only !== "root");

describe.runIf(process.getuid?.() === 0)("root", () => {
  test(`${RULES} [GRD-14] in a guard none of ${asRoot.length} attempts succeeds`, { timeout: 120_000 }, async () => {
    await using victim = await Victim.open({ uid: 0, gid: 0 });

    expect(await succeeded(victim, asRoot)).toEqual([]);
    expect(victim.evil).toEqual([]);
  });
});

describe.runIf(canHaveAccounts)("an ordinary user", () => {
  test(`${RULES} in a guard none of ${asUser.length} attempts succeeds`, { timeout: 120_000 }, async () => {
    using user = new OrdinaryUser();
    await using victim = await Victim.open(user.account);

    expect(await succeeded(victim, asUser)).toEqual([]);
    expect(victim.evil).toEqual([]);
  });
});
