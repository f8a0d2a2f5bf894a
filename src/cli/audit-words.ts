/**
 * An audit line for people: who did what, and where. What repeats the state after it, says nothing or is for programs is
 * left out; `--json` has all of it. Rule AUD-15 in docs/spec/audit.md.
 */
import { parseObject } from "../domain/audit-chain.ts";
import { HUB_STREAM, type Json, type JsonObject, WORKSPACE_STREAM } from "../domain/event.ts";
import { printable } from "./printable.ts";
import { changedSettings } from "./settings-words.ts";

const HIDDEN = new Set(
  (
    "payload_sha256 chain position cursor epoch expected_epoch interactive attended held user_intent agent_status " +
    "lease_expiry session_id host_id chain_id kill_scope killed_count context_hash timeout_ms expires_at approved " +
    "payload_cursor payload_position began_at seq policy_version"
  ).split(" "),
);
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HUB_STREAMS = new Set([HUB_STREAM, WORKSPACE_STREAM]);

export function auditWords(line: string): string {
  const { session_id, timestamp, sequence, type, by, ...rest } = parseObject(line);
  if (sequence === undefined) return printable(line);
  const isHub = typeof session_id === "string" && HUB_STREAMS.has(session_id);
  const session = isHub ? "hub" : wordOf(session_id);
  const head = [wordOf(sequence), wordOf(timestamp), session.padEnd(8), wordOf(type), wordOf(by)];
  return printable([...head, ...fieldsOf(rest)].join("  "));
}

function wordOf(value: Json | undefined): string {
  if (typeof value === "string") return UUID.test(value) ? value.slice(0, 8) : value;
  const { kind, id, ...more } = isObject(value) ? value : {};
  const isActor = typeof kind === "string" && typeof id === "string" && Object.keys(more).length === 0;
  return isActor ? `${kind}:${id}` : JSON.stringify(value ?? null);
}

function fieldsOf(fields: JsonObject): readonly string[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    if (HIDDEN.has(name) || isEmpty(value)) return [];
    if (name === "settings" && isObject(value)) return changedSettings(value);
    if (name === "session" && isObject(value)) return fieldsOf(value);
    // Of an approval: what would be done; why and how stands in `approvals get`.
    if (name === "payload" && isObject(value) && typeof value["command"] === "string") {
      return [`command=${wordOf(value["command"])}`];
    }
    return [`${name}=${wordOf(value)}`];
  });
}

function isEmpty(value: Json | undefined): boolean {
  return value === null || value === "" || value === false || (Array.isArray(value) && value.length === 0);
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
