import { hash } from "node:crypto";
import { expect, test } from "vitest";
import {
  auditLine,
  type ChainedEvent,
  checkpointBody,
  eventBody,
  firstCheckpoint,
  linkTo,
  readCheckpoint,
  splitLine,
} from "./audit-chain.ts";

const sha256 = (text: string): string => hash("sha256", text, "hex");

const event: ChainedEvent = {
  sequence: 7,
  sessionId: "11111111-1111-4111-8111-111111111111",
  type: "control_handoff",
  timestamp: "2030-01-01T00:00:00.000Z",
  source: { kind: "person", id: "ann" },
  position: 3,
  cursor: 90,
  payload: '{"controlMode":"USER","reason":"taken","sequence":1,"survivors":[{"exitCode":null}]}',
};

test("[AUD-1, AUD-2] a line has the event's fields in snake_case, the payload's beside them and its hash", () => {
  expect(JSON.parse(auditLine(eventBody(event, sha256), "c".repeat(64)))).toEqual({
    session_id: event.sessionId,
    timestamp: event.timestamp,
    sequence: 7,
    type: "control_handoff",
    by: { kind: "person", id: "ann" },
    position: 3,
    cursor: 90,
    control_mode: "USER",
    reason: "taken",
    payload_sequence: 1,
    survivors: [{ exit_code: null }],
    payload_sha256: sha256(event.payload),
    chain: "c".repeat(64),
  });
});

test("[AUD-2] what approval was asked for stays as it was given", () => {
  const payload = '{"requestId":"r","payload":{"filePath":"/a"}}';
  expect(JSON.parse(eventBody({ ...event, payload }, sha256))).toMatchObject({
    request_id: "r",
    payload: { filePath: "/a" },
  });
});

test.each<Partial<ChainedEvent>>([
  { sequence: 8 },
  { sessionId: "22222222-2222-4222-8222-222222222222" },
  { type: "intent" },
  { timestamp: "2030-01-01T00:00:00.001Z" },
  { source: { kind: "agent", id: "ann" } },
  { source: { kind: "person", id: "bob" } },
  { position: 4 },
  { cursor: 91 },
  { payload: event.payload.replace("controlMode", "control_mode") },
  { payload: event.payload.replace(",", ", ") },
  { payload: "no JSON" },
])("[AUD-1] the digest covers %j", (change) => {
  const before = linkTo("", eventBody(event, sha256), sha256);

  expect(linkTo("", eventBody({ ...event, ...change }, sha256), sha256).digest).not.toBe(before.digest);
});

test("[AUD-1] a link is the hash of the link before it and of the line without it", () => {
  const body = eventBody(event, sha256);
  const { digest, chain } = linkTo("a".repeat(64), body, sha256);

  expect({ digest, chain }).toEqual({ digest: sha256(body), chain: sha256("a".repeat(64) + sha256(body)) });
  expect(splitLine(auditLine(body, chain))).toEqual({ body, chain });
  expect(splitLine(`${auditLine(body, chain)} `)).toBeUndefined();
});

test("[AUD-3] a checkpoint is read only from the bytes that were written", () => {
  const timestamp = "2030-01-01T00:00:00.000Z";
  const first = firstCheckpoint({ chainId: "one", reason: "begun", timestamp });
  const body = checkpointBody(first);

  expect(readCheckpoint(body)).toEqual(first);
  expect(
    [body.replace('"kept":0', '"kept": 0'), body.replace("}", ',"more":1}'), "{}", ""].map(readCheckpoint),
  ).toEqual([undefined, undefined, undefined, undefined]);
});
