import * as fc from "fast-check";
import { expect, onTestFinished, test, vi } from "vitest";
import {
  type Answer,
  type ServedConnection,
  startStreamServer,
  type StreamServer,
} from "../../test/support/stream-server.ts";
import { eventually } from "../../test/support/eventually.ts";
import type { WorkspaceEvent } from "../protocol/events.ts";
import type { ClientFrameInput } from "../protocol/stream.ts";
import type { Viewer } from "./attachment.ts";
import { SidestickClient } from "./client.ts";
import type { Timing } from "./retry.ts";
import type { Stream, StreamOptions, StreamState } from "./stream.ts";

const sessionId = "0199a1b2-0000-7000-8000-000000000001";
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function serve(answer: Answer): Promise<StreamServer> {
  const server = await startStreamServer(answer);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

function openStream(server: StreamServer, options: StreamOptions = {}, timing: Partial<Timing> = {}): Stream {
  const client = new SidestickClient({
    url: server.url,
    token: "t",
    timing: { retryMinMs: 1, retryMaxMs: 4, ...timing },
  });
  const stream = client.stream(options);
  onTestFinished(async () => {
    stream.close();
    await stream.closed.catch(() => undefined);
  });
  return stream;
}

function eventOf(sequence: number, type: WorkspaceEvent["type"] = "log_line"): WorkspaceEvent {
  const source = { kind: "system", id: "hub" } as const;
  return { sequence, sessionId, type, timestamp: "2026-01-01T00:00:00.000Z", payload: {}, source };
}

function attachedAt(cursor: number) {
  return { type: "attached", sessionId, cursor, cols: 80, rows: 24 } as const;
}

/** Resolves with what a viewer got as soon as it ends with `end`. */
function watch(
  stream: Stream,
  end: string,
  viewer: Partial<Viewer> = {},
): Promise<{ output: string; cursors: number[] }> {
  const { promise, resolve } = Promise.withResolvers<{ output: string; cursors: number[] }>();
  let output = "";
  const cursors: number[] = [];
  stream.attach(sessionId, {
    from: 0,
    ...viewer,
    onOutput(chunk, cursor) {
      output += text(chunk);
      cursors.push(cursor);
      if (output.endsWith(end)) resolve({ output, cursors });
    },
  });
  return promise;
}

test("[SDK-16] every byte once and in order, wherever the connections break", async () => {
  const chunk = fc.record({ size: fc.integer({ min: 1, max: 9 }), repeat: fc.nat(5) });
  await fc.assert(
    fc.asyncProperty(
      fc.array(chunk, { maxLength: 20 }),
      fc.array(fc.nat(12), { maxLength: 6 }),
      async (chunks, drops) => {
        const whole = `${chunks.map(({ size }, at) => String.fromCodePoint(97 + at).repeat(size)).join("")}!`;
        await using server = await startStreamServer((frame, connection, count) => {
          if (frame.type !== "attach") return;
          connection.tell(attachedAt(Number(frame.from)));
          feed(connection, whole, Number(frame.from), { chunks, drop: drops[count - 1] });
        });
        const stream = openStream(server);

        const { output } = await watch(stream, "!");

        expect(output).toBe(whole);
        stream.close();
        await stream.closed;
      },
    ),
    { numRuns: 40 },
  );
});

type Feeding = { chunks: readonly { size: number; repeat: number }[]; drop: number | undefined };

/** Sends the text from a cursor on, with some bytes twice, and breaks off after `drop` frames. */
function feed(connection: ServedConnection, whole: string, from: number, { chunks, drop }: Feeding): void {
  let at = from;
  let sent = 0;
  for (const { size, repeat } of [...chunks, { size: whole.length, repeat: 0 }]) {
    if (sent === drop) return connection.drop();
    const start = Math.max(0, at - repeat);
    connection.output(sessionId, start, bytes(whole.slice(start, at + size)));
    at += size;
    sent += 1;
  }
}

test("[SDK-16] attaches again at the next byte, with the size of now", async () => {
  const server = await serve((frame, connection, count) => {
    if (frame.type === "attach") {
      connection.tell(attachedAt(count === 1 ? 100 : Number(frame.from)));
      connection.output(sessionId, count === 1 ? 100 : Number(frame.from), bytes(count === 1 ? "abc" : "!"));
    }
    if (frame.type === "resize") connection.drop();
  });
  const stream = openStream(server);

  const onAttached = vi.fn<NonNullable<Viewer["onAttached"]>>();
  const seen = watch(stream, "!", { from: "screen", input: true, cols: 80, rows: 24, onAttached });
  await eventually(() => expect(server.connections[0]?.frames.some((it) => it.type === "ack")).toBe(true));
  stream.resize(sessionId, 100, 30);

  expect(await seen).toEqual({ output: "abc!", cursors: [100, 103] });
  const requests = server.connections.map((it) => it.frames.find((frame) => frame.type === "attach"));
  expect(requests).toEqual([
    { type: "attach", sessionId, from: "screen", input: true, cols: 80, rows: 24 },
    { type: "attach", sessionId, from: 103, input: true, cols: 100, rows: 30 },
  ]);
  expect(onAttached.mock.calls.map(([frame]) => frame.cursor)).toEqual([100, 103]);
});

test("[SDK-17] output is acknowledged when the viewer is done with it", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type !== "attach") return;
    connection.tell(attachedAt(0));
    connection.output(sessionId, 0, bytes("ab"));
    connection.output(sessionId, 2, bytes("cd"));
    connection.tell({ type: "event", event: eventOf(1) });
  });
  const stream = openStream(server);
  const done = Promise.withResolvers<void>();
  const handed: string[] = [];
  const arrived = Promise.withResolvers<void>();
  stream.subscribe({ onEvent: () => arrived.resolve() });
  stream.attach(sessionId, {
    from: 0,
    onOutput(chunk) {
      handed.push(text(chunk));
      return handed.length === 1 ? done.promise : undefined;
    },
  });
  const acks = (): ClientFrameInput[] => server.connections[0]?.frames.filter((it) => it.type === "ack") ?? [];

  await arrived.promise;
  await eventually(() => expect(handed).toEqual(["ab"]));
  expect(acks()).toEqual([]);
  done.resolve();

  await eventually(() => expect(acks().map((it) => "cursor" in it && it.cursor)).toEqual([2, 4]));
  expect(handed).toEqual(["ab", "cd"]);
});

test("[SDK-17] after detach the viewer gets nothing more, and the hub is told", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type === "attach") connection.tell(attachedAt(0));
    if (frame.type === "detach") {
      connection.output(sessionId, 0, bytes("late"));
      connection.tell({ type: "event", event: eventOf(1) });
    }
  });
  const stream = openStream(server);
  const onOutput = vi.fn<Viewer["onOutput"]>();
  const arrived = Promise.withResolvers<void>();
  stream.subscribe({ onEvent: () => arrived.resolve() });

  stream.attach(sessionId, { from: 0, onOutput, onAttached: () => stream.detach(sessionId) });

  await arrived.promise;
  expect(onOutput).not.toHaveBeenCalled();
});

test("[SDK-18] bytes that are left out are told", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type !== "attach") return;
    connection.tell(attachedAt(0));
    connection.output(sessionId, 0, bytes("ab"));
    connection.output(sessionId, 50, bytes("!"));
  });
  const onGap = vi.fn<NonNullable<Viewer["onGap"]>>();

  const { cursors } = await watch(openStream(server), "!", { onGap });

  expect(cursors).toEqual([0, 50]);
  expect(onGap.mock.calls).toEqual([[2, 50]]);
});

test("[SDK-18] being told to lag moves nothing", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type !== "attach") return;
    connection.tell(attachedAt(0));
    connection.tell({ type: "lagged", sessionId, cursor: 7000 });
    connection.output(sessionId, 0, bytes("ab!"));
  });
  const onLagged = vi.fn<NonNullable<StreamOptions["onLagged"]>>();

  const { output } = await watch(openStream(server, { onLagged }), "!");

  expect(output).toBe("ab!");
  expect(onLagged.mock.calls).toEqual([[{ of: "output", sessionId, cursor: 7000 }]]);
});

test("[SDK-18] lagging behind the log is told with the place", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type === "subscribe") connection.tell({ type: "lagged", after: 12 });
  });
  const onLagged = vi.fn<NonNullable<StreamOptions["onLagged"]>>();

  openStream(server, { onLagged }).subscribe({ onEvent: () => undefined });

  await eventually(() => expect(onLagged.mock.calls).toEqual([[{ of: "events", after: 12 }]]));
});

test("[SDK-23] a cursor that is no longer kept moves to the oldest byte, as a gap", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type !== "attach") return;
    connection.tell(attachedAt(Number(frame.from)));
    if (frame.from === 5)
      connection.tell({ type: "error", code: "cursor_expired", status: 410, sessionId, oldest: 70 });
    else connection.output(sessionId, 70, bytes("ab!"));
  });
  const onGap = vi.fn<NonNullable<Viewer["onGap"]>>();
  const onRefusal = vi.fn<NonNullable<StreamOptions["onRefusal"]>>();

  const seen = await watch(openStream(server, { onRefusal }), "!", { from: 5, onGap });

  expect(seen).toEqual({ output: "ab!", cursors: [70] });
  expect(onGap.mock.calls).toEqual([[5, 70]]);
  expect(onRefusal).not.toHaveBeenCalled();
});

test("[SDK-23] output that expired while it was sent goes on behind the gap", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type !== "attach") return;
    connection.tell(attachedAt(Number(frame.from)));
    connection.output(sessionId, Number(frame.from), bytes(frame.from === 0 ? "ab" : "!"));
    if (frame.from === 0) connection.tell({ type: "error", code: "cursor_expired", sessionId, oldest: 9 });
  });
  const told: unknown[] = [];

  const seen = await watch(openStream(server), "!", {
    onGap: (from, to) => void told.push([from, to]),
    onAttached: ({ cursor }) => void told.push(cursor),
  });

  expect(seen).toEqual({ output: "ab!", cursors: [0, 9] });
  expect(told).toEqual([0, [2, 9], 9]);
});

test("[SDK-23, SDK-22] an expiry that moves nothing is a refusal, not a reason to ask for ever", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type === "attach") connection.tell({ type: "error", code: "cursor_expired", sessionId, oldest: 5 });
  });
  const onRefusal = vi.fn<NonNullable<StreamOptions["onRefusal"]>>();

  openStream(server, { onRefusal }).attach(sessionId, { from: 5, onOutput: () => undefined });

  await eventually(() => expect(onRefusal.mock.calls).toMatchObject([[{ code: "cursor_expired" }]]));
  expect(server.connections[0]?.frames.filter((it) => it.type === "attach")).toHaveLength(1);
});

test("[SDK-19] pings go out; a connection that stays silent is replaced", async () => {
  const server = await serve((frame, connection, count) => {
    if (frame.type === "ping" && count > 1) connection.tell({ type: "pong" });
  });
  openStream(server, {}, { heartbeatMs: 20, deadAfterMs: 200 });

  // The next one or, where the machine stands still for so long, one after it.
  const replaced = () => server.connections.slice(1).map((it) => it.frames.length);
  await eventually(() => expect(Math.max(...replaced())).toBeGreaterThan(2));

  expect(server.connections[0]?.frames.every((it) => it.type === "ping")).toBe(true);
});

test("[SDK-20] input without a connection is not sent, then or later", async () => {
  const server = await serve(() => undefined);
  const states: StreamState[] = [];
  const stream = openStream(server, { onState: (state) => states.push(state) });

  const early = stream.input(sessionId, { data: "early" });
  await eventually(() => expect(states).toEqual(["connecting", "open"]));
  const now = stream.input(sessionId, { data: "now" });

  expect([early, now]).toEqual([false, true]);
  await eventually(() => expect(server.connections[0]?.frames).toEqual([{ type: "input", sessionId, data: "now" }]));
});

test("[SDK-21] each connection has its own ticket and subscribes after the last event", async () => {
  const server = await serve((frame, connection, count) => {
    if (frame.type !== "subscribe") return;
    connection.tell({ type: "event", event: eventOf(count * 10) });
    connection.tell({ type: "event", event: eventOf(count * 10) });
    if (count < 3) connection.drop();
  });
  const sequences: number[] = [];

  openStream(server).subscribe({ after: 5, types: ["log_line"], onEvent: (event) => sequences.push(event.sequence) });

  await eventually(() => expect(sequences).toEqual([10, 20, 30]));
  expect(server.connections.map((it) => it.protocols)).toEqual([
    ["sidestick.v1", "sidestick.ticket.t0"],
    ["sidestick.v1", "sidestick.ticket.t1"],
    ["sidestick.v1", "sidestick.ticket.t2"],
  ]);
  expect(server.connections.map((it) => it.url)).toEqual(["/stream", "/stream", "/stream"]);
  expect(server.connections.map((it) => it.frames[0])).toEqual([
    { type: "subscribe", after: 5, types: ["log_line"] },
    { type: "subscribe", after: 10, types: ["log_line"] },
    { type: "subscribe", after: 20, types: ["log_line"] },
  ]);
});

test("[SDK-21] a resync moves the place and is told; frames of a newer hub are passed over", async () => {
  const server = await serve((frame, connection, count) => {
    if (frame.type !== "subscribe") return;
    if (count > 1) return connection.tell({ type: "event", event: eventOf(1, "from_the_future" as never) });
    connection.tellText('{"type":"from_the_future"}');
    connection.tell({ type: "resync", after: 0 });
    return connection.drop();
  });
  const told: unknown[] = [];

  openStream(server).subscribe({
    after: 9,
    onEvent: (event) => told.push(event.type),
    onResync: (after) => told.push(after),
  });

  await eventually(() => expect(told).toEqual([0, "from_the_future"]));
});

test("[SDK-22] a refused frame is told and the stream goes on", async () => {
  const server = await serve((frame, connection) => {
    if (frame.type === "attach")
      connection.tell({ type: "error", code: "not_found", status: 404, sessionId, detail: "gone" });
    if (frame.type === "subscribe") connection.tell({ type: "event", event: eventOf(1) });
  });
  const refusals: unknown[] = [];
  const stream = openStream(server, { onRefusal: (error) => refusals.push(error) });
  const arrived = Promise.withResolvers<WorkspaceEvent>();

  stream.attach(sessionId, { from: 0, onOutput: () => undefined });
  await eventually(() =>
    expect(refusals).toMatchObject([{ code: "not_found", status: 404, message: "gone", details: { sessionId } }]),
  );
  stream.subscribe({ onEvent: arrived.resolve });

  expect(await arrived.promise).toEqual(eventOf(1));
});

test("[SDK-22] a refused credential ends it", async () => {
  const server = await serve(() => undefined);
  server.ticketStatus = 401;
  const states: StreamState[] = [];

  const stream = openStream(server, { onState: (state) => states.push(state) });

  await expect(stream.closed).rejects.toMatchObject({ code: "unauthenticated" });
  expect(states).toEqual(["connecting", "closed"]);
});

test.each<{ name: string; viewer: Partial<Viewer> }>([
  {
    name: "throws",
    viewer: {
      onAttached: () => {
        throw new Error("mine");
      },
    },
  },
  { name: "rejects", viewer: { onAttached: () => Promise.reject(new Error("mine")) } },
])("[SDK-22] a callback that $name ends it", async ({ viewer }) => {
  const server = await serve((frame, connection) => frame.type === "attach" && connection.tell(attachedAt(0)));
  const stream = openStream(server);

  stream.attach(sessionId, { from: 0, onOutput: () => undefined, ...viewer });

  await expect(stream.closed).rejects.toThrow("mine");
});

test("[SDK-22] an abort closes it without an error", async () => {
  const server = await serve(() => undefined);
  const abort = new AbortController();
  const stream = openStream(server, { signal: abort.signal, onState: (state) => state === "open" && abort.abort() });

  await expect(stream.closed).resolves.toBeUndefined();
});
