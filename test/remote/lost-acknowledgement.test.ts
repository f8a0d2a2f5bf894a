/** A link that breaks when all is said and stored, and only the host doesn't know. */
import { expect, onTestFinished, test } from "vitest";
import type { HubMessage } from "../../src/protocol/link.ts";
import { eventually } from "../support/eventually.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";
import { enrolLight, LightHost } from "../support/light-host.ts";
import { seen } from "../support/remote-host.ts";

test("[HST-9] what a host keeps though it is over for the hub is acknowledged to its end when the host is back", async () => {
  const hub = await startTestHub();
  const person = operatorClient(hub.dataDir);
  const host = new LightHost(await enrolLight(hub.url, person, "far"));
  onTestFinished(() => host.close());
  await host.connect();
  await seen(person, "far", true);
  await person.workspace.put({ workspaceId: "far", hostId: "far", settings: { containment: "open" } });
  const { sessionId: session_id } = await person.session.create({ kind: "terminal", workspaceId: "far" });
  await eventually(() => expect(host.sessions).toContain(session_id));
  const end = { type: "INTERACTIVE_CMD_DONE", session_id, at: Date.now(), reason: "exited", exit_code: 0 };
  host.output(session_id, "before");
  host.say({ ...end, order: host.order(session_id), cursor: 6 });
  await eventually(async () => expect((await person.session.get({ sessionId: session_id })).status).toBe("closed"));
  host.close();
  await seen(person, "far", false);

  // It heard of the first frame alone, and never that another session was not wanted.
  const unknown = crypto.randomUUID();
  host.sessions.add(unknown);
  const heard: HubMessage[] = [];
  host.onMessage = (message, _body, it) => {
    heard.push(message);
    if (message.type === "TERMINATE_CMD") it.reply(message.id);
    if (message.type !== "ADOPT") return;
    const isOld = message.session_id === session_id;
    const [acknowledged, order] = isOld ? [1, 2] : [0, 1];
    it.reply(message.id, { acknowledged, order, inputs: 0 });
    it.say({ ...end, session_id: message.session_id, order, cursor: isOld ? 6 : 0 });
  };
  await host.connect();

  await eventually(() =>
    expect(heard.filter((it) => it.type === "ACK").map((it) => [it.session_id, it.order])).toEqual(
      expect.arrayContaining([
        [session_id, 2],
        [unknown, 1],
      ]),
    ),
  );
  expect(host.isOpen).toBe(true);
  const outputs = await person.event.list({ sessionId: session_id, types: ["status"], limit: 100 });
  expect(outputs.filter((it) => it.payload["status"] === "closed")).toHaveLength(1);
});
