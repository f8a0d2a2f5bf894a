/** The eight verification steps of seed 002, with a real sudo and a real apt, by a user without other rights. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { AppError } from "../../src/client/sidestick.ts";
import { packageArchive } from "../fixtures/programs/package-archive.ts";
import { IS_ROOT } from "../support/account.ts";
import { eventually } from "../support/eventually.ts";
import { type GuardedHub, openGuardedHub } from "../support/guarded-hub.ts";
import { canBeOrdinary, ordinaryUser } from "../support/ordinary-user.ts";

/** Whatever gains rights is asked about. */
const POLICY = `
extends: none
default: auto
unclear: auto
rules:
  - id: rights
    command: sudo
    decision: ask
    risk: high
    reason: gains rights
`;

describe.runIf(IS_ROOT && canBeOrdinary())(
  "by sudo (needs root, sudo, apt-get, dpkg and a checkout that others may enter)",
  () => {
    let hub: GuardedHub;
    const password = randomBytes(9).toString("base64url");
    let directory = "";
    let name = "";

    beforeAll(async () => {
      directory = mkdtempSync(join(tmpdir(), "sidestick-archive-"));
      const user = ordinaryUser();
      ({ name } = user);
      execFileSync("chpasswd", { input: `${name}:${password}\n` });
      const sudoers = `/etc/sudoers.d/${name}`;
      writeFileSync(sudoers, `${name} ALL=(ALL:ALL) ALL\n`, { mode: 0o440 });
      hub = await openGuardedHub({ as: user, policy: POLICY });
      return async () => {
        await hub.end();
        rmSync(sudoers);
        rmSync(directory, { recursive: true });
        // Its last process may be ending.
        await eventually(() => user.remove());
      };
    });

    /** As `sudo apt install nginx` asks: a password, whether to go on, and what the package wants to know. */
    function installing(whose: "agent" | "person"): { readonly command: string; readonly root: string } {
      const archive = join(directory, whose);
      execFileSync("mkdir", ["-p", archive]);
      const { aptGet, root, offer } = packageArchive(archive);
      offer("1", "sweet\n");
      execFileSync("sh", ["-c", `${aptGet} update`], { stdio: "ignore" });
      return { command: `sudo -k; sudo env ${aptGet} install fruit`, root };
    }

    async function approved(): Promise<void> {
      const { requestId } = await eventually(async () => {
        const [first] = await hub.person.approval.list({ status: "pending" });
        expect(first).toMatchObject({ action: "remote_command", rule: "rights" });
        return first!;
      });
      await hub.person.approval.resolve({ requestId, status: "approved" });
    }

    /** To its end. What root runs can't be looked at: that it asks meanwhile is a guess. */
    async function answered(at: { readonly project_id: string; readonly session_id: string }, input_text: string) {
      let answer = await hub.agent.command.send({ ...at, input_text });
      while (!answer.final) answer = await hub.agent.command.wait(at);
      return answer;
    }

    async function projectOf(settings: object): Promise<{ readonly project_id: string }> {
      const workspaceId = `p${Object.keys(settings).length}`;
      await hub.person.workspace.put({ workspaceId, settings: { containment: "open", ...settings } });
      return { project_id: workspaceId };
    }

    test("[RMC-16, RMC-4, RMC-7] the agent answers the password: steps 1 to 8", async () => {
      const { agent, person } = hub;
      const project = await projectOf({ agent_may_answer_passwords: true });
      const { command, root } = installing("agent");

      // 1, 2: started with the approval given, it is seen to ask for the password.
      const starting = agent.command.start({ ...project, command, reason: "the server is wanted" });
      await approved();
      const first = await starting;
      expect(first).toMatchObject({ final: false, waiting: { kind: "password", program: "sudo" } });
      expect(first.output).toContain(`[sudo] password for ${name}: `);
      const at = { ...project, session_id: first.session_id };

      // 3, 4: the password is sent, and the progress is seen.
      const continues = "Do you want to continue? [Y/n]";
      const second = await agent.command.send({ ...at, input_text: `${password}\n`, until: continues });
      expect(second).toMatchObject({ final: false, output: expect.stringContaining("fruit-data") });
      expect(second.output).toContain(continues);
      const third = await agent.command.send({ ...at, input_text: "y\n", until: "Which colour? " });
      expect(third.output).toContain("Unpacking fruit");

      // 5: it completes with exit code 0.
      expect(await answered(at, "red\n")).toMatchObject({ final: true, exit_code: 0, reason: "exited" });
      expect(readFileSync(join(root, "colour"), "utf8")).toBe("red\n");

      // 6: what asks nothing works as ever.
      const plain = await agent.command.execute({ ...project, command: "id -un; exit 3" });
      expect(plain).toMatchObject({ stdout: `${name}\n`, stderr: "", exit_code: 3, timed_out: false });

      // 7: an abandoned one ends by its time.
      const left = await agent.command.start({ ...project, command: "read -p 'Still? ' x", lifetime_seconds: 1 });
      const over = await eventually(async () => {
        const session = await person.session.get({ sessionId: left.session_id });
        expect(session.status).toBe("closed");
        return session;
      });
      expect(over.reason).toBe("timeout");

      // 8: a hung one is killed by empty input with the flag.
      const hung = await agent.command.start({ ...project, command: "echo stuck; sleep 600", until: "stuck" });
      const kill = { ...project, session_id: hung.session_id, input_text: "", terminate: true };
      expect(await agent.command.send(kill)).toMatchObject({ final: true, reason: "terminated" });

      const events = JSON.stringify(await person.event.list({ limit: 5000 }));
      expect(events).not.toContain(password);
      expect(readFileSync(join(hub.dataDir, "hub.log"), "utf8")).not.toContain(password);
    });

    test("[RMC-16, RMC-7] a person answers the password by the question's card: the agent goes on from there", async () => {
      const { agent, person } = hub;
      const project = await projectOf({});
      const { command, root } = installing("person");
      const starting = agent.command.start({ ...project, command });
      await approved();
      const first = await starting;
      const at = { ...project, session_id: first.session_id };
      expect(first.waiting).toMatchObject({ kind: "password", program: "sudo" });

      const refusal = (await agent.command
        .send({ ...at, input_text: "guess\n" })
        .catch((it: unknown) => it)) as AppError;
      const waiting = agent.command.wait({ ...at, until: "Do you want to continue? [Y/n]" });
      const asked = await eventually(async () => {
        const pending = await person.prompt.list({ status: "pending" });
        const card = pending.find((it) => it.session_id === at.session_id);
        expect(card).toBeDefined();
        return card!;
      });
      await person.prompt.reply({ prompt_id: asked.prompt_id, nonce: asked.nonce, value: password });
      const second = await waiting;
      await agent.command.send({ ...at, input_text: "y\n", until: "Which colour? " });
      const end = await answered(at, "blue\n");

      expect(refusal.code).toBe("secret_for_person");
      expect(second.output).toContain("Do you want to continue? [Y/n]");
      expect(end).toMatchObject({ final: true, exit_code: 0 });
      expect(readFileSync(join(root, "colour"), "utf8")).toBe("blue\n");
      expect((await person.control.get({ sessionId: at.session_id })).holder).toEqual({ kind: "agent", id: "agent" });
      expect(JSON.stringify(await person.event.list({ limit: 5000 }))).not.toContain(password);
    });

    test("[RMC-14, GRD-15] inside the guard sudo is refused before it runs, and a person is asked", async () => {
      const { agent, person } = hub;
      await person.workspace.put({ workspaceId: "guarded" });
      const project = { project_id: "guarded" };
      const marker = join(hub.home, "ran");

      const refusals = await Promise.all(
        [agent.command.start, agent.command.execute].map((call) =>
          call({ ...project, command: `touch ${marker}; sudo id` }).catch((it: unknown) => it as AppError),
        ),
      );
      const inside = await agent.command.execute({
        ...project,
        command: `ls ${marker}; ls ${hub.dataDir}; tty; (: </dev/tty)`,
      });
      await person.workspace.put({ workspaceId: "guarded", settings: { max_interactive_commands: 2 } });
      const talk = await agent.command.start({ ...project, command: "read -p 'In? ' x; echo $x" });
      const end = await agent.command.send({ ...project, session_id: talk.session_id, input_text: "yes\n" });

      for (const refusal of refusals as AppError[]) {
        expect(refusal.code).toBe("needs_open");
        expect(refusal.message).toMatch(/inside the guard; a person is asked .* approval_wait .* wait_for_command/);
        expect(refusal.details).toMatchObject({ program: "sudo", approvalId: expect.any(String) });
        await person.approval.resolve({ requestId: refusal.details["approvalId"] as string, status: "rejected" });
      }
      expect(inside).toMatchObject({ stdout: "host\nnot a tty\n", stderr: expect.stringContaining("/dev/tty") });
      expect(inside.stderr).toContain(`${marker}': No such file`);
      expect(end).toMatchObject({ output: "yes\nyes\n", final: true, exit_code: 0 });
      expect((await person.session.get({ sessionId: talk.session_id })).containment).toBe("guard");
    });

    test.each(["start", "execute"] as const)(
      "[RMC-14] what needs rights runs once, in an open session of its own, when a person has approved it: %s",
      async (way) => {
        const { agent, person } = hub;
        const project = { project_id: `asked-${way}` };
        await person.workspace.put({ workspaceId: project.project_id });
        const marker = join(hub.home, `ran-${way}`);
        const call = { ...project, command: `sudo --version >/dev/null && echo ran >> ${marker}; cat ${marker}` };
        const tried = () => agent.command[way](call).catch((it: unknown) => it as AppError) as Promise<AppError>;

        const [{ details }, again] = [await tried(), way === "execute" ? await tried() : undefined];
        const { approvalId: requestId, session_id } = details as { approvalId: string; session_id: string };
        const before = existsSync(marker);
        const asked = await person.approval.get({ requestId });
        await person.approval.resolve({ requestId, status: "approved" });
        const end = await agent.command.wait({ ...project, session_id });

        expect(again?.details ?? details).toEqual(details);
        expect([before, asked.action, asked.containment]).toEqual([false, "remote_command", "open"]);
        expect(end).toMatchObject({ output: "ran\n", final: true, exit_code: 0 });
        expect(await person.session.get({ sessionId: session_id })).toMatchObject({
          containment: "open",
          ownerAgentId: "agent",
          status: "closed",
        });
      },
    );

    test("[RMC-14] where no agent may drive an open session, nobody is asked", async () => {
      const { agent, person } = hub;
      await person.workspace.put({ workspaceId: "forbids", settings: { grant_open: "forbid" } });

      const refusal = await agent.command
        .execute({ project_id: "forbids", command: "sudo id" })
        .catch((it: unknown) => it as AppError);

      expect(refusal).toMatchObject({ code: "needs_open", message: expect.stringContaining("find a way without it") });
      expect((refusal as AppError).details["approvalId"]).toBeUndefined();
    });
  },
);
