/** Who drives a session: seeing it, and handing it over. Rule CTL-38 in docs/spec/control.md. */
import type { SidestickClient } from "../../client/sidestick.ts";
import { defineCommand } from "../command.ts";
import { attachTo, refuseWithoutTerminal } from "./attach.ts";
import { type Control, controlFields, changeWords, driverWords } from "../control-words.ts";
import { EXIT, UsageError } from "../exit.ts";
import { untilInterrupted } from "../interruption.ts";
import { timeoutMs } from "../options.ts";
import { outageTeller } from "../outage.ts";
import { printable, printableJson } from "../printable.ts";
import { shellChangeLines } from "../shell-change-words.ts";
import { sessionOf } from "../terminals.ts";
import type { Terminal } from "../terminal.ts";

const TAKES = ["<session|conversation>"] as const;
const FOLLOWED = ["control_handoff", "intent", "safe_point", "receipt", "status"] as const;
const LEASE_MAX_SECONDS = 3600;
const DEFAULT_LEASE = "10m";

export const control = defineCommand({
  name: "control",
  summary: "Say who drives a session, for how long, and who asks",
  takes: TAKES,
  options: {
    follow: { type: "boolean", help: "go on with each change, until Ctrl+C or the session's end" },
    changes: { type: "boolean", help: "instead: what changed in its shell since it started; 1 if that can't be known" },
  },
  examples: ["sidestick control build", "sidestick control build --follow", "sidestick control build --changes"],
  run: async ({ client, values, given, terminal }) => {
    if (values.changes === true && values.follow === true) {
      throw new UsageError("--changes is told once, --follow goes on: leave one out.");
    }
    if (values.changes === true) return tellChanges({ client, terminal, isJson: values.json === true }, given[0] ?? "");
    // Before the state is read: a change between the two is then told twice rather than never.
    const { eventCursor } = await client.snapshot.get();
    const sessionId = await sessionOf(client, given[0] ?? "");
    const state = await client.control.get({ sessionId });
    const isJson = values.json === true;
    if (values.follow === true) return follow({ client, terminal, isJson }, state, eventCursor);
    if (isJson) terminal.printJson(state);
    else terminal.printFields(controlFields(state));
    return EXIT.ok;
  },
});

async function tellChanges({ client, terminal, isJson }: Follower, name: string): Promise<number> {
  const report = await client.control.changes({ sessionId: await sessionOf(client, name) });
  if (isJson) terminal.printJson(report);
  else for (const line of shellChangeLines(report, name)) terminal.print(printable(line));
  return report.trusted ? EXIT.ok : EXIT.failure;
}

type Follower = { readonly client: SidestickClient; readonly terminal: Terminal; readonly isJson: boolean };

async function follow({ client, terminal, isJson }: Follower, state: Control, after: number): Promise<number> {
  using interruption = untilInterrupted();
  const { signal } = interruption;
  if (!isJson) terminal.print(printable(`drives: ${driverWords(state)}`));
  const wanted = { sessionId: state.session_id, types: [...FOLLOWED], after, signal };
  for await (const item of client.events({ ...wanted, ...outageTeller(terminal) })) {
    if (item.type === "resync") continue;
    const { event } = item;
    const isOver = event.type === "status" && event.payload["status"] === "closed";
    const words = isOver ? "the session is over" : changeWords(event);
    if (isJson) terminal.print(printableJson(event));
    else if (words !== undefined) terminal.print(printable(`${event.timestamp}  ${words}`));
    await terminal.drained();
    if (isOver) return EXIT.ok;
  }
  return interruption.exitCode();
}

const LEASE = { type: "string", value: "TIME" } as const;
const AGENT = { type: "string", value: "ID", help: "this agent (default: the one that asks, else the session's own)" };
const NOTE = { type: "string", value: "TEXT", help: "what the agent should know" } as const;

export const grant = defineCommand({
  name: "grant",
  summary: "Give an agent control for a while; any key of yours takes it back",
  takes: TAKES,
  options: {
    lease: { ...LEASE, help: `for so long: 10m, or seconds; at most an hour (default: ${DEFAULT_LEASE})` },
    agent: { ...AGENT, type: "string" },
    note: NOTE,
  },
  examples: ["sidestick grant build", "sidestick grant build --lease 30m --agent my-agent --note 'only the tests'"],
  notes: [
    "From now on agents act in this session only when granted, until you say: sidestick release.\nWhere agents run as you and without a guard, that they keep to it is a promise: see SECURITY.md.",
  ],
  run: async ({ client, values, given, terminal }) => {
    const lease_seconds = leaseOf(values.lease ?? DEFAULT_LEASE);
    const sessionId = await sessionOf(client, given[0] ?? "");
    const { agent: agent_id, note } = values;
    const state = await client.control.grant({ sessionId, lease_seconds, agent_id, note, attend: true });
    await noteUnknownAgent(client, terminal, agent_id);
    return told(terminal, state, values.json);
  },
});

export const take = defineCommand({
  name: "take",
  summary: "Take control; programs run on, agents are refused until you grant or release",
  takes: TAKES,
  options: {
    fresh: {
      type: "boolean",
      help: "and open a new shell for you beside it, with nothing of the agent's but the directory",
    },
    attach: { type: "boolean", help: "with --fresh: use it here" },
  },
  examples: ["sidestick take build", "sidestick take build --fresh --attach"],
  run: async (invocation) => {
    const { client, values, given, terminal } = invocation;
    const { fresh = false } = values;
    if (values.attach === true && !fresh) throw new UsageError("--attach needs --fresh: the new shell is used here.");
    if (values.attach === true) refuseWithoutTerminal();
    const state = await client.control.take({ sessionId: await sessionOf(client, given[0] ?? ""), fresh });
    const { freshSessionId } = state;
    if (freshSessionId === undefined || values.json === true) return told(terminal, state, values.json);
    told(terminal, state, false);
    if (values.attach === true) return attachTo({ ...invocation, values: {} }, freshSessionId);
    terminal.print(`fresh: ${freshSessionId}`);
    terminal.note(`sidestick: Use it: sidestick attach ${freshSessionId.slice(0, 8)}`);
    return EXIT.ok;
  },
});

export const release = defineCommand({
  name: "release",
  summary: "Hand control back: to nobody, or with --lease to an agent",
  takes: TAKES,
  options: {
    lease: { ...LEASE, help: "to an agent, for so long: 10m, or seconds; at most an hour" },
    agent: { ...AGENT, type: "string" },
    note: NOTE,
  },
  examples: ["sidestick release build", "sidestick release build --lease 10m --note 'I fixed the config'"],
  notes: ["Without --lease an agent may act again by itself where nobody attends. It ends STOP_NOW, too."],
  run: async ({ client, values, given, terminal }) => {
    const { lease, agent: agent_id, note } = values;
    if (agent_id !== undefined && lease === undefined) throw new UsageError("--agent needs --lease: for how long?");
    const lease_seconds = lease === undefined ? undefined : leaseOf(lease);
    const sessionId = await sessionOf(client, given[0] ?? "");
    const state = await client.control.release({ sessionId, lease_seconds, agent_id, note });
    await noteUnknownAgent(client, terminal, agent_id);
    return told(terminal, state, values.json);
  },
});

export const decline = defineCommand({
  name: "decline",
  summary: "Say no to the agent that asks for control",
  takes: TAKES,
  examples: ["sidestick decline build"],
  run: async ({ client, values, given, terminal }) => {
    const sessionId = await sessionOf(client, given[0] ?? "");
    const before = await client.control.get({ sessionId });
    const asked = before.requested_by;
    if (asked === null) terminal.note("sidestick: Nobody asks for control there.");
    // Whoever asks in its place meanwhile asked somebody who has not read it.
    const state = asked === null ? before : await client.control.decline({ sessionId, agent_id: asked.agent_id });
    return told(terminal, state, values.json);
  },
});

export const request = defineCommand({
  name: "request",
  summary: "As an agent: ask a person for control, and wait for the answer",
  takes: TAKES,
  options: {
    reason: { type: "string", value: "TEXT", help: "why; the person reads it" },
    timeout: { type: "string", value: "S", help: "wait at most so long, or 5m (default: 30)" },
  },
  examples: ["sidestick request build --reason 'to run the tests again' --timeout 10m"],
  notes: ["Exit codes: 0 you have control, 124 nobody answered in time, 6 declined or taken, 130 Ctrl+C."],
  run: async ({ client, values, given, terminal }) => {
    if (values.reason === undefined) throw new UsageError("--reason is needed: the person reads it.");
    const limitMs = timeoutMs(values.timeout ?? "30", "--timeout");
    using interruption = untilInterrupted();
    const sessionId = await sessionOf(client, given[0] ?? "");
    const answer = await answered(client, { sessionId, reason: values.reason }, limitMs, interruption.signal);
    if (answer === undefined) return interruption.exitCode();
    const { outcome, state } = answer;
    if (values.json === true) terminal.printJson(state);
    else if (outcome === "granted") terminal.printFields(controlFields(state));
    if (outcome === "pending") terminal.note("sidestick: Not answered in time; it is still asked.");
    if (outcome === "declined") terminal.note("sidestick: Declined.");
    return OUTCOME_CODES[outcome];
  },
});

const OUTCOME_CODES = { granted: EXIT.ok, pending: EXIT.timeout, declined: EXIT.revoked } as const;
/** One wait takes a bounded time. */
const WAIT_MS = 40_000;

type Answer = { readonly outcome: keyof typeof OUTCOME_CODES; readonly state: Control };

/** Undefined: interrupted. */
async function answered(
  client: SidestickClient,
  asked: { readonly sessionId: string; readonly reason: string },
  limitMs: number,
  signal: AbortSignal,
): Promise<Answer | undefined> {
  const until = performance.now() + limitMs;
  const { sessionId } = asked;
  let state = await client.control.request(asked);
  const me = state.requested_by?.agent_id;
  // What is granted at once is not recorded as asked.
  if (me === undefined || state.requested_by?.reason !== asked.reason) return { outcome: "granted", state };
  while (state.requested_by?.agent_id === me) {
    const left = Math.round(until - performance.now());
    if (left <= 0) return { outcome: "pending", state };
    try {
      state = await client.control.wait({ sessionId, timeout_ms: Math.min(left, WAIT_MS) }, { signal });
    } catch (error) {
      if (signal.aborted) return undefined;
      throw error;
    }
    const isFree = state.control_mode === "USER" && state.holder === null && !state.interactive;
    if (isFree) state = await client.control.request(asked);
  }
  const isGranted = state.control_mode === "AGENT" && (state.holder === null || state.holder.id === me);
  return { outcome: isGranted ? "granted" : "declined", state };
}

/** The grant stands: a token of that name may come yet. */
async function noteUnknownAgent(client: SidestickClient, terminal: Terminal, agent: string | undefined): Promise<void> {
  if (agent === undefined) return;
  const tokens = await client.token.list();
  if (tokens.some((it) => it.role === "agent" && it.name === agent && it.revokedAt === undefined)) return;
  terminal.note(
    printable(`sidestick: No agent's token is named ${agent}. The grant stands; who there is: sidestick token list`),
  );
}

function told(terminal: Terminal, state: Control, json: boolean | undefined): number {
  if (json === true) terminal.printJson(state);
  else terminal.print(printable(`drives: ${driverWords(state)}`));
  if (state.warning !== undefined && json !== true) terminal.note(printable(`sidestick: ${state.warning}`));
  return EXIT.ok;
}

function leaseOf(value: string): number {
  const seconds = timeoutMs(value, "--lease") / 1000;
  if (seconds > 0 && seconds <= LEASE_MAX_SECONDS) return seconds;
  throw new UsageError(`--lease is "${value}", but should be more than 0 and at most an hour.`);
}
