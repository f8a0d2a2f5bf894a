/**
 * Commands that have become root's, on a host without rights: no signal of the host's reaches them. It gives each seconds
 * to end in; so they end side by side.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { patience } from "../../tools/suite/patience.ts";
import { IS_ROOT } from "../support/account.ts";
import { eventually } from "../support/eventually.ts";
import { type GuardedHub, openGuardedHub } from "../support/guarded-hub.ts";
import { canBeOrdinary, ordinaryUser } from "../support/ordinary-user.ts";

/** Deaf to its terminal's end: then nothing ends it but root. */
const DEAF = `trap "" HUP; exec sleep 600`;
const USUAL = "exec sleep 600";

describe.runIf(IS_ROOT && canBeOrdinary())(
  "by sudo (needs root, sudo and a checkout that others may enter)",
  { concurrent: true },
  () => {
    let hub: GuardedHub;
    let projects = 0;
    // Not what `beforeAll` returns: a machine that is too slow for it must not keep an account with such rights.
    const made = new AsyncDisposableStack();
    afterAll(() => made.disposeAsync());

    beforeAll(async () => {
      const user = ordinaryUser();
      // Its last process may be ending.
      made.defer(() => eventually(() => user.remove()));
      const sudoers = `/etc/sudoers.d/${user.name}`;
      // So sudo gives its process to the command, as doas does: else it stays the user's, who may kill it.
      const direct = `Defaults:${user.name} !use_pty, !pam_session, !pam_setcred`;
      made.defer(() => rmSync(sudoers, { force: true }));
      writeFileSync(sudoers, `${direct}\n${user.name} ALL=(ALL:ALL) NOPASSWD: ALL\n`, { mode: 0o440 });
      hub = await openGuardedHub({ as: user });
      made.defer(() => hub.end());
    });

    async function project(): Promise<{ readonly project_id: string }> {
      projects += 1;
      const project_id = `rights-${projects}`;
      await hub.person.workspace.put({ workspaceId: project_id, settings: { containment: "open" } });
      return { project_id };
    }

    /** Runs as root when this is answered. */
    async function begun({ onTestFinished }: TestContext, script: string, lifetime_seconds = 300) {
      const at = await project();
      const command = `sudo sh -c 'echo root-$$-; ${script}'`;
      const start = { ...at, command, lifetime_seconds, until: "-\n" };
      const { session_id: sessionId, output } = await hub.agent.command.start(start);
      const pid = rootOf(output, onTestFinished);
      // What it is called when it is ended.
      await eventually(() => expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("sleep\n"));
      return { at: { ...at, session_id: sessionId }, sessionId, pid };
    }

    async function closed(sessionId: string): Promise<string | undefined> {
      const session = await eventually(async () => {
        const it = await hub.person.session.get({ sessionId });
        expect(it.status).toBe("closed");
        return it;
      });
      return session.reason;
    }

    const payloads = async (sessionId: string, type: "log_line" | "receipt"): Promise<readonly object[]> =>
      (await hub.person.event.list({ sessionId, types: [type], limit: 1000 })).map((it) => it.payload);

    test("[RMC-19, RMC-16, RMC-11] steps 7 and 8 of seed 002 hold for what runs as root: its time ends it, and its caller", async (context) => {
      const left = await begun(context, USUAL, 3);
      const hung = await begun(context, USUAL);

      const killed = await hub.agent.command.send({ ...hung.at, input_text: "", terminate: true });
      const reason = await closed(left.sessionId);

      expect(killed).toMatchObject({ final: true, reason: "terminated", signal: "SIGHUP" });
      expect(reason).toBe("timeout");
      expect([hung.pid, left.pid].filter(lives)).toEqual([]);
    });

    test("[RMC-19, RMC-6] of one that is deaf to that too, the session ends and tells what lives", async (context) => {
      const { at, sessionId, pid } = await begun(context, DEAF);

      const end = await hub.agent.command.terminate(at);

      expect(end).toMatchObject({ final: true, reason: "terminated" });
      expect([end.exit_code, end.signal, lives(pid)]).toEqual([undefined, undefined, true]);
      const survivors = [{ pid, program: "sleep", reason: "another_user" }];
      expect(await payloads(sessionId, "log_line")).toContainEqual({ event: "survivors", survivors });
    });

    test.for([
      { what: "heeds its terminal's end", script: USUAL, survives: false },
      { what: "is deaf to it", script: DEAF, survives: true },
    ])(
      "[RMC-19, STP-16] a stop ends the session of what $what, and its receipt tells the truth",
      async ({ script, survives }, context) => {
        const { sessionId, pid } = await begun(context, script);
        const process = { pid, program: "sleep" };

        await hub.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
        const reason = await closed(sessionId);

        expect([reason, lives(pid)]).toEqual(["stopped", survives]);
        const [receipt] = await payloads(sessionId, "receipt");
        expect(receipt).toMatchObject({
          killed: survives ? [] : [process],
          survivors: survives ? [{ ...process, reason: "another_user" }] : [],
        });
      },
    );

    test("[RMC-19] without a terminal too its time is over for its caller, though it never falls silent", async ({
      onTestFinished,
    }) => {
      const command = "sudo -n sh -c 'echo root-$$-; while :; do echo y; sleep 0.05; done'";

      const end = await hub.agent.command.execute({
        ...(await project()),
        command,
        timeout_ms: 3_000 * patience(),
        max_bytes: 1_000,
      });

      const pid = rootOf(end.stdout, onTestFinished);
      expect(end).toMatchObject({ timed_out: true });
      await eventually(() => expect(lives(pid)).toBe(false)); // nobody reads what it writes
    });

    test("[STP-16, STP-11] a shell that has become root's is replaced when the agent is stopped", async ({
      onTestFinished,
    }) => {
      const { project_id: workspaceId } = await project();
      const at = { conversation_id: crypto.randomUUID() };
      const { sessionId } = await hub.agent.session.create({
        kind: "terminal",
        workspaceId,
        conversationId: at.conversation_id,
      });
      const command = `exec sudo sh -c 'echo root-$$-; ${DEAF}'`;
      await hub.agent.pty.exec_interactive({ ...at, command });
      const { data } = await eventually(async () => {
        const read = await hub.agent.pty.read_output({ ...at, from_cursor: 0 });
        expect(read.data).toMatch(/root-\d+-/);
        return read;
      });
      rootOf(data, onTestFinished);

      await hub.person.control.user_intent({ sessionId, intent: "STOP_NOW" });
      const ran = await eventually(() =>
        hub.person.pty.exec_block({ ...at, command: "id -u", wait_ms: WAIT_BUDGET_MS }),
      );

      expect(ran.output).not.toBe("0\n");
      expect(await payloads(sessionId, "log_line")).toContainEqual(expect.objectContaining({ event: "respawned" }));
    });
  },
);

/** The number that it told of itself; what lives of it ends with the test. */
function rootOf(output: string, onTestFinished: TestContext["onTestFinished"]): number {
  const [, found] = /root-(\d+)-/.exec(output) ?? expect.fail(output);
  const pid = Number(found);
  onTestFinished(() => void (lives(pid) && process.kill(pid, "SIGKILL")));
  return pid;
}

function lives(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}
