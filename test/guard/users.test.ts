/** Sessions that run as another account. */
import { beforeAll, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { eventually } from "../support/eventually.ts";
import { canHaveAccounts, TemporaryAccount } from "../support/account.ts";
import { Victim } from "./victim.ts";

let user: TemporaryAccount;
let victim: Victim;

beforeAll(() => {
  if (!canHaveAccounts) return undefined;
  user = new TemporaryAccount();
  return () => user[Symbol.dispose]();
});

beforeAll(async () => {
  if (!canHaveAccounts) return undefined;
  victim = await Victim.open({ uid: 0, gid: 0 });
  return () => victim[Symbol.asyncDispose]();
});

test.runIf(canHaveAccounts)(
  "[GRD-5] a person's session of containment user runs as that account, as after its login (needs root and an open checkout)",
  async () => {
    const conversation_id = "login";
    const terms = { kind: "terminal", containment: "user", user: user.name, conversationId: conversation_id } as const;
    const { sessionId } = await victim.person.session.create(terms);
    const run = (command: string) =>
      victim.person.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

    const who = await run("id -un; id -u; echo $USER; pwd; touch /etc/x; sh -c 'exit 7'");

    expect(await victim.person.session.get({ sessionId })).toMatchObject({ containment: "user", user: user.name });
    expect(who.output?.split("\n").slice(0, 3)).toEqual([user.name, String(user.uid), user.name]);
    expect(who.output).toContain("Permission denied");
    expect(who).toMatchObject({ exit_code: 7, integration: "marks" });
    expect((await run("cat /proc/self/status | grep -E '^(Uid|Groups)'")).output).not.toMatch(/\b0\b/);
  },
);

test.runIf(canHaveAccounts)(
  "[GRD-5, GRD-28] its shell has a directory that the account can't put another in the place of, and tells what changed (needs root and an open checkout)",
  async () => {
    const conversation_id = "directory";
    const terms = { kind: "terminal", containment: "user", user: user.name, conversationId: conversation_id } as const;
    const { sessionId } = await victim.person.session.create(terms);
    const run = (command: string) =>
      victim.person.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

    const moved = await run(
      `stat -c '%u %a' "$__ss/.." "$__ss"; ls -A "$__ss" | grep environment; mv "$__ss" "$__ss.moved"`,
    );
    await run("alias ls='rm -r'");

    expect(moved.output).toMatch(new RegExp(`^0 711\\s+${user.uid} 700\\s+mv: .*Permission denied`));
    expect(await victim.person.control.changes({ sessionId })).toMatchObject({
      trusted: true,
      changes: [{ kind: "alias", name: "ls", after: "rm -r" }],
    });
  },
);

test.runIf(canHaveAccounts)(
  "[GRD-33, APR-14] an account's programs can't put anything where root makes the files of its next shell, nor change its commands (needs root and an open checkout)",
  async () => {
    const conversation_id = "files";
    const terms = { kind: "terminal", containment: "user", user: user.name, conversationId: conversation_id } as const;
    await victim.person.session.create(terms);
    const tries = [
      'touch "$__ss/own"',
      'mv "$__ss" "$__ss-moved"',
      'ln -s /etc "${__ss%/*}/x"',
      'ls "${__ss%/*}"',
      'touch "$__ss.c/own"',
      'mv "$__ss.c" "$__ss.x"',
      'chmod u+w "$__ss.c/1"',
      '(echo >>"$__ss.c/1")',
      'rm -f "$__ss.c/1"',
    ];
    const command = tries.map((it) => `${it} 2>/dev/null && echo '${it}'`).join("; ");

    const { output } = await victim.person.pty.exec_block({ conversation_id, command, wait_ms: WAIT_BUDGET_MS });

    expect(output?.trim()).toBe(tries[0]);
  },
);

test.runIf(canHaveAccounts)(
  "[GRD-5] an account that isn't there, and none at all, are refused (needs root and an open checkout)",
  async () => {
    const ended = async (user: string) => {
      const { sessionId } = await victim.person.session.create({ kind: "terminal", containment: "user", user });
      await eventually(async () => expect((await victim.person.session.get({ sessionId })).status).toBe("closed"));
      return victim.person.session.get({ sessionId });
    };

    expect(await ended("nobody-of-that-name")).toMatchObject({
      reason: "start_failed",
      detail: expect.stringContaining("no account"),
    });
    await expect(ended("--help")).rejects.toMatchObject({ code: "invalid_request" });
  },
);
