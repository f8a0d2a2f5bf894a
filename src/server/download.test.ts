import { once } from "node:events";
import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setImmediate } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../../test/support/eventually.ts";
import { sendDownload } from "./download.ts";

const PIECE = "x".repeat(64 * 1024);

/** What a reader gets of these pieces, and our end of it. */
async function download(pieces: AsyncGenerator<string>) {
  const told = Promise.withResolvers<void>();
  told.promise.catch(() => undefined);
  const sent = Promise.withResolvers<ServerResponse>();
  const server = createServer((_request, response) => {
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    sent.resolve(response);
    told.resolve(sendDownload(response, { sessionId: "it", format: "jsonl", pieces }, gone.signal));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const asked = get({ port: (server.address() as AddressInfo).port, host: "127.0.0.1", agent: false });
  const [incoming] = (await once(asked, "response")) as [IncomingMessage];
  incoming.on("error", () => undefined);
  return { incoming, response: await sent.promise, told: told.promise };
}

test("[WEB-67] nothing is made for a reader who doesn't read, and no more for one who left", async () => {
  const seen = { made: 0, isOver: false };
  async function* endless(): AsyncGenerator<string> {
    try {
      for (;;) {
        seen.made += 1;
        yield PIECE;
      }
    } finally {
      seen.isOver = true;
    }
  }
  const { incoming, response } = await download(endless());
  incoming.pause();
  await eventually(() => expect(response.writableNeedDrain).toBe(true));
  let before = -1;
  await eventually(async () => {
    const last = before;
    before = seen.made;
    for (let turn = 0; turn < 50; turn += 1) await setImmediate();
    expect([last, seen.made]).toEqual([before, before]);
  });

  expect(seen.isOver).toBe(false);
  incoming.destroy();
  await eventually(() => expect(seen.isOver).toBe(true));
});

test("[WEB-67] a file that broke off doesn't end as a whole one", async () => {
  async function* broken(): AsyncGenerator<string> {
    yield PIECE;
    throw new Error("the disk is gone");
  }
  const { incoming, told } = await download(broken());

  await expect(text(incoming)).rejects.toThrow("aborted");
  await expect(told).rejects.toThrow("the disk is gone");
  expect(incoming.complete).toBe(false);
});
