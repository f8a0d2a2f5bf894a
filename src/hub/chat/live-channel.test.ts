import { expect, test } from "vitest";
import { eventually } from "../../../test/support/eventually.ts";
import { BOT, TestChannel } from "../../../test/support/test-channel.ts";
import { createLogger } from "../../lib/logger.ts";
import { ChannelFailed } from "../channel-port.ts";
import { LiveChannel } from "./live-channel.ts";

const TOKEN = "110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw1";

function live() {
  const lines: string[] = [];
  const channel = new TestChannel();
  const config = { name: "telegram", kind: "telegram", token: TOKEN, people: [] } as const;
  const logger = createLogger("debug", (line) => lines.push(line));
  const ups: string[] = [];
  const onUp = (): void => void ups.push(channel.health.state);
  return { channel, lines, ups, it: new LiveChannel(channel, config, { receive: async () => ({}), logger, onUp }) };
}

test("[CHN-131] a platform that can't be reached at the start is tried again, and told without its token", async () => {
  const { channel, it, lines, ups } = live();
  channel.fails = new ChannelFailed(`connect to bot${TOKEN}`, "later", 5);
  it.startSurely();
  await eventually(() => expect(it.lastError).toBe("connect to bot[token]"));

  await eventually(() => expect([it.bot, it.health]).toEqual([BOT, { state: "up" }]));
  expect(ups).toEqual(["up"]);
  expect(lines.join("")).not.toContain(TOKEN);
  await it.close();
});

test("[CHN-131] one that refuses us is not", async () => {
  const { channel, it } = live();
  channel.fails = new ChannelFailed("401", "never");
  it.startSurely();

  await eventually(() => expect(it.health).toEqual({ state: "failed", detail: "401" }));
  expect(channel.health).toEqual({ state: "connecting" });
});
