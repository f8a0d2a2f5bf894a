import { beforeAll, expect, test } from "vitest";
import { SidestickClient } from "../../src/client/client.ts";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import { Hub } from "../../src/web/model/hub.ts";
import { eventually } from "../support/eventually.ts";
import { openTestHub, operatorClient, type TestHub } from "../support/hub.ts";
import { startStreamServer } from "../support/stream-server.ts";

let served: TestHub;
let person: SidestickClient;

beforeAll(async () => {
  served = await openTestHub();
  person = operatorClient(served.dataDir);
  return served.stop;
});

const AT_ONCE = { overviewMs: 10, oneMs: 10 };

type Answer = () => Promise<Response>;

/** A page's model whose requests for the overview go through `onOverview`, and whose connection can be cut. */
function page(onOverview: (answer: Answer) => Promise<Response>) {
  const sockets: WebSocket[] = [];
  class Cuttable extends WebSocket {
    constructor(url: string, protocols: string[]) {
      super(url, protocols);
      sockets.push(this);
    }
  }
  const client = new SidestickClient({
    url: served.url,
    token: served.operatorToken,
    timing: { retryMinMs: 10 },
    WebSocket: Cuttable,
    fetch: (url, init) =>
      new URL(url).pathname === "/overview" ? onOverview(() => fetch(url, init)) : fetch(url, init),
  });
  const hub = new Hub(client, AT_ONCE);
  const told: string[] = [];
  hub.onEvent(({ type, sessionId, payload }) => told.push(`${type} ${sessionId} ${payload["status"] as string}`));
  const link = (): string => hub.seen().world.link;
  return { hub, told, cut: () => sockets.at(-1)?.close(), isLive: () => eventually(() => expect(link()).toBe("live")) };
}

const made = async (): Promise<string> => (await person.session.create({ kind: "terminal" })).sessionId;

test("[WEB-11, WEB-13] a page whose overview fails says so, and asks again", async () => {
  let asked = 0;
  const { hub, isLive } = page(async (answer) => {
    asked += 1;
    return asked === 1 ? new Response("", { status: 503 }) : answer();
  });

  await isLive();

  expect([asked, hub.seen().notices.map(({ tone }) => tone)]).toEqual([2, ["bad"]]);
  hub.stream.close();
});

test("[WEB-10, WEB-11] whatever happens while a page begins again is told once, and in the world", async () => {
  const during: string[] = [];
  let round = 0;
  const { hub, told, cut, isLive } = page(async (answer) => {
    round += 1;
    if (round === 1) return answer();
    during.push(await made());
    const overview = await answer();
    during.push(await made());
    return overview;
  });
  await isLive();
  const before = await made();
  await eventually(() => expect(told).toContain(`status ${before} active`));

  cut();
  await eventually(() => expect(round).toBe(2));
  await isLive();
  const after = await made();
  await eventually(() => expect(told).toContain(`status ${after} active`));

  const all = [before, ...during, after];
  expect(told.toSorted()).toEqual(all.flatMap((id) => [`status ${id} active`, `status ${id} created`]).toSorted());
  expect(all.map((id) => hub.seen().world.sessions.get(id)?.status)).toEqual(all.map(() => "active"));
  hub.stream.close();
});

test("[WEB-14] a fault of the page isn't taken for the end of a login", async () => {
  const { hub, isLive } = page((answer) => answer());
  await isLive();
  hub.onEvent(() => {
    throw new Error("a view failed");
  });

  await made();

  await eventually(() => expect(hub.seen().world.link).toBe("broken"));
});

const NOW = "2026-01-01T00:00:00.000Z";

function overviewAt(eventCursor: number): object {
  const none = { sessions: [], controls: [], approvals: [], prompts: [], plans: [], hosts: [] };
  return { now: NOW, version: "0", me: { role: "operator", id: "ann" }, eventCursor, ...none };
}

function asks(sequence: number, promptId: string): WorkspaceEvent {
  const source = { kind: "host", id: "local" } as const;
  return { sequence, sessionId: "s", type: "prompt_request", timestamp: NOW, payload: { promptId }, source };
}

test("[WEB-13] a question that couldn't be asked for is asked for again, though nothing else happens", async () => {
  await using server = await startStreamServer((frame, connection) => {
    if (frame.type === "subscribe") connection.tell({ type: "event", event: asks(1, "p") });
  });
  const unanswered = [new Response("", { status: 503 })];
  const question = { prompt_id: "p", nonce: "n", status: "pending", feedback: [], asked_at: NOW };
  const client = new SidestickClient({
    url: server.url,
    token: "t",
    fetch: async (url, init) => {
      const [, what] = new URL(url).pathname.split("/");
      if (what === "overview") return Response.json(overviewAt(0));
      return what === "prompts" ? (unanswered.pop() ?? Response.json(question)) : fetch(url, init);
    },
  });
  const hub = new Hub(client, AT_ONCE);

  await eventually(() => expect([...hub.seen().world.prompts.keys()]).toEqual(["p"]));
  expect(unanswered).toEqual([]);
  hub.stream.close();
});

test("[WEB-10, WEB-15] who only looks sees a host go away, and asks for no event that is for operators", async () => {
  const subscribed: unknown[] = [];
  await using server = await startStreamServer((frame, connection) => {
    if (frame.type !== "subscribe") return;
    subscribed.push(...(frame.types ?? []));
    const event = { ...asks(1, ""), type: "host_link", payload: { hostId: "h", online: false } } as const;
    connection.tell({ type: "event", event });
  });
  const client = new SidestickClient({
    url: server.url,
    token: "t",
    fetch: async (url, init) => {
      const [, what] = new URL(url).pathname.split("/");
      if (what === "overview") return Response.json({ ...overviewAt(0), me: { role: "viewer", id: "vic" } });
      return what === "hosts" ? Response.json([{ hostId: "h", online: false }]) : fetch(url, init);
    },
  });
  const hub = new Hub(client, AT_ONCE);

  await eventually(() => expect(hub.seen().world.hosts.get("h")).toMatchObject({ online: false }));
  expect([subscribed.includes("host_link"), subscribed.includes("host")]).toEqual([true, false]);
  hub.stream.close();
});

test("[WEB-98] after a night the page asks for what the overview doesn't tell alone, and for each thing once at a time", async () => {
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  await using server = await startStreamServer((frame, connection, count) => {
    if (frame.type !== "subscribe") return;
    const missed = Array.from({ length: 500 }, (_, at) => asks(2 + at, `missed-${at}`));
    const events = count === 1 ? [asks(1, "old")] : [...missed, asks(600, "new"), asks(601, "new"), asks(602, "new")];
    for (const event of events) connection.tell({ type: "event", event });
  });
  const answer = async (prompt_id: string): Promise<Response> => {
    asked.push(prompt_id);
    const isFirst = asked.filter((it) => it === prompt_id).length === 1;
    await new Promise<void>((resolve) => answers.push(resolve));
    return Response.json({ prompt_id, nonce: "n", status: isFirst ? "pending" : "gone", feedback: [], asked_at: NOW });
  };
  const client = new SidestickClient({
    url: server.url,
    token: "t",
    timing: { retryMinMs: 10 },
    fetch: async (url, init) => {
      const [, what, id = ""] = new URL(url).pathname.split("/");
      if (what === "overview") return Response.json(overviewAt(server.connections.length === 1 ? 0 : 501));
      return what === "prompts" ? answer(id) : fetch(url, init);
    },
  });
  const hub = new Hub(client, AT_ONCE);
  const told: number[] = [];
  hub.onEvent(({ sequence }) => told.push(sequence));
  await eventually(() => expect(asked).toEqual(["old"]));

  server.connections[0]?.drop();
  await eventually(() => expect(told.at(-1)).toBe(602));
  expect(asked).toEqual(["old", "new"]);
  await eventually(() => {
    for (const resolve of answers.splice(0)) resolve();
    expect(hub.seen().world.prompts.size).toBe(2);
  });

  expect(asked).toEqual(["old", "new", "old", "new"]);
  expect([...hub.seen().world.prompts.values()].map((it) => it.status)).toEqual(["gone", "gone"]);
  hub.stream.close();
});
