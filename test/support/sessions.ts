/** Sessions of a test hub, over plain HTTP. */
import { expect } from "vitest";
import type { WorkspaceEvent } from "../../src/protocol/events.ts";
import type { WorkspaceSession } from "../../src/protocol/sessions.ts";
import type { TestHub } from "./hub.ts";
import { type Answer, ask, verdict } from "./http.ts";

export async function create(hub: TestHub, body: object = {}, token = hub.operatorToken): Promise<WorkspaceSession> {
  const answer = await ask(hub.url, { method: "POST", path: "/sessions", token, body: { kind: "terminal", ...body } });
  expect(verdict(answer)).toBe("201");
  return answer.body as WorkspaceSession;
}

export function post(hub: TestHub, path: string, token: string, body?: object): Promise<Answer> {
  return ask(hub.url, { method: "POST", path, token, body });
}

export async function events(hub: TestHub, sessionId: string): Promise<WorkspaceEvent[]> {
  const { body } = await ask(hub.url, { path: `/events?sessionId=${sessionId}`, token: hub.operatorToken });
  return body as WorkspaceEvent[];
}

export async function status(hub: TestHub, sessionId: string): Promise<string> {
  return (await ask(hub.url, { path: `/sessions/${sessionId}`, token: hub.operatorToken })).body.status;
}
