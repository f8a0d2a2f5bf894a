import { createServer, type RequestListener } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/support/temporary.ts";
import { socketFetch } from "./socket-fetch.ts";

async function serve(listener: RequestListener): Promise<ReturnType<typeof socketFetch>> {
  const path = join(await temporaryDirectory(), "hub.sock");
  const server = createServer(listener);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return socketFetch(path);
}

test("[CLI-7] carries method, path, headers and body both ways", async () => {
  const fetch = await serve((request, response) => {
    void text(request).then((body) => {
      const { method, url, headers } = request;
      response.writeHead(201, { "x-answer": "yes", "set-cookie": ["a=1", "b=2"] });
      return response.end(JSON.stringify({ method, url, host: headers.host, given: headers["x-given"], body }));
    });
  });

  const response = await fetch("http://localhost/a%20b?c=d", {
    method: "POST",
    headers: { "x-given": "1" },
    body: "ü",
  });

  expect(response.status).toBe(201);
  expect([response.headers.get("x-answer"), response.headers.getSetCookie()]).toEqual(["yes", ["a=1", "b=2"]]);
  expect(await response.json()).toEqual({
    method: "POST",
    url: "/a%20b?c=d",
    host: "localhost",
    given: "1",
    body: "ü",
  });
});

test("[CLI-7] a body is there as it comes, and its abort reaches the hub", async () => {
  const gone = Promise.withResolvers<void>();
  const fetch = await serve((_request, response) => {
    response.write("first");
    response.once("close", gone.resolve);
  });
  const abort = new AbortController();

  const response = await fetch("http://localhost/", { signal: abort.signal });
  const reader = response.body?.getReader();
  const first = await reader?.read();
  const next = reader?.read();
  abort.abort();

  expect(new TextDecoder().decode(first?.value)).toBe("first");
  await expect(next).rejects.toThrow();
  await gone.promise;
});

test("[CLI-7] leaving a body ends the request", async () => {
  const gone = Promise.withResolvers<void>();
  const fetch = await serve((_request, response) => {
    response.write("first");
    response.once("close", gone.resolve);
  });

  const response = await fetch("http://localhost/");
  await response.body?.cancel();

  await gone.promise;
});

test("[CLI-7] an abort before the answer rejects with the caller's reason", async () => {
  const abort = new AbortController();
  const reason = new Error("enough");
  const fetch = await serve(() => abort.abort(reason));

  await expect(fetch("http://localhost/", { signal: abort.signal })).rejects.toBe(reason);
});

test("[CLI-7] a body that breaks off is an error", async () => {
  const fetch = await serve((_request, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("first", () => response.destroy());
  });

  const response = await fetch("http://localhost/");

  await expect(response.text()).rejects.toThrow();
});

test.each([204, 304])("[CLI-7] an answer %i has no body", async (status) => {
  const fetch = await serve((_request, response) => response.writeHead(status).end());

  const response = await fetch("http://localhost/");

  expect([response.status, response.body]).toEqual([status, null]);
});

test("[CLI-7] nobody listens", async () => {
  const path = join(await temporaryDirectory(), "hub.sock");

  await expect(socketFetch(path)("http://localhost/")).rejects.toMatchObject({ code: "ENOENT" });
});
