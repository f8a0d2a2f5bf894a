import { duplexPair } from "node:stream";
import { expect, onTestFinished, test, vi } from "vitest";
import { BODY_MAX, LINK_UNREAD_MAX } from "../../protocol/link.ts";
import { HubConnection } from "./hub-connection.ts";

test("[RML-23] a hub that asks and reads nothing is left, before its answers fill the host's memory", () => {
  const [near] = duplexPair();
  const connection = new HubConnection(near, { message: () => undefined, closed: () => undefined });
  const body = new Uint8Array(BODY_MAX);

  const answers = Math.ceil(LINK_UNREAD_MAX / BODY_MAX) - 2;
  for (let id = 0; id < answers; id += 1) connection.reply(id, { fields: {}, body });
  const before = near.destroyed;
  for (let id = 0; id < 4; id += 1) connection.reply(id, { fields: {}, body });

  expect([before, near.destroyed]).toEqual([false, true]);
});

test("[HST-20] a hub that has said nothing for ten seconds is taken for dead", () => {
  vi.useFakeTimers({ toFake: ["setInterval", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const [near, far] = duplexPair();
  onTestFinished(() => void far.destroy());
  const connection = new HubConnection(near, { message: () => undefined, closed: () => undefined });
  onTestFinished(() => connection.close());

  vi.advanceTimersByTime(10_000);
  const afterTen = near.destroyed;
  vi.advanceTimersByTime(2_000);

  expect([afterTen, near.destroyed]).toEqual([false, true]);
});
