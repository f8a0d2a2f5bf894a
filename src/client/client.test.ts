import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test, vi } from "vitest";
import { AppError, problemOf } from "../protocol/errors.ts";
import { operation, operationNames } from "../protocol/operations.ts";
import { SidestickClient } from "./client.ts";
import { HubUnreachable } from "./unreachable.ts";

const sessionId = "0199a1b2-0000-7000-8000-000000000001";
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

type Seen = { method: string | undefined; url: string | undefined; headers: IncomingMessage["headers"]; body: string };

/** Answers everything with `{}` and keeps what came. */
async function serveRecorder(): Promise<{ url: string; seen: Seen[] }> {
  const seen: Seen[] = [];
  const url = await serve((request, response) => {
    void text(request).then((body) => {
      seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      return response.setHeader("content-type", "application/json").end("{}");
    });
  });
  return { url, seen };
}

test("[SDK-1] every operation that answers once is a method, except those of the stream", async () => {
  const { url } = await serveRecorder();

  const client = new SidestickClient({ url, token: "t" });

  const groups = client as unknown as Record<string, Record<string, unknown>>;
  const methods = operationNames.filter((name) => {
    const [group = "", verb = ""] = name.split(".");
    return typeof groups[group]?.[verb] === "function";
  });
  const expected = operationNames.filter((name) => operation(name).kind === "call" && !name.startsWith("stream."));
  expect(methods).toEqual(expected);
});

test("[SDK-1, SDK-3] a method and its call send the same", async () => {
  const { url, seen } = await serveRecorder();
  const client = new SidestickClient({ url, token: "t" });

  await client.session.create({ kind: "terminal" });
  await client.call("session.create", { kind: "terminal" });

  expect(seen[0]).toMatchObject({ method: "POST", url: "/sessions", body: '{"kind":"terminal"}' });
  expect(seen[1]?.body).toEqual(seen[0]?.body);
});

test("[SDK-1] a hub below a path is reached there", async () => {
  const { url, seen } = await serveRecorder();

  await new SidestickClient({ url: `${url}/below/` }).event.list({ after: 3 });

  expect(seen[0]?.url).toBe("/below/events?after=3");
});

test("[SDK-7, SDK-8] with a token: bearer, no cookie's header, the key as given", async () => {
  const { url, seen } = await serveRecorder();

  await new SidestickClient({ url, token: "secret" }).session.close({ sessionId }, { idempotencyKey: "k1" });

  const {
    authorization,
    "sidestick-csrf": csrf,
    "idempotency-key": key,
    "content-type": type,
  } = seen[0]?.headers ?? {};
  expect({ authorization, csrf, key, type }).toEqual({
    authorization: "Bearer secret",
    csrf: undefined,
    key: "k1",
    type: "application/json",
  });
});

test("[SDK-7] without a token: same-origin credentials, and beside them the key of the page", async () => {
  const inits: RequestInit[] = [];
  const fetch = (_url: string, init: RequestInit): Promise<Response> => {
    inits.push(init);
    return Promise.resolve(Response.json([]));
  };
  const client = new SidestickClient({ url: "http://hub.test", fetch, pageKey: () => "page" });

  await client.session.list();
  await client.hub.reset();

  const sent = inits.map(({ credentials, headers }) => ({
    credentials,
    csrf: new Headers(headers).get("sidestick-csrf"),
  }));
  expect(sent).toEqual([
    { credentials: "same-origin", csrf: "page" },
    { credentials: "same-origin", csrf: "page" },
  ]);
});

test.each([
  new AppError("not_found", { what: "session", id: sessionId }),
  new AppError("approval_pending", { requestId: sessionId }),
  new AppError("approval_decided", { resolvedBy: "ann" }),
  new AppError("cursor_expired", { oldest: 12 }),
])("[SDK-4] $code keeps its code, status and fields", async (refusal) => {
  const problem = problemOf(refusal);
  const url = await serve((_request, response) => {
    response.writeHead(problem.status, { "content-type": "application/problem+json" }).end(JSON.stringify(problem));
  });

  const call = new SidestickClient({ url }).session.get({ sessionId });
  const caught: unknown = await call.catch((it: unknown) => it);

  expect(caught).toBeInstanceOf(AppError);
  expect(problemOf(caught as AppError)).toEqual(problem);
});

test.each([
  { status: 401, code: "unauthenticated" },
  { status: 403, code: "forbidden" },
  { status: 404, code: "not_found" },
  { status: 413, code: "too_large" },
  { status: 429, code: "limit_reached" },
  { status: 502, code: "internal" },
])("[SDK-4] a proxy's bare $status is $code", async ({ status, code }) => {
  const url = await serve((_request, response) => response.writeHead(status).end("<h1>no</h1>"));

  const call = new SidestickClient({ url }).hub.whoami();

  await expect(call).rejects.toMatchObject({ code, status, message: `The hub answered ${status}` });
});

test("[SDK-4] something else than a hub is named as that", async () => {
  const url = await serve((_request, response) => response.end("<h1>It works!</h1>"));

  await expect(new SidestickClient({ url }).hub.whoami()).rejects.toThrow(
    `What answers at ${url} is not a Sidestick hub`,
  );
});

test("[SDK-5] nobody listens", async () => {
  const url = await serve(() => undefined);
  await new Promise((resolve) => servers.pop()?.close(resolve));

  const error: unknown = await new SidestickClient({ url }).hub.whoami().catch((error: unknown) => error);

  expect(error).toBeInstanceOf(HubUnreachable);
  expect((error as Error).cause).toBeInstanceOf(Error);
});

test("[SDK-5, SDK-8] an answer that breaks off is no answer, and the call isn't repeated", async () => {
  let calls = 0;
  const url = await serve((_request, response) => {
    calls += 1;
    response.writeHead(201, { "content-type": "application/json", "content-length": 100 });
    response.write('{"sessionId":', () => response.destroy());
  });

  const call = new SidestickClient({ url }).session.create({ kind: "terminal" });

  await expect(call).rejects.toBeInstanceOf(HubUnreachable);
  expect(calls).toBe(1);
});

test("[SDK-5] a hub that is silent beyond the operation's budget is no answer", async () => {
  const deadline = new AbortController();
  const timeout = vi.spyOn(AbortSignal, "timeout").mockReturnValue(deadline.signal);
  const url = await serve(() => deadline.abort(new DOMException("late", "TimeoutError")));

  const call = new SidestickClient({ url }).session.list();

  await expect(call).rejects.toMatchObject({ name: "HubUnreachable", cause: { name: "TimeoutError" } });
  expect(timeout).toHaveBeenCalledWith(operation("session.list").budgetMs + 5_000);
  timeout.mockRestore();
});

test("[SDK-5] a redirect is not followed", async () => {
  const url = await serve((_request, response) => response.writeHead(302, { location: "/elsewhere" }).end());

  await expect(new SidestickClient({ url }).hub.reset()).rejects.toBeInstanceOf(HubUnreachable);
});

test("[SDK-6] an abort rejects with the caller's reason", async () => {
  const abort = new AbortController();
  const reason = new Error("enough");
  const url = await serve(() => abort.abort(reason));

  const call = new SidestickClient({ url }).event.list({ waitMs: 45_000 }, { signal: abort.signal });

  await expect(call).rejects.toBe(reason);
});
