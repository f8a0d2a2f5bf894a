/** What a caller asks to wait for, and what it is told, in seed 001's words. */
import { AppError } from "../protocol/errors.ts";
import type { Output, ParsedInput } from "../protocol/operations.ts";
import type { OutputReader } from "./output-reader.ts";
import type { Condition, WaitAnswer } from "./wait-desk.ts";

type WaitInput = Pick<ParsedInput<"pty.wait_for">, "conditions" | "idle_ms" | "match" | "match_type">;
type Asked = {
  readonly match: string;
  readonly match_type?: string | undefined;
  readonly idle_ms?: number | undefined;
};
type Told = Omit<Output<"pty.wait_for">, "ok" | "workspace_session_id">;

const TOKENS = new Set(["PROMPT", "EOF", "INPUT", "IDLE"]);
const IDLE_DEFAULT_MS = 500;

export function conditionsOf({ conditions, match, match_type, idle_ms }: WaitInput): readonly Condition[] {
  return (conditions ?? [{ match: match ?? "", match_type, idle_ms }]).map(conditionOf);
}

function conditionOf({ match, match_type, idle_ms }: Asked): Condition {
  const type = match_type ?? (TOKENS.has(match) ? "token" : "substring");
  switch (type) {
    case "regex":
    case "substring":
    case "screen":
      return { type, match };
    default:
      break;
  }
  switch (match) {
    case "PROMPT":
    case "EOF":
    case "INPUT":
      return { type: "token", token: match };
    case "IDLE":
      return { type: "token", token: "IDLE", idleMs: idle_ms ?? IDLE_DEFAULT_MS };
    default: {
      const detail = `There is no token ${match}; tokens are ${[...TOKENS].join(", ")}`;
      throw new AppError("invalid_request", { detail, errors: [{ path: "match", message: detail }] });
    }
  }
}

export async function waitAnswer(
  answer: WaitAnswer,
  { view }: { readonly view: "text" | "raw" },
  reader: OutputReader,
  sessionId: string,
): Promise<Told> {
  const { matched, reason, which, matchText, matchBegin, cursor, position, fact } = answer;
  const text =
    view === "raw" && matchBegin !== undefined
      ? (await reader.read(sessionId, { from: matchBegin, to: cursor }, { view, maxBytes: cursor - matchBegin })).data
      : matchText;
  return {
    matched,
    reason,
    ...(which === undefined ? {} : { which }),
    ...(text === undefined ? {} : { match_text: text }),
    ...(matchBegin === undefined ? {} : { match_begin: matchBegin }),
    cursor,
    position,
    ...(reason === "pending" ? { pending: true } : {}),
    ...(matched && fact !== undefined ? factOf(fact.payload) : {}),
    ...(matched && isQuestion(fact) ? { question: await reader.lastLine(sessionId, cursor) } : {}),
  };
}

function isQuestion(fact: WaitAnswer["fact"]): boolean {
  return fact?.type === "prompt" && fact.payload["kind"] !== "shell";
}

const NAMES = {
  exitCode: "exit_code",
  signal: "signal",
  cwd: "cwd",
  integration: "integration",
  kind: "kind",
  program: "program",
  confidence: "confidence",
  promptId: "prompt_id",
} as const;

function factOf(payload: Readonly<Record<string, unknown>>): Partial<Told> {
  const told = Object.entries(NAMES).flatMap(([key, name]) =>
    payload[key] === undefined ? [] : [[name, payload[key]]],
  );
  return Object.fromEntries(told) as Partial<Told>;
}
