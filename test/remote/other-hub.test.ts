/** Who answers at a hub's address isn't always that hub: a tunnel may have gone, or lead elsewhere. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { dialHub, type HubAddress } from "../../src/host/link/hub-dialler.ts";
import { HubSeat } from "../../src/host/link/hub-seat.ts";
import { silent } from "../host/host-process.ts";
import { ask } from "../support/http.ts";
import { operatorClient, startTestHub } from "../support/hub.ts";

/** What a host makes of the first answer there. */
async function refusedAt(hub: HubAddress): Promise<{ readonly isRemoved: boolean; readonly trouble: string }> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let isRemoved = false;
  const welcome = () => ({ host_id: "h", pid: 1, instance: "i", sessions: [] });
  const nothing = (): void => undefined;
  const seat = new HubSeat({ welcome, listener: { came: nothing, left: nothing, message: nothing } });
  const dial = dialHub({
    hub,
    logger: silent,
    onRemoved: () => (isRemoved = true),
    onState: (trouble) => resolve(trouble ?? "connected"),
  });
  const close = await dial(seat, () => false);
  const trouble = await promise;
  await close();
  return { isRemoved, trouble };
}

/** Something before a hub that asks for a password of its own, in the words of ours. */
async function proxy(): Promise<string> {
  const server = createServer((_, response) => {
    response.writeHead(401, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ status: 401, code: "unauthenticated" }));
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("[RML-8, RML-6] only its own hub can tell a host that it was removed", async () => {
  const [own, other] = [await startTestHub(), await startTestHub()];
  const person = operatorClient(own.dataDir);
  const { code } = await person.host.invite({ name: "tunnelled" });
  const facts = { os: "Linux", arch: "x64", shells: [], version: "1" };
  const enrolled = await ask(own.url, { method: "POST", path: "/hosts/enroll", body: { code, ...facts } });
  const { token, hub_id: hubId } = enrolled.body as { token: string; hub_id: string };
  const at = (url: string) => refusedAt({ url, token, hubId });

  const there = [await at(own.url), await at(other.url), await at(await proxy())];
  await person.host.remove({ hostId: "tunnelled" });
  const removed = await at(own.url);

  expect(there).toEqual([
    { isRemoved: false, trouble: "connected" },
    { isRemoved: false, trouble: "another hub is at that address than the one that was joined" },
    { isRemoved: false, trouble: "the hub's address answered 401" },
  ]);
  expect(removed.isRemoved).toBe(true);
});
