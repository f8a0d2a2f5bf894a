/** An agent that wants more than it was granted. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { canHaveAccounts, TemporaryAccount } from "../support/account.ts";
import { DEADLINE_MS } from "../support/deadline.ts";
import { ATTEMPTS, type Attempt } from "./attempts.ts";
import { Victim } from "./victim.ts";

async function succeeded(victim: Victim, attempts: readonly Attempt[]): Promise<readonly string[]> {
  const facts = Object.entries(victim.facts).map(([name, value]) => `export ${name}='${value}'`);
  const file = (index: number): string => join(victim.directory, `attempt-${index}`);
  for (const [index, { script }] of attempts.entries()) {
    writeFileSync(file(index), [...facts, script].join("\n"), { mode: 0o755 });
  }
  const conversation_id = "hostile";
  const each = `timeout ${(2 * DEADLINE_MS) / 1000} bash ${file(0).slice(0, -1)}$i </dev/null >/dev/null 2>&1; echo "attempt $i ended $?"`;
  const command = `for i in $(seq 0 ${attempts.length - 1}); do ${each}; done`;
  const { cursor } = await victim.agent.pty.exec_interactive({ conversation_id, command });
  const last = { match: `attempt ${attempts.length - 1} ended `, from_cursor: cursor };
  for (;;)
    if ((await victim.agent.pty.wait_for({ conversation_id, ...last, timeout_ms: WAIT_BUDGET_MS })).matched) break;
  const { data } = await victim.agent.pty.read_output({ conversation_id, from_cursor: cursor });
  const ends = [...data.matchAll(/attempt (\d+) ended (\d+)/g)];
  expect(ends).toHaveLength(attempts.length);
  return ends.flatMap(([, index, code]) => {
    const { name, leaves } = attempts[Number(index)]!;
    return code === "0" && (leaves === undefined || existsSync(join(victim.home, leaves))) ? [name] : [];
  });
}

const ordinary = ATTEMPTS.filter((it) => it.only === undefined);

test.runIf(process.getuid?.() === 0)(
  "[GRD-6, GRD-7, GRD-8, GRD-9, GRD-14] no attempt out of root's guard succeeds (needs root)",
  async () => {
    await using victim = await Victim.open({ uid: 0, gid: 0 });

    expect(await succeeded(victim, ATTEMPTS)).toEqual([]);
    expect(victim.evil).toEqual([]);
    expect(ATTEMPTS.length).toBeGreaterThanOrEqual(70);
  },
);

test.runIf(canHaveAccounts)(
  "[GRD-6, GRD-7, GRD-8, GRD-9, GRD-10, GRD-15] no attempt out of a user's guard succeeds (needs root and an open checkout)",
  async () => {
    using user = new TemporaryAccount();
    await using victim = await Victim.open(user);

    expect(await succeeded(victim, ordinary)).toEqual([]);
    expect(victim.evil).toEqual([]);
    expect(ordinary.length).toBeGreaterThanOrEqual(55);
  },
);

test.runIf(canHaveAccounts)(
  "[GRD-3, GRD-4] what an open session can do is what the guide says (needs root and an open checkout)",
  async () => {
    using user = new TemporaryAccount();
    await using victim = await Victim.open(user);
    await victim.person.workspace.put({ workspaceId: "default", settings: { containment: "open" } });

    const possible = documented().filter((name) => name !== "start by cron" || existsSync("/usr/bin/crontab"));
    const done = await succeeded(victim, ordinary);
    const failed = possible.filter((name) => !done.includes(name));
    const undocumented = done.filter((name) => !possible.includes(name));
    expect({ failed, undocumented }).toEqual({ failed: [], undocumented: [] });
  },
);

/** The list below its heading. */
function documented(): readonly string[] {
  const guide = readFileSync(new URL("../../docs/guide/guard.md", import.meta.url), "utf8");
  const [, list = ""] = guide.split("## What an open session can do");
  return [...list.split("\n## ")[0]!.matchAll(/^- (.*)$/gm)].map(([, name]) => name!);
}
