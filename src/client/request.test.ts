import * as fc from "fast-check";
import { expect, test } from "vitest";
import { pathKeys } from "../protocol/operation.ts";
import { operation, operationNames } from "../protocol/operations.ts";
import { requestFor } from "./request.ts";

test.each([
  ["session.create", { kind: "terminal", title: "a" }, "POST", "/sessions", { kind: "terminal", title: "a" }],
  ["session.pause", { sessionId: "x" }, "POST", "/sessions/x/pause", {}],
  ["session.list", { status: undefined }, "GET", "/sessions", undefined],
  [
    "event.list",
    { after: 0, types: ["stdout", "status"], limit: 5 },
    "GET",
    "/events?after=0&types=stdout%2Cstatus&limit=5",
    undefined,
  ],
  ["workspace.put", { workspaceId: "w", hostId: "h" }, "PUT", "/workspaces/w", { hostId: "h" }],
] as const)("[SDK-3] %s(%o) is %s %s", (...[name, input, method, target, body]) => {
  const request = requestFor(operation(name), input);

  expect(request).toEqual({ method, target, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
});

test.each(operationNames)("[SDK-2, SDK-3] %s keeps its path, whatever its ids hold", (name) => {
  const { path, method } = operation(name);
  const id = fc
    .string({ unit: "binary", minLength: 1 })
    .filter((text) => ![".", ".."].includes(text) && text.isWellFormed());
  fc.assert(
    fc.property(id, (id) => {
      const input = { ...Object.fromEntries(pathKeys(path).map((key) => [key, id])), other: [id, "b"] };

      const { target, body } = requestFor(operation(name), input);

      const url = new URL(target, "http://hub");
      const expected = path.split("/").map((part) => (part.startsWith("{") ? id : part));
      expect(url.pathname.split("/").map(decodeURIComponent)).toEqual(expected);
      const rest = method === "GET" ? Object.fromEntries(url.searchParams) : (JSON.parse(body ?? "") as unknown);
      expect(rest).toEqual({ other: method === "GET" ? `${id},b` : [id, "b"] });
    }),
    { numRuns: 30 },
  );
});

test.each([{}, { sessionId: "" }, { sessionId: "." }, { sessionId: ".." }, { sessionId: 7 }, { sessionId: "\ud800" }])(
  "[SDK-2] %o is no session",
  (input) => {
    expect(() => requestFor(operation("session.get"), input)).toThrow("sessionId is missing or is not an id");
  },
);
