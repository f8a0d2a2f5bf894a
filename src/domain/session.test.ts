import fc from "fast-check";
import { expect, test } from "vitest";
import type { StoredEvent } from "./event.ts";
import {
  applySession,
  decideSession,
  type Session,
  type SessionBirth,
  type SessionCommand,
  type SessionStatus,
} from "./session.ts";

const birth: SessionBirth = {
  sessionId: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff",
  kind: "terminal",
  workspaceId: "default",
  hostId: "local",
  interactive: false,
  containment: "open",
  title: "terminal",
};
const at = "2026-01-02T03:04:05.678Z";

function inStatus(status: SessionStatus): Session {
  return { ...birth, status, controllerId: null, createdAt: at, updatedAt: at };
}

function statusEvent(payload: StoredEvent["payload"], timestamp = at): StoredEvent {
  return {
    type: "status",
    payload,
    source: { kind: "person", id: "ann" },
    sequence: 1,
    sessionId: birth.sessionId,
    timestamp,
  };
}

test.each<[SessionStatus, SessionCommand, SessionStatus | "refused"]>([
  ["created", { type: "activate" }, "active"],
  ["created", { type: "pause" }, "refused"],
  ["created", { type: "resume" }, "refused"],
  ["created", { type: "close", reason: "closed" }, "closed"],
  ["active", { type: "activate" }, "refused"],
  ["active", { type: "pause" }, "paused"],
  ["active", { type: "resume" }, "refused"],
  ["active", { type: "close", reason: "closed" }, "closed"],
  ["paused", { type: "activate" }, "refused"],
  ["paused", { type: "pause" }, "refused"],
  ["paused", { type: "resume" }, "active"],
  ["paused", { type: "close", reason: "closed" }, "closed"],
  ["closed", { type: "activate" }, "refused"],
  ["closed", { type: "pause" }, "refused"],
  ["closed", { type: "resume" }, "refused"],
  ["closed", { type: "close", reason: "closed" }, "refused"],
  ["closed", { type: "create", birth }, "refused"],
  ["active", { type: "create", birth }, "refused"],
])("[SES-1] %s: %o leads to %s", (status, command, expected) => {
  const decision = decideSession(inStatus(status), command);

  expect(decision.ok ? decision.payload.status : "refused").toBe(expected);
  if (!decision.ok) expect(decision.from).toBe(status);
});

test("[SES-1] only creation is possible before a session exists", () => {
  expect(decideSession(undefined, { type: "pause" })).toEqual({
    ok: false,
    refusal: "invalid_transition",
    from: "none",
  });
  expect(decideSession(undefined, { type: "create", birth })).toEqual({
    ok: true,
    payload: { status: "created", session: birth },
  });
});

test("[SES-3] a status event says where the session came from and why it closed", () => {
  expect(decideSession(inStatus("paused"), { type: "close", reason: "reset" })).toEqual({
    ok: true,
    payload: { status: "closed", previous: "paused", reason: "reset" },
  });
});

test("[SES-4] folding the events of a life gives its state", () => {
  const life = [
    statusEvent({ status: "created", session: { ...birth } }),
    statusEvent({ status: "active", previous: "created" }, "2026-01-02T03:04:06.000Z"),
    statusEvent({ status: "closed", previous: "active", reason: "exited" }, "2026-01-02T03:04:07.000Z"),
  ];

  expect(life.reduce<Session | undefined>(applySession, undefined)).toEqual({
    ...birth,
    status: "closed",
    controllerId: null,
    createdAt: at,
    updatedAt: "2026-01-02T03:04:07.000Z",
    reason: "exited",
  });
});

test("[SES-4] folding never throws, whatever the payload", () => {
  fc.assert(
    fc.property(
      fc.array(fc.dictionary(fc.constantFrom("status", "session", "reason", "x"), fc.jsonValue())),
      (payloads) => {
        payloads.map((payload) => statusEvent(payload as never)).reduce<Session | undefined>(applySession, undefined);
      },
    ),
  );
});
