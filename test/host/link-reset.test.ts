/** A host that dies before it has read all that the hub said: the kernel resets that connection and doesn't end it. */
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { encodeMessage } from "../../src/protocol/link.ts";
import { HostLink } from "../../src/server/hosts/host-link.ts";
import { socketAt } from "../../src/server/hosts/wire.ts";
import { eventually } from "../support/eventually.ts";
import { temporaryDirectory } from "../support/temporary.ts";
import { silent } from "./host-process.ts";

/** Greets whoever connects and reads nothing. */
async function greetingHost(path: string): Promise<readonly Socket[]> {
  const sockets: Socket[] = [];
  const server = createServer({ pauseOnConnect: true }, (socket) => {
    sockets.push(socket);
    const welcome = { type: "WELCOME", version: 1, host_id: "here", pid: process.pid } as const;
    socket.write(encodeMessage({ ...welcome, instance: "only", sessions: [] }));
  });
  server.listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return sockets;
}

test("[HST-13, HST-21] requests to a host that dies with them unread end at once, and it is told as offline", async () => {
  const path = join(await temporaryDirectory(), "link.sock");
  const sockets = await greetingHost(path);
  const link = new HostLink({ connect: socketAt(path), logger: silent });
  onTestFinished(() => link.close());
  const told: string[] = [];
  link.listen({ frame: () => undefined, online: () => told.push("online"), offline: () => told.push("offline") });
  link.open();
  await eventually(() => expect(told).toEqual(["online"]));
  const asked = link
    .request({ type: "TERMINATE_CMD", session_id: crypto.randomUUID() })
    .catch((error: unknown) => error);

  const [control, data] = sockets;
  data?.destroy();
  await eventually(() => expect(link.online).toBe(false));
  control?.destroy();

  expect(await asked).toMatchObject({ code: "unknown_outcome" });
  expect(told.slice(0, 2)).toEqual(["online", "offline"]);
});
