import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import * as fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { SidestickClient } from "./client.ts";
import type { FeedItem, FeedOptions } from "./event-feed.ts";

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

type Wish = { after: number; lastEventId: string | undefined; query: Record<string, string> };
type Answer = (wish: Wish, response: ServerResponse) => void;

/** Each connection is answered by the next of `answers`, the last one by all that follow. */
async function serve(...answers: Answer[]): Promise<{ url: string; wishes: Wish[] }> {
  const wishes: Wish[] = [];
  const server = createServer((request, response) => {
    const wish = wishOf(request);
    wishes.push(wish);
    answers[Math.min(wishes.length, answers.length) - 1]?.(wish, response);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, wishes };
}

function wishOf(request: IncomingMessage): Wish {
  const query = Object.fromEntries(new URL(request.url ?? "", "http://hub").searchParams);
  const lastEventId = request.headers["last-event-id"] as string | undefined;
  return { after: Number(lastEventId ?? query.after ?? 0), lastEventId, query };
}

function eventOf(sequence: number, type = "log_line") {
  return {
    sequence,
    sessionId: "00000000-0000-0000-0000-000000000000",
    type,
    timestamp: "2026-01-01T00:00:00.000Z",
    payload: { text: `ü${sequence}\n` },
    source: { kind: "system", id: "hub" },
  };
}

function sse(sequences: readonly number[]): string {
  return sequences.map((it) => `id: ${it}\ndata: ${JSON.stringify(eventOf(it))}\n\n`).join("");
}

function open(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { "content-type": "text/event-stream" });
}

const refuse =
  (status: number): Answer =>
  (_wish, response) => {
    response.writeHead(status).end();
  };

const QUICK = { retryMinMs: 1, retryMaxMs: 4 };

/** Reads until `count` items came. */
async function take(client: SidestickClient, count: number, options: FeedOptions = {}): Promise<FeedItem[]> {
  const items: FeedItem[] = [];
  for await (const item of client.events(options)) {
    items.push(item);
    if (items.length === count) break;
  }
  return items;
}

const sequencesOf = (items: readonly FeedItem[]): number[] =>
  items.map((item) => (item.type === "event" ? item.event.sequence : -item.after));

test("[SDK-10] every event once and in order, wherever the connections break", async () => {
  const gaps = fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 25 });
  const breaks = fc.array(fc.record({ afterBytes: fc.nat(2000), how: fc.constantFrom("destroy", "end", "503") }), {
    maxLength: 12,
  });
  await fc.assert(
    fc.asyncProperty(gaps, breaks, async (gaps, breaks) => {
      const log = gaps.map((_gap, at) => gaps.slice(0, at + 1).reduce((sum, gap) => sum + gap, 0));
      const rest = (after: number): Buffer => Buffer.from(`: hello\n\n${sse(log.filter((it) => it > after))}`);
      const broken = breaks.map(({ afterBytes, how }): Answer => {
        if (how === "503") return refuse(503);
        return ({ after }, response) => {
          const ends = (): unknown => (how === "end" ? response.end() : response.destroy());
          open(response).write(rest(after).subarray(0, afterBytes), ends);
        };
      });
      const { url } = await serve(...broken, ({ after }, response) => open(response).write(rest(after)));

      const items = await take(new SidestickClient({ url, token: "t", timing: QUICK }), log.length);

      expect(sequencesOf(items)).toEqual(log);
      servers.pop()?.closeAllConnections();
    }),
    { numRuns: 60 },
  );
});

test("[SDK-10] a filter stays, `after` gives way to Last-Event-ID, and what was seen isn't given again", async () => {
  const { url, wishes } = await serve(
    (_wish, response) => open(response).end(sse([4, 5])),
    (_wish, response) => open(response).end(sse([5, 6])),
  );
  const client = new SidestickClient({ url, timing: QUICK });

  const items = await take(client, 3, { after: 3, types: ["log_line", "status"] });

  expect(sequencesOf(items)).toEqual([4, 5, 6]);
  expect(wishes).toEqual([
    { after: 3, lastEventId: undefined, query: { after: "3", types: "log_line,status" } },
    { after: 5, lastEventId: "5", query: { types: "log_line,status" } },
  ]);
});

test("[SDK-10] an id without data moves the place", async () => {
  const { url, wishes } = await serve(
    (_wish, response) => open(response).end("id: 90\n\n"),
    (_wish, response) => open(response).write(sse([91])),
  );

  await take(new SidestickClient({ url, timing: QUICK }), 1);

  expect(wishes.map((wish) => wish.lastEventId)).toEqual([undefined, "90"]);
});

test("[SDK-10] an event says its place itself, even without an id", async () => {
  const bare = `data: ${JSON.stringify(eventOf(5))}\n\n`;
  const { url, wishes } = await serve(
    (_wish, response) => open(response).end(bare),
    (_wish, response) => open(response).write(bare + sse([6])),
  );

  const items = await take(new SidestickClient({ url, timing: QUICK }), 2);

  expect(sequencesOf(items)).toEqual([5, 6]);
  expect(wishes[1]?.lastEventId).toBe("5");
});

test.each([
  { name: "forwards", resync: 50, next: 60 },
  { name: "backwards, to a hub that began again", resync: 0, next: 1 },
])("[SDK-11] a resync is handed over and the feed goes on $name", async ({ resync, next }) => {
  const { url, wishes } = await serve(
    (_wish, response) => open(response).end(`event: resync\nid: ${resync}\ndata: {"after":${resync}}\n\n`),
    (_wish, response) => open(response).write(sse([next])),
  );

  const items = await take(new SidestickClient({ url, timing: QUICK }), 2, { after: 7 });

  expect(items).toEqual([
    { type: "resync", after: resync },
    { type: "event", event: eventOf(next) },
  ]);
  expect(wishes[1]?.lastEventId).toBe(String(resync));
});

test("[SDK-12] away, overloaded and faulty are tried again, and told", async () => {
  const { url } = await serve(refuse(503), refuse(429), refuse(500), (_wish, response) =>
    open(response).write(sse([1])),
  );
  const told: string[] = [];
  const onRetry = (error: unknown): unknown => told.push((error as Error).message);
  const onOpen = (): unknown => told.push("open");

  const items = await take(new SidestickClient({ url, timing: QUICK }), 1, { onRetry, onOpen });

  expect(sequencesOf(items)).toEqual([1]);
  expect(told).toEqual(["The hub answered 503", "The hub answered 429", "The hub answered 500", "open"]);
});

test.each([
  { status: 401, code: "unauthenticated" },
  { status: 403, code: "forbidden" },
  { status: 400, code: "internal" },
])("[SDK-12] a $status ends the feed, also in the middle", async ({ status, code }) => {
  const { url, wishes } = await serve((_wish, response) => open(response).end(sse([1])), refuse(status));

  const reading = take(new SidestickClient({ url, timing: QUICK }), 2);

  await expect(reading).rejects.toMatchObject({ code, status });
  expect(wishes).toHaveLength(2);
});

test("[SDK-12] the hub is known to be back before there is anything new", async () => {
  const { url } = await serve(refuse(503), (_wish, response) => open(response).flushHeaders());
  const client = new SidestickClient({ url, timing: QUICK });
  const abort = new AbortController();

  const items = await take(client, 1, { signal: abort.signal, onOpen: () => abort.abort() });

  expect(items).toEqual([]);
});

test("[SDK-13] a silent connection is replaced", async () => {
  const { url, wishes } = await serve(
    () => undefined,
    ({ after }, response) => open(response).write(sse([after + 1])),
  );
  const client = new SidestickClient({ url, timing: { ...QUICK, deadAfterMs: 100 } });

  const items = await take(client, 2);

  expect(sequencesOf(items)).toEqual([1, 2]);
  expect(wishes.length).toBeGreaterThanOrEqual(3);
});

test("[SDK-13] the caller may take its time", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  const { url, wishes } = await serve((_wish, response) => open(response).write(sse([1, 2])));

  const items: FeedItem[] = [];
  for await (const item of new SidestickClient({ url }).events()) {
    items.push(item);
    vi.advanceTimersByTime(3_600_000);
    if (items.length === 2) break;
  }
  vi.useRealTimers();

  expect(sequencesOf(items)).toEqual([1, 2]);
  expect(wishes).toHaveLength(1);
});

test("[SDK-14] an abort ends the iteration quietly and closes the connection", async () => {
  const gone = Promise.withResolvers<void>();
  const { url } = await serve((_wish, response) => {
    open(response).write(sse([1]));
    response.once("close", gone.resolve);
  });
  const abort = new AbortController();
  const items: FeedItem[] = [];

  for await (const item of new SidestickClient({ url }).events({ signal: abort.signal })) {
    items.push(item);
    queueMicrotask(() => abort.abort());
  }

  expect(sequencesOf(items)).toEqual([1]);
  await gone.promise;
});

test("[SDK-14] leaving the loop closes the connection", async () => {
  const gone = Promise.withResolvers<void>();
  const { url } = await serve((_wish, response) => {
    open(response).write(sse([1, 2]));
    response.once("close", gone.resolve);
  });

  await take(new SidestickClient({ url }), 1);

  await gone.promise;
});

test("[SDK-15] an unknown type is delivered; other kinds of messages are passed over", async () => {
  const event = eventOf(1, "from_the_future");
  const { url } = await serve((_wish, response) =>
    open(response).write(`event: news\ndata: x\n\nid: 1\ndata: ${JSON.stringify(event)}\n\n`),
  );

  const items = await take(new SidestickClient({ url }), 1);

  expect(items).toEqual([{ type: "event", event }]);
});

test.each(["{", "7", '{"sequence":-1}', '{"sequence":1,"type":"status"}'])("[SDK-15] %s is no event", async (data) => {
  const { url } = await serve((_wish, response) => open(response).write(`data: ${data}\n\n`));

  await expect(take(new SidestickClient({ url }), 1)).rejects.toMatchObject({ code: "internal" });
});

test("[SDK-15] a page instead of a stream is an error, not an empty log", async () => {
  const { url } = await serve((_wish, response) =>
    response.writeHead(200, { "content-type": "text/html" }).end("<h1>hi"),
  );

  await expect(take(new SidestickClient({ url }), 1)).rejects.toThrow("The answer is not an event stream");
});
