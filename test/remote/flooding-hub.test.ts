/** A hub that sends without end and reads nothing: the host's memory stays what it is. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type WebSocket, WebSocketServer } from "ws";
import { dialHub } from "../../src/host/link/hub-dialler.ts";
import { HubSeat } from "../../src/host/link/hub-seat.ts";
import { encodeMessage, HUB_HEADER } from "../../src/protocol/link.ts";
import { silent } from "../host/host-process.ts";
import { pingedUnread } from "../support/flood.ts";

const PING = encodeMessage({ type: "PING", at: 1 });
const HELLO = encodeMessage({ type: "HELLO", versions: [1], channel: "data", hub: "h" });

/** A hub, and what it has of a host that dialled it. */
async function dialled(heard: () => void): Promise<WebSocket> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("headers", (headers) => headers.push(`${HUB_HEADER}: hub`));
  const data = Promise.withResolvers<WebSocket>();
  server.on("connection", (socket, { url }) => url?.endsWith("data") === true && data.resolve(socket));
  await once(server, "listening");
  const nothing = (): void => undefined;
  const welcome = () => ({ host_id: "h", pid: 1, instance: "i", sessions: [] });
  const seat = new HubSeat({ welcome, listener: { came: nothing, left: nothing, message: heard } });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const dial = dialHub({ hub: { url, token: "t", hubId: "hub" }, logger: silent, onRemoved: nothing });
  const close = await dial(seat, () => false);
  onTestFinished(async () => {
    await close();
    server.close();
  });
  return data.promise;
}

test("[RML-23] a hub that pings and doesn't read has its answers kept only up to a limit", async () => {
  const heard = Promise.withResolvers<void>();
  const hub = await dialled(heard.resolve);
  hub.send(HELLO);

  const answered = await pingedUnread(hub, async () => {
    hub.send(PING);
    await heard.promise;
  });

  expect(answered).toBeLessThan(0.9);
  expect(hub.readyState).toBe(hub.OPEN);
});
