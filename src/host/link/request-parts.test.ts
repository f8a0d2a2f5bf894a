import { expect, test } from "vitest";
import { BODY_MAX, type HubRequest } from "../../protocol/link.ts";
import { RequestParts } from "./request-parts.ts";

const by = { kind: "person", id: "eve" } as const;

function input(id: number, more?: true): HubRequest {
  const request = { type: "SEND_INPUT", id, session_id: "s", by, number: 1, class: "drive" } as const;
  return more === undefined ? request : { ...request, more };
}

test("[RML-22, RML-23] requests that a hub begins and doesn't finish are bounded together", () => {
  const parts = new RequestParts(() => expect.fail("no flood"));
  const part = new Uint8Array(BODY_MAX);
  for (let id = 1; id <= 3; id += 1) for (let sent = 0; sent < 200; sent += 1) parts.add(input(id, true), part);

  const first = parts.add(input(1), part);

  expect(first?.body.length).toBe(201 * BODY_MAX);
  expect(() => parts.add(input(3), part)).toThrow("too large");
});

test("[RML-22, RML-23] more of them than can be kept apart are the connection's end, and none passes for whole", () => {
  let floods = 0;
  const parts = new RequestParts(() => (floods += 1));
  const begun = Array.from({ length: 65 }, (_, id) => parts.add(input(id, true), new Uint8Array(1)));

  expect(begun).toEqual(begun.map(() => undefined));
  expect(floods).toBe(1);
});
