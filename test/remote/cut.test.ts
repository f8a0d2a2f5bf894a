/** The link is cut and healed, the hub killed, the host killed: nothing is lost, repeated or done late. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { WAIT_BUDGET_MS } from "../../src/protocol/pty-shapes.ts";
import { SEED, seeded } from "../crash/seeded.ts";
import { codeOf } from "../support/control-hub.ts";
import { eventually } from "../support/eventually.ts";
import { FAR, FarStage } from "../support/far-stage.ts";
import { seen } from "../support/remote-host.ts";
import { soakCount } from "../support/soak.ts";

const CUTS = soakCount(100);
const MEGABYTES = soakCount(64);

let stage: FarStage;
beforeAll(async () => {
  stage = await FarStage.open();
  return stage.stop;
});
beforeEach(() => stage.mend());

const sha = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

test(`[RML-7, RML-10] ${CUTS} cuts during output: every byte once (seed ${SEED})`, async () => {
  const random = seeded(SEED);
  await stage.terminal("c1");
  const file = join(stage.dataDir, "text");
  const lines = Array.from(
    { length: MEGABYTES * 16_384 },
    (_, index) => `${String(index).padStart(8, "0")}${"x".repeat(54)}\n`,
  );
  writeFileSync(file, lines.join(""));
  const slowly = `while IFS= read -r -N 16384 part; do printf %s "$part"; sleep 0.01; done < ${file}`;

  const { block_id } = await stage.agent.pty.exec_block({ conversation_id: "c1", command: slowly });
  for (let cut = 0; cut < CUTS; cut += 1) {
    await sleep(20 + random(200));
    stage.way.cut();
    await sleep(random(50));
    stage.way.heal();
    await seen(stage.person, FAR, true);
  }
  await eventually(async () =>
    expect(await stage.agent.pty.status({ conversation_id: "c1" })).toMatchObject({ mode: "idle" }),
  );

  const expected = Buffer.from(lines.join("").replaceAll("\n", "\r\n"));
  const came = await stage.rawOutput("c1", block_id);
  expect([came.length, sha(came)]).toEqual([expected.length, sha(expected)]);
});

test("[RML-10, CTL-26] what was accepted before a cut is done once; what can't be sent is `host_offline`", async () => {
  await stage.terminal("c2");
  const file = join(stage.dataDir, "count");

  const outcomes: string[] = [];

  // On a busy machine it may take some tries until one is accepted before the cut.
  for (let cut = 0; cut < 3 || (cut < 20 && !outcomes.includes("ok")); cut += 1) {
    const command = `echo ${cut} >> ${file}; sleep 0.2`;
    const run = codeOf(stage.agent.pty.exec_block({ conversation_id: "c2", command, wait_ms: 0 }));
    await sleep(cut * 20);
    stage.way.cut();
    outcomes.push(await run);
    stage.way.heal();
    await seen(stage.person, FAR, true);
    await eventually(async () =>
      expect(await stage.agent.pty.status({ conversation_id: "c2" })).toMatchObject({ mode: "idle" }),
    );
  }
  stage.way.cut();
  await seen(stage.person, FAR, false);
  const offline = await codeOf(stage.agent.pty.exec_block({ conversation_id: "c2", command: "true" }));

  const ran = readFileSync(file, "utf8").trimEnd().split("\n");
  const accepted = outcomes.flatMap((outcome, cut) => (outcome === "ok" ? [String(cut)] : []));
  expect(["ok", "unknown_outcome", "host_offline"]).toEqual(expect.arrayContaining(outcomes));
  expect(ran.length).toBe(new Set(ran).size);
  expect(ran).toEqual(expect.arrayContaining(accepted));
  expect(offline).toBe("host_offline");
});

test("[RML-11] while the link is cut a lease ends by the host's clock, and what comes late is refused", async () => {
  const sessionId = await stage.terminal("c3");
  await stage.person.control.take({ sessionId });
  const { epoch } = await stage.person.control.grant({ sessionId, lease_seconds: 600 });
  await stage.agent.pty.exec_block({ conversation_id: "c3", command: "true", wait_ms: WAIT_BUDGET_MS });
  await stage.agent.control.renew({ sessionId, lease_seconds: 1 });

  stage.way.cut();
  // Longer than the lease.
  await sleep(1_100);
  stage.way.heal();
  await seen(stage.person, FAR, true);

  const late = await eventually(async () => {
    const code = await codeOf(stage.agent.pty.exec_block({ conversation_id: "c3", command: "echo late" }));
    expect(code).not.toBe("host_offline");
    return code;
  });
  expect(["lease_expired", "control_refused", "stale_epoch"]).toContain(late);
  const handoffs = await stage.person.event.list({ sessionId, types: ["control_handoff"], limit: 100 });
  const ended = handoffs.find((it) => it.payload["reason"] === "lease_expired");
  expect(ended?.payload["epoch"]).toBeGreaterThan(epoch);
});

test("[RML-13] a hub that was killed takes up the sessions of its host when it comes back", async () => {
  const sessionId = await stage.terminal("c4");
  const command = "for i in $(seq 300); do echo line-$i; sleep 0.01; done";
  const { block_id } = await stage.agent.pty.exec_block({ conversation_id: "c4", command });

  await stage.hub.kill();
  await stage.startHub();
  await seen(stage.person, FAR, true);
  await eventually(async () =>
    expect(await stage.agent.pty.status({ conversation_id: "c4" })).toMatchObject({ mode: "idle" }),
  );

  const expected = Array.from({ length: 300 }, (_, index) => `line-${index + 1}\r\n`).join("");
  expect((await stage.rawOutput("c4", block_id)).toString()).toBe(expected);
  expect((await stage.person.session.get({ sessionId })).status).toBe("active");
});

test.each([
  { what: "the link is cut", happens: async () => undefined },
  {
    what: "the hub came back first",
    happens: async () => {
      await stage.hub.kill();
      await stage.startHub();
    },
  },
])("[RML-15] whoever attaches while the host is away follows it when it is back: $what", async ({ what, happens }) => {
  const sessionId = await stage.terminal(what);
  const go = join(stage.dataDir, what);
  const command = `until [ -e '${go}' ]; do sleep 0.05; done; echo be''hind`;
  await stage.agent.pty.exec_block({ conversation_id: what, command });
  stage.way.cut();
  await happens();
  await seen(stage.person, FAR, false);

  let came = "";
  const attached: (string | undefined)[] = [];
  const stream = (await stage.as("operator", "looker")).stream();
  stream.attach(sessionId, {
    from: "screen",
    onAttached: ({ snapshot }) => void attached.push(snapshot),
    onOutput: (bytes) => void (came += Buffer.from(bytes).toString()),
  });
  await eventually(() => expect(attached).toEqual([undefined]));
  writeFileSync(go, "");
  stage.way.heal();

  await eventually(() => expect(came).toContain("behind"));
  stream.close();
});

test("[RML-14] sessions of a host that died are closed as `host_lost` with what was received", async () => {
  const sessionId = await stage.terminal("c5");
  const command = "echo before-the-end; sleep 1000";
  const { block_id } = await stage.agent.pty.exec_block({ conversation_id: "c5", command });
  await stage.agent.pty.wait_for({ conversation_id: "c5", match: "before-the-end", timeout_ms: WAIT_BUDGET_MS });

  await stage.host.kill("SIGKILL");
  await seen(stage.person, FAR, false);
  const away = await stage.person.session.get({ sessionId });
  await stage.host.again();

  await eventually(async () =>
    expect(await stage.person.session.get({ sessionId })).toMatchObject({ status: "closed", reason: "host_lost" }),
  );
  expect(away.status).toBe("active");
  expect((await stage.rawOutput("c5", block_id)).toString()).toContain("before-the-end");
});
