/** What docs/reference/host-link.md says is enough to write a host. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { SidestickClient } from "../../src/client/sidestick.ts";
import { eventually } from "../support/eventually.ts";
import { ForeignHost } from "../support/foreign-host.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { seen } from "../support/remote-host.ts";

const AT = { project_id: "far" };

async function scene() {
  const hub = await startTestHub();
  const person = operatorClient(hub.dataDir);
  const { code } = await person.host.invite({ workspaceId: AT.project_id });
  const host = new ForeignHost(hub.url);
  await host.enrol(code, "foreign");
  await host.connect();
  onTestFinished(() => host.disconnect());
  await seen(person, "foreign", true);
  await person.workspace.put({ workspaceId: AT.project_id, settings: { containment: "open" } });
  return { person, host, agent: new SidestickClient({ url: hub.url, token: hub.agentToken }) };
}

test("[RML-1, RMC-15] a host that knows nothing of this project but its page runs a project's commands", async () => {
  const { agent, person } = await scene();

  const result = await agent.command.execute({ ...AT, command: "echo out; sleep 0.1; echo err >&2; exit 3" });
  const talked = await agent.command.start({ ...AT, command: "cat" }).catch((error: unknown) => error);

  expect(result).toMatchObject({ stdout: "out\n", stderr: "err\n", exit_code: 3, reason: "exited", timed_out: false });
  expect(talked).toMatchObject({ code: "kind_unavailable" });
  expect(await person.session.get({ sessionId: result.session_id })).toMatchObject({ status: "closed" });
});

test("[RML-10, RMC-18] what it kept while the link was broken comes once it is back", async () => {
  const { agent, person, host } = await scene();
  const command = "for i in 1 2 3 4 5 6; do seq 2000; sleep 0.2; done";
  const running = agent.command.execute({ ...AT, command, max_bytes: 1024 * 1024 });
  await eventually(async () => {
    const session = (await person.session.list()).find((it) => it.command === "plain");
    const events = await person.event.list({ sessionId: session!.sessionId, types: ["stdout"] });
    expect(events.length).toBeGreaterThan(0);
  });

  host.disconnect();
  await seen(person, "foreign", false);
  await host.connect();

  const digest = (text: string): string => createHash("sha256").update(text).digest("hex");
  const once = Array.from({ length: 2_000 }, (_, index) => `${index + 1}\n`).join("");
  expect(digest((await running).stdout)).toBe(digest(once.repeat(6)));
});

test("[RML-11] who asks for a change of control says by the hub's clock when", async () => {
  const { agent, person, host } = await scene();
  const running = agent.command.execute({ ...AT, command: "sleep 600" }).catch(() => undefined);
  const { sessionId } = await eventually(async () => {
    const session = (await person.session.list()).find((it) => it.command === "plain" && it.status === "active");
    expect(session).toBeDefined();
    return session!;
  });
  const before = Date.now();

  await person.control.take({ sessionId }).catch(() => undefined);

  await eventually(() => expect(host.askedAt).toBeGreaterThanOrEqual(before));
  await person.session.close({ sessionId });
  await running;
});

test("[RML-1] it imports nothing of the project", () => {
  const text = readFileSync(new URL("../support/foreign-host.ts", import.meta.url), "utf8");

  expect([...text.matchAll(/from "([^"]+)"/g)].map(([, from]) => from)).toEqual([
    "node:child_process",
    "node:events",
    "node:os",
    "ws",
  ]);
});
