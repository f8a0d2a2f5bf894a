import { setTimeout as sleep } from "node:timers/promises";
import {
  HubUnreachable,
  type Input,
  type Output,
  type SidestickClient,
  type WorkspaceSession,
} from "../../client/sidestick.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { untilInterrupted } from "../interruption.ts";
import { timeoutMs, wholeNumber } from "../options.ts";
import { printable, printableText } from "../printable.ts";
import { ownerOf, terminalOf } from "../terminals.ts";
import type { Terminal } from "../terminal.ts";

type Condition = NonNullable<Input<"pty.wait_for">["conditions"]>[number];
type Answer = Output<"pty.wait_for">;

const DEFAULT_MS = 30_000;
const RETRY_MS = 500;

export const wait = defineCommand({
  name: "wait",
  summary: "Wait until a terminal shows or does what you need; several conditions: the first wins",
  takes: ["<conversation>"],
  options: {
    match: { type: "string", value: "TEXT", multiple: true, help: "this text in the output" },
    regex: { type: "string", value: "RE", multiple: true, help: "this pattern (re2) in a line of the output" },
    screen: { type: "string", value: "TEXT", multiple: true, help: "this text on the screen, as a person sees it" },
    prompt: { type: "boolean", help: "the shell is ready: the command is over" },
    eof: { type: "boolean", help: "the interactive run, or the terminal, is over" },
    input: { type: "boolean", help: "the program waits for input" },
    idle: { type: "string", value: "MS", help: "no output for so many milliseconds" },
    "from-cursor": {
      type: "string",
      value: "N",
      help: "search from this byte (default: where the last command began)",
    },
    "from-position": {
      type: "string",
      value: "N",
      help: "for states: only after this position (default: your last input)",
    },
    timeout: { type: "string", value: "S", help: "at most so many seconds, or 5m (default: 30)" },
  },
  examples: [
    "sidestick wait build --prompt --timeout 10m",
    "sidestick wait py --match '>>> ' --from-cursor 120",
    "sidestick wait setup --input --match 'error:' --json",
  ],
  notes: [
    "Exit codes: 0 matched, 124 not in time, 5 the terminal is over, 6 control was taken away, 130 Ctrl+C.\n--json has `cursor` and `position`, where the next wait goes on.",
  ],
  run: async ({ client, values, given: [name = ""], terminal }) => {
    const given = conditionsOf(values);
    const limitMs = values.timeout === undefined ? DEFAULT_MS : timeoutMs(values.timeout, "--timeout");
    const from_cursor = optionalNumber(values["from-cursor"], "--from-cursor");
    const from_position = optionalNumber(values["from-position"], "--from-position");
    using interruption = untilInterrupted();
    const session = await terminalOf(client, name);
    const isPlaced = from_cursor !== undefined || from_position !== undefined;
    const conditions = session.status === "closed" && !isPlaced ? given.filter(mayBeHistory) : given;
    if (conditions.length === 0) return tellOver(terminal, session, values);
    const asked = { conversation_id: ownerOf(session), conditions, from_cursor, from_position };
    const answer = await waitOn({ client, asked, limitMs, terminal, signal: interruption.signal });
    if (answer === undefined) return interruption.exitCode();
    const condition = answer.which === undefined ? undefined : conditions[answer.which];
    if (values.json === true) terminal.printJson(condition === undefined ? answer : { ...answer, condition });
    else if (answer.matched) terminal.print(printableText(wordsOf(answer, condition)));
    else if (answer.reason === "closed") {
      return tellOver(terminal, await client.session.get({ sessionId: session.sessionId }), values);
    } else terminal.note(`sidestick: ${REASONS[answer.reason]}`);
    return CODES[answer.reason];
  },
});

/** What a terminal said can still be looked for; a state that it will never be in again can't. */
function mayBeHistory({ match, match_type }: Condition): boolean {
  return match_type !== "token" || match === "EOF";
}

function tellOver(
  terminal: Terminal,
  { sessionId, reason = "closed" }: WorkspaceSession,
  { json = false }: { readonly json?: boolean },
): number {
  const answer = { ok: true, workspace_session_id: sessionId, matched: false, reason: "closed" };
  if (json) terminal.printJson(answer);
  else terminal.note(printable(`sidestick: The terminal is over (${reason}).`));
  return EXIT.over;
}

type Waiting = {
  readonly client: SidestickClient;
  readonly asked: Input<"pty.wait_for">;
  readonly limitMs: number;
  readonly terminal: Terminal;
  readonly signal: AbortSignal;
};

/** Goes on over `pending` and over restarts of the hub, from where the answer before says. Undefined: interrupted. */
async function waitOn({ client, asked, limitMs, terminal, signal }: Waiting): Promise<Answer | undefined> {
  const until = performance.now() + limitMs;
  let [next, isKnown, isAway] = [asked, false, false];
  for (;;) {
    const timeout_ms = Math.max(0, Math.round(until - performance.now()));
    try {
      const answer = await client.pty.wait_for({ ...next, timeout_ms }, { signal });
      if (isAway) terminal.note("The hub is back.");
      if (answer.reason !== "pending") return answer;
      [isKnown, isAway] = [true, false];
      next = { ...asked, from_cursor: answer.cursor, from_position: answer.position };
    } catch (error) {
      if (signal.aborted) return undefined;
      // A hub that was never there is an error; one that went away may come back.
      const mayReturn = error instanceof HubUnreachable && (isKnown || isAway || wasBrokenOff(error));
      if (!mayReturn || timeout_ms === 0) throw error;
      if (!isAway) terminal.note("The hub is away; waiting for it …");
      isAway = true;
      await sleep(Math.min(RETRY_MS, timeout_ms), undefined, { signal }).catch(() => undefined);
    }
  }
}

/** It was there, for it had taken the question. */
function wasBrokenOff(error: HubUnreachable): boolean {
  const { code } = (error.cause ?? {}) as NodeJS.ErrnoException;
  return code === "ECONNRESET" || code === "EPIPE";
}

type Values = {
  readonly [name in "match" | "regex" | "screen"]?: readonly string[] | undefined;
} & { readonly [name in "prompt" | "eof" | "input"]?: boolean | undefined } & { readonly idle?: string | undefined };

function conditionsOf(values: Values): Condition[] {
  const { match = [], regex = [], screen = [], idle } = values;
  const tokens = (["prompt", "eof", "input"] as const).filter((name) => values[name] === true);
  const found: Condition[] = [
    ...match.map((text) => ({ match: text, match_type: "substring" as const })),
    ...regex.map((pattern) => ({ match: pattern, match_type: "regex" as const })),
    ...screen.map((text) => ({ match: text, match_type: "screen" as const })),
    ...tokens.map((name) => ({ match: name.toUpperCase(), match_type: "token" as const })),
    ...(idle === undefined
      ? []
      : [{ match: "IDLE", match_type: "token" as const, idle_ms: wholeNumber(idle, "--idle") }]),
  ];
  if (found.length === 0) {
    throw new UsageError("What for? Give --match, --regex, --screen, --prompt, --eof, --input or --idle.");
  }
  return found;
}

function optionalNumber(value: string | undefined, option: string): number | undefined {
  return value === undefined ? undefined : wholeNumber(value, option);
}

/** The text that matched; of a state, its name and what is known of it. */
function wordsOf(answer: Answer, condition: Condition | undefined): string {
  if (condition?.match_type !== "token") return answer.match_text ?? "";
  const { exit_code, signal, kind, program, prompt_id } = answer;
  const known = condition.match === "INPUT" ? [kind, program, prompt_id] : [signal ?? exit_code];
  return [condition.match, ...known].filter((it) => it !== undefined).join(" ");
}

const CODES = {
  match: EXIT.ok,
  timeout: EXIT.timeout,
  max_bytes: EXIT.timeout,
  pending: EXIT.timeout,
  revoked: EXIT.revoked,
  closed: EXIT.over,
} as const satisfies Record<Answer["reason"], number>;

const REASONS = {
  match: "",
  timeout: "Not in time.",
  max_bytes: "Not in so many bytes.",
  pending: "Not in time.",
  revoked: "Control was taken away.",
} as const satisfies Record<Exclude<Answer["reason"], "closed">, string>;
