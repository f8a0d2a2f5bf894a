/**
 * Between the hub and a host: one protocol over a unix socket here and a WebSocket elsewhere. A message is a JSON
 * header and, for some, a body of bytes. Requests of the hub carry `id` and are answered by one `REPLY`; what a session
 * does comes as frames in the gate's order. Names are seed 002's where it has them. Rules in docs/spec/host.md.
 */
import { z } from "zod";
import { INTENTS } from "../domain/control-state.ts";
import { CONTAINMENTS } from "../domain/containment.ts";
import { COMMAND_FORMS } from "../domain/session.ts";
import { AnyObject, Id } from "./common.ts";

export const LINK_VERSION = 1;
/** What a hub speaks: this version and the one before it, so that a host that still runs can be drained. */
export const LINK_VERSIONS: readonly number[] = [LINK_VERSION, LINK_VERSION - 1].filter((it) => it > 0);
/** Largest body of one message; longer ones come in parts (`more`). */
export const BODY_MAX = 65_536;
/** Room for a keyframe, whose escape characters take six bytes each in JSON. */
export const HEADER_MAX = 1024 * 1024;
/** Largest body of a request or an answer, all parts together. */
export const PARTS_MAX = 16 * 1024 * 1024;
/** Whoever reads nothing must not fill the other's memory with what it is told: beyond this its connection ends. */
export const LINK_UNREAD_MAX = 64 * 1024 * 1024;

/** The longest that a command may run. */
export const MAX_LIFETIME_MS = 24 * 60 * 60 * 1000;

/** Of the WebSocket over which a host elsewhere is reached, at this path. */
export const LINK_SUBPROTOCOL = "sidestick-link.1";
export const LINK_PATH = "/hosts/link";
export const ENROL_PATH = "/hosts/enroll";
/** Largest WebSocket message. Where one ends says nothing: they carry one stream of bytes. */
export const LINK_CHUNK_MAX = 1024 * 1024;
/** In the answer to the upgrade: which hub this is. */
export const HUB_HEADER = "sidestick-hub";

export const LINK_HEARTBEAT_MS = 2_000;
export const LINK_DEAD_AFTER_MS = 10_000;

/** `replaced`: a newer hub came. `version`: no common one. `framing`: where messages begin can't be known any more. */
const LINK_ERRORS = ["malformed", "framing", "version", "replaced"] as const;

const actor = z.object({ kind: z.enum(["person", "agent", "host", "system"]), id: z.string() });
const count = z.int().min(0);
/** Of the year 9999: the last that can be written as a date and still be added to. */
const LAST_INSTANT_MS = 253_402_300_799_999;
const side = z.int().min(1).max(1000);
const request = z.object({ id: count, session_id: Id });
/** What the gate compares before anything reaches the device. */
const gated = request.extend({ by: actor, epoch: count.optional(), number: count });

/** People read it in lists, so nothing that a terminal would obey. */
const shown = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{C}\p{Zl}\p{Zp}]*$/u, "must not hold control or invisible characters");

const paths = z.array(z.string().min(1).max(4096)).max(200);

/** What a workspace adds to the guard's own rules. A path begins with `/` or `~/`. */
export const GuardTerms = z.object({
  hidden: paths.optional(),
  /** Of what is hidden by default. */
  shown: paths.optional(),
  read_only: paths.optional(),
  writable: paths.optional(),
  network: z.boolean().optional(),
});
export type GuardTerms = z.infer<typeof GuardTerms>;

/** `missing`: layers that this machine can't give, by name; with `available: false` why there is no guard at all. */
export const GuardAbility = z.object({
  available: z.boolean(),
  missing: z.array(z.object({ layer: shown(100), reason: shown(1000), remedy: shown(1000).optional() })).max(50),
  /** Inside, `sudo` and its like work. Absent: they don't. */
  gains_rights: z.boolean().optional(),
});
export type GuardAbility = z.infer<typeof GuardAbility>;

/** What a machine is. */
export const HostFacts = z.object({
  os: shown(200),
  arch: shown(40),
  /** Paths. */
  shells: z.array(shown(4096)).max(50),
  /** Of Sidestick there. */
  version: shown(40),
});
export type HostFacts = z.infer<typeof HostFacts>;

const agent = actor.extend({ kind: z.literal("agent") });
const person = actor.extend({ kind: z.literal("person") });
const leaseSeconds = z.number().positive().max(3600);

export const ControlChange = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("grant"),
    by: person,
    /** Null: the first agent that acts. */
    agentId: z.string().nullable(),
    leaseSeconds,
    note: z.string().optional(),
    expectedEpoch: count.optional(),
    attend: z.boolean(),
  }),
  z.object({ type: z.literal("renew"), by: agent, epoch: count.optional(), leaseSeconds: leaseSeconds.optional() }),
  z.object({ type: z.literal("take"), by: person }),
  z.object({ type: z.literal("release"), by: actor, note: z.string().optional() }),
  z.object({ type: z.literal("request"), by: agent, reason: z.string() }),
  z.object({ type: z.literal("decline"), by: person, agentId: z.string().optional() }),
  z.object({
    type: z.literal("intent"),
    by: person,
    intent: z.enum(INTENTS),
    /** With STOP_NOW: what is killed. */
    scope: z.enum(["agent", "all"]).optional(),
  }),
  z.object({ type: z.literal("safe_point"), by: agent, step: z.string(), sequence: z.int() }),
  z.object({
    type: z.literal("attended"),
    attended: z.boolean(),
    /** How an agent that drives without a grant is dealt with; absent: revoked. */
    instead: z.literal("safe_interrupt").optional(),
  }),
  /** Of a hub that has come: revokes unless it knows the epoch. */
  z.object({ type: z.literal("reconnect"), knownEpoch: count.optional(), mayAcquire: z.boolean().optional() }),
  /** Whether agents take control by themselves from now on, where nobody attends. */
  z.object({ type: z.literal("rules"), mayAcquire: z.boolean() }),
]);
export type ControlChange = z.infer<typeof ControlChange>;

/** What of a command is resolved and hashed before a person approves it. */
export const Bindings = z.object({
  /** As named in the command: resolved as the shell would. */
  programs: z.array(z.string().max(4096)).max(100).readonly(),
  /** Files that it runs as scripts. */
  scripts: z.array(z.string().max(4096)).max(100).readonly(),
});
export type Bindings = z.infer<typeof Bindings>;

export const HubMessage = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("HELLO"),
    versions: z.array(z.int()),
    channel: z.enum(["data", "control"]),
    /** Differs for each run of a hub: its two connections belong together, another's replace them. */
    hub: z.string(),
  }),
  z.object({ type: z.literal("PING"), at: z.number() }),
  z.object({ type: z.literal("ACK"), session_id: Id, order: count }),
  request.extend({
    type: z.literal("START_INTERACTIVE_CMD"),
    cols: side,
    rows: side,
    /** Sessions of agents get quiet defaults (no pager). */
    for_agent: z.boolean(),
    cwd: z.string().optional(),
    shell: z.string().optional(),
    /** A person attends the session from its beginning. */
    attended: z.boolean().optional(),
    /** Where nobody attends, agents take control by themselves. Absent: yes. */
    agents_may_acquire: z.boolean().optional(),
    /** Absent: `open`. */
    containment: z.enum(CONTAINMENTS).optional(),
    /** With `user`: whose account. */
    user: z.string().optional(),
    guard: GuardTerms.optional(),
    /** It is for one command alone, which RUN_COMMAND gives it; `plain`: without a terminal. Absent: a shell's session. */
    command: z.enum(COMMAND_FORMS).optional(),
  }),
  /** Sends again every frame after `order`. */
  request.extend({ type: z.literal("ADOPT"), order: count }),
  /** Body: the bytes. */
  gated.extend({
    type: z.literal("SEND_INPUT"),
    class: z.enum(["drive", "assist"]),
    /** Key names, translated by the terminal's present modes; then there is no body. */
    keys: z.array(z.string()).optional(),
    if_prompt: z.string().optional(),
    /** Refuse with `shell_idle` at an idle shell prompt. */
    not_at_shell: z.boolean().optional(),
    /** Never to be recorded, whatever the terminal echoes. */
    secret: z.boolean().optional(),
    more: z.boolean().optional(),
  }),
  /** What a command would meet: asked in a turn of the gate, which gives the agent control as its command would. */
  gated.extend({
    type: z.literal("PREPARE"),
    cwd: z.string().optional(),
    ...Bindings.shape,
  }),
  /** Body: the command, UTF-8. `run_id` makes it an interactive run. */
  gated.extend({
    type: z.literal("RUN_BLOCK"),
    block_id: Id,
    run_id: Id.optional(),
    cwd: z.string().optional(),
    /** Runs only if everything is as it was when it was prepared. */
    bound: Bindings.extend({ digest: z.string() }).optional(),
    more: z.boolean().optional(),
  }),
  /** Of a session for one command. Body: the command, UTF-8. */
  gated.extend({
    type: z.literal("RUN_COMMAND"),
    block_id: Id,
    run_id: Id.optional(),
    /** From its beginning; then all of it is killed, whether a hub is there or not. */
    lifetime_ms: z.int().min(1).max(MAX_LIFETIME_MS),
    bound: Bindings.extend({ digest: z.string() }).optional(),
    more: z.boolean().optional(),
  }),
  /** Ends the interactive run: politely, then firmly; each step is an event. */
  gated.extend({ type: z.literal("END_RUN"), run_id: z.string().optional() }),
  /** Who has the stick: decided by the gate, answered with the state after it. Has the way of its own. */
  request.extend({
    type: z.literal("CONTROL"),
    command: ControlChange,
    /** By the hub's clock, in epoch milliseconds: people are told by it until when a lease lasts. Absent: by the host's. */
    at: z.number().min(0).max(LAST_INSTANT_MS).optional(),
  }),
  /** Kills what runs and starts the shell anew in the same session. */
  gated.extend({ type: z.literal("RESPAWN") }),
  request.extend({ type: z.literal("RESIZE"), by: actor, cols: side, rows: side }),
  request.extend({ type: z.literal("READ_SCREEN") }),
  request.extend({ type: z.literal("SNAPSHOT") }),
  request.extend({ type: z.literal("STATUS") }),
  /** What changed in the shell since it started: asked of the shell, in a turn of the gate. */
  request.extend({ type: z.literal("CHANGES") }),
  request.extend({ type: z.literal("TERMINATE_CMD") }),
  z.object({ type: z.literal("SHUTDOWN"), id: count, when: z.enum(["idle", "now"]) }),
]);
export type HubMessage = z.infer<typeof HubMessage>;

const frame = z.object({ session_id: Id, order: count, cursor: count });

export const HostMessage = z.discriminatedUnion("type", [
  z.object({
    type: z.literal("WELCOME"),
    version: z.int(),
    host_id: z.string().max(128),
    pid: z.int(),
    /** Differs for each run of the host program. */
    instance: z.string().max(128),
    sessions: z.array(Id),
    /** Of a host that knows guards. */
    guard: GuardAbility.optional(),
    /** Of a host elsewhere. */
    facts: HostFacts.optional(),
  }),
  z.object({ type: z.literal("PONG"), at: z.number() }),
  /** `ok: false` carries `code` and `detail`. The body, where there is one, may come in parts. */
  z.object({
    type: z.literal("REPLY"),
    id: count,
    ok: z.boolean(),
    code: z.string().optional(),
    detail: z.string().optional(),
    fields: AnyObject.optional(),
    more: z.boolean().optional(),
  }),
  /** Body: output bytes. */
  frame.extend({ type: z.literal("INTERACTIVE_OUTPUT") }),
  frame.extend({
    type: z.literal("SESSION_EVENT"),
    at: z.number(),
    /** Of a newer host it may be a type that this hub doesn't know. */
    event: z.string(),
    payload: AnyObject,
    by: actor.optional(),
  }),
  frame.extend({
    type: z.literal("INTERACTIVE_CMD_DONE"),
    at: z.number(),
    reason: shown(200),
    exit_code: z.int().optional(),
    signal: shown(40).optional(),
  }),
  /** The same of a `plain` command. Its output came as INTERACTIVE_OUTPUT; which of it is `stderr`, events told. */
  frame.extend({
    type: z.literal("COMMAND_RESULT"),
    at: z.number(),
    reason: shown(200),
    exit_code: z.int().optional(),
    signal: shown(40).optional(),
  }),
  /** `malformed`: what the other side sent makes no sense; it harmed nothing. The others end the connection. */
  z.object({ type: z.literal("ERROR"), code: z.enum(LINK_ERRORS), detail: z.string() }),
]);
export type HostMessage = z.infer<typeof HostMessage>;
export type Channel = Extract<HubMessage, { type: "HELLO" }>["channel"];

export type HubRequest = Extract<HubMessage, { id: number }>;

const encoder = new TextEncoder();

/** `u32 rest · u32 header length · header (JSON, UTF-8) · body`, big-endian. */
export function encodeMessage(header: HubMessage | HostMessage, body?: Uint8Array): Uint8Array {
  const head = encodeHead(header, body?.length ?? 0);
  if (body === undefined) return head;
  const message = new Uint8Array(head.length + body.length);
  message.set(head);
  message.set(body, head.length);
  return message;
}

/** All of a message but its body, so that a large one need not be copied. */
export function encodeHead(header: HubMessage | HostMessage, bodyBytes: number): Uint8Array {
  const text = encoder.encode(JSON.stringify(header));
  const head = new Uint8Array(8 + text.length);
  const view = new DataView(head.buffer);
  view.setUint32(0, 4 + text.length + bodyBytes);
  view.setUint32(4, text.length);
  head.set(text, 8);
  return head;
}

/** At least one part, none longer than a body may be. */
export function bodyParts(body: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(body.length / BODY_MAX));
  return Array.from({ length: count }, (_, index) => body.subarray(index * BODY_MAX, (index + 1) * BODY_MAX));
}
