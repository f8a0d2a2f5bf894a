/** Commands of a project whose host's link is cut meanwhile. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { patience } from "../../tools/suite/patience.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { FAR, FarStage } from "../support/far-stage.ts";
import { seen } from "../support/remote-host.ts";
import { IS_SOAK } from "../support/soak.ts";

const ASKS = `
extends: none
default: auto
unclear: auto
rules:
  - id: asks
    command: touch
    decision: ask
    reason: leaves something behind
`;

let stage: FarStage;
let projects = 0;

beforeAll(async () => {
  stage = await FarStage.open(ASKS);
  return stage.stop;
});
beforeEach(() => stage.mend());

/** One of its own there: a project has one interactive command at a time. */
async function project(): Promise<{ readonly project_id: string }> {
  projects += 1;
  const workspaceId = `project-${projects}`;
  await stage.person.workspace.put({ workspaceId, hostId: FAR, settings: { containment: "open" } });
  return { project_id: workspaceId };
}

/** Time enough to begin in. */
const LIFE_SECONDS = Math.ceil(2 * patience());
const CUT_STEP = IS_SOAK ? 1 : 3;
const LINES = Array.from({ length: 60 }, (_, index) => `line-${index + 1}\n`).join("");
const TELLING = "for i in $(seq 60); do echo line-$i; sleep 0.005; done";

describe("a command", () => {
  test("[RMC-18, RMC-5] a command that is talked to runs on while the link is cut, and is answered afterwards", async () => {
    const at = await project();
    const { agent, person, way } = stage;
    const file = join(stage.dataDir, "count");
    const command = `echo run >>${file}; ${TELLING}; read -p 'Go on? ' x; echo "<$x>"; exit 5`;
    const first = await agent.command.start({ ...at, command, until: "line-20\n" });
    const talk = { ...at, session_id: first.session_id };

    way.cut();
    await seen(person, FAR, false);
    const offline = await codeOf(agent.command.send({ ...talk, input_text: "early\n" }));
    way.heal();
    await seen(person, FAR, true);
    const rest = await agent.command.wait({ ...talk, until: "Go on? " });
    const end = await agent.command.send({ ...talk, input_text: "yes\n" });

    expect(offline).toBe("host_offline");
    expect(first.output + rest.output).toBe(`${LINES}Go on? `);
    expect(end).toMatchObject({ output: "yes\n<yes>\n", final: true, exit_code: 5 });
    expect(readFileSync(file, "utf8")).toBe("run\n");
  });

  test("[RMC-18, RMC-12] one without a terminal is answered whole, though the link was cut (needs perl)", async () => {
    const at = await project();
    const file = join(stage.dataDir, "begun");
    const running = stage.agent.command.execute({ ...at, command: `${TELLING}; : >${file}; ${TELLING} >&2; exit 3` });

    await eventually(() => expect(existsSync(file)).toBe(true));
    stage.way.cut();
    await seen(stage.person, FAR, false);
    stage.way.heal();

    expect(await running).toMatchObject({ stdout: LINES, stderr: LINES, exit_code: 3, truncated: false });
  });

  test("[RMC-18, RMC-11] its time is its host's to keep, and its end is told when the link is whole again", async () => {
    const at = await project();
    const { agent, person, way } = stage;
    const start = { ...at, command: "echo $$; exec sleep 600", until: "\n", lifetime_seconds: LIFE_SECONDS };
    const { session_id, output } = await agent.command.start(start);

    way.cut();
    await eventually(() => expect(existsSync(`/proc/${output.trim()}`)).toBe(false));
    way.heal();
    await seen(person, FAR, true);
    const end = await agent.command.wait({ ...at, session_id });

    expect(end).toMatchObject({ final: true, reason: "timeout" });
  });

  test("[RMC-18, RML-10] cut while it begins it runs once or never, and holds no place of the project's", async () => {
    const at = await project();
    const { agent, person, way } = stage;
    const file = join(stage.dataDir, "begun-count");
    writeFileSync(file, "");

    for (let cut = 0; cut < 8; cut += CUT_STEP) {
      const start = codeOf(agent.command.start({ ...at, command: `echo ${cut} >>${file}`, wait_ms: WAIT_BUDGET_MS }));
      await sleep(cut * 30);
      way.cut();
      await seen(person, FAR, false);
      way.heal();
      expect(["ok", "unknown_outcome", "host_offline", "kind_unavailable"]).toContain(await start);
      await seen(person, FAR, true);
      await eventually(async () => {
        const sessions = await person.session.list();
        expect(sessions.filter((it) => it.workspaceId === at.project_id && it.status !== "closed")).toEqual([]);
      });
    }

    const ran = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(ran.length).toBe(new Set(ran).size);
    expect(await agent.command.start({ ...at, command: "echo next" })).toMatchObject({ output: "next\n", final: true });
  });
});

/** Started without patience: the answer names the approval and the session. */
async function pending(
  command: string,
  at: { readonly project_id: string },
): Promise<{ readonly requestId: string; readonly session_id: string }> {
  const refusal: unknown = await stage.agent.command
    .start({ ...at, command, wait_ms: 0 })
    .catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "approval_pending" });
  return (refusal as { details: { requestId: string; session_id: string } }).details;
}

describe("what a person is asked about", () => {
  test("[RMC-18, RMC-9, RML-9] what a person is asked about waits while the link is cut, and runs when they approve it", async () => {
    const at = await project();
    const { agent, person, way } = stage;
    const { requestId, session_id } = await pending("touch made; echo made", at);

    way.cut();
    await seen(person, FAR, false);
    way.heal();
    await seen(person, FAR, true);
    await person.approval.resolve({ requestId, status: "approved" });

    expect(await agent.command.wait({ ...at, session_id })).toMatchObject({
      output: "made\n",
      final: true,
      exit_code: 0,
    });
  });

  test("[RMC-18] one that waited for a person when the hub was killed is closed when its host has come to the next hub", async () => {
    const { session_id } = await pending("touch never", await project());

    stage.way.cut();
    await stage.hub.kill();
    await stage.startHub();
    stage.way.heal();
    await seen(stage.person, FAR, true);

    await eventually(async () =>
      expect(await stage.person.session.get({ sessionId: session_id })).toMatchObject({
        status: "closed",
        reason: "not_run",
      }),
    );
  });
});
