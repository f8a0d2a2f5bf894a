/** What went wrong, for a person (a sentence and what to do), for a script (a problem object) and for a shell. */
import { AppError, type ErrorCode, problemOf } from "../protocol/errors.ts";
import { CannotRun, EndsWith, EXIT, type ExitCode, UsageError } from "./exit.ts";
import type { Hub } from "./hub.ts";

export type Failure = {
  readonly exitCode: ExitCode;
  readonly problem: Readonly<Record<string, unknown>> & { readonly detail: string; readonly remedy: string };
};

/** No answer from the hub that was chosen. */
export class HubAway extends Error {
  override readonly name = "HubAway";
  readonly remedy: string;

  constructor(hub: Hub, cause: Error) {
    const { detail, remedy } = whyAway(hub, causeCode(cause));
    super(detail, { cause });
    this.remedy = remedy;
  }
}

export function explain(error: unknown): Failure {
  if (error instanceof EndsWith) return { ...explain(error.cause), exitCode: error.exitCode };
  if (error instanceof HubAway) return failure(EXIT.unreachable, "hub_unreachable", error.message, error.remedy);
  if (error instanceof CannotRun) return failure(EXIT.failure, "cannot_run", error.message, error.remedy);
  if (error instanceof UsageError) return failure(EXIT.usage, "usage", error.message, error.remedy);
  if (!(error instanceof AppError)) throw error;
  const { detail, remedy } = adviceOn(error);
  const problem = { ...problemOf(error), detail: sentence(detail), remedy };
  return { exitCode: REFUSALS.has(error.code) ? EXIT.refused : EXIT.failure, problem };
}

/** Another credential, or another way to the hub, would help. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(["unauthenticated", "forbidden", "origin_refused"]);

function adviceOn(error: AppError): { detail: string; remedy: string } {
  const { oldest, requestId } = error.details;
  const detail = (error.code === "approval_decided" ? decisionText(error.details) : undefined) ?? error.message;
  if (typeof oldest === "number") return { detail, remedy: `Begin there: --after ${oldest}` };
  if (error.code === "approval_decided" && typeof requestId === "string") {
    return { detail, remedy: `The first decision stands; see: sidestick approvals get ${requestId}` };
  }
  return { detail, remedy: REMEDIES[error.code] ?? "See: sidestick doctor" };
}

/** Who decided and how; undefined where the hub does not say. */
function decisionText({ resolvedBy, decision, reason }: AppError["details"]): string | undefined {
  if (typeof resolvedBy !== "string") return undefined;
  const how = typeof decision === "string" ? `${decision} it` : "decided it";
  return typeof reason === "string" ? `${resolvedBy} ${how}: ${reason}` : `${resolvedBy} ${how}`;
}

const REMEDIES: Partial<Record<ErrorCode, string>> = {
  invalid_request: "See --help, or the operation's input: sidestick call --list",
  unauthenticated:
    "Give a token that is valid: $SIDESTICK_TOKEN or --token-file. On the hub's machine its owner needs none.",
  forbidden: "Use a credential of a role that may.",
  origin_refused: "Use the address that the hub was started for (--public-url).",
  policy_denied: "An operator can change the policy.",
  not_found: "See what there is: sidestick sessions, approvals, workspaces, token list",
  pattern_refused: "Write it without look-around and back-references (re2 syntax).",
  secret_for_person: "A person types it: sidestick attach CONVERSATION",
  busy: "Wait for it: sidestick wait CONVERSATION --prompt, or end it: sidestick end CONVERSATION",
  interactive_active:
    "Talk to it: sidestick send CONVERSATION --text TEXT --enter, or end it: sidestick end CONVERSATION",
  shell_idle: "Run a command: sidestick run --conversation CONVERSATION -- COMMAND",
  needs_open:
    "A person decides: sidestick approvals, or runs it in an open session: sidestick sessions create --kind terminal",
  prompt_gone: "See what it waits for now: sidestick status CONVERSATION",
  control_refused: "See who drives: sidestick control SESSION; an agent asks: sidestick request SESSION --reason TEXT",
  lease_expired: "An agent asks again: sidestick request SESSION --reason TEXT",
  stale_epoch: "See who has control, then try again: sidestick control SESSION",
  stopped: "A person stopped you; wait until one grants control: sidestick request SESSION --reason TEXT",
  paused: "A person has you wait: sidestick request SESSION --reason TEXT",
  revoked: "See what happened: sidestick control SESSION",
  invalid_transition: "See how it stands: sidestick sessions",
  session_paused: "Let it go on: sidestick sessions resume ID",
  approval_decided: "See the decision: sidestick approvals",
  approval_expired: "It has to be asked again.",
  approval_stale: "It has to be asked again.",
  limit_reached: "End or revoke what is no longer needed, or raise the limit.",
  kind_unavailable: "See what runs here: sidestick doctor",
  host_offline: "Start its host again.",
  storage_unavailable: "Make room on the hub's disk.",
  unknown_outcome: "See whether it was done before you try again: sidestick events",
  internal: "The hub's log knows more: hub.log in its data directory",
};

function failure(exitCode: ExitCode, code: string, detail: string, remedy: string): Failure {
  return { exitCode, problem: { type: `urn:sidestick:cli:${code}`, code, detail: sentence(detail), remedy } };
}

const NOT_RUNNING = new Set(["ENOENT", "ECONNREFUSED", "ENOTDIR"]);

function whyAway({ place, dataDir, startCommand }: Hub, code: string): { detail: string; remedy: string } {
  if (dataDir === undefined) {
    const remedy = "See that it runs and that the address is right.";
    return { detail: `The hub isn't reachable (no answer at ${place}: ${code}).`, remedy };
  }
  if (NOT_RUNNING.has(code)) {
    return { detail: `The hub isn't running (no answer at ${place}).`, remedy: `Start it: ${startCommand}` };
  }
  if (code === "EACCES" || code === "EPERM") {
    return {
      detail: `The hub at ${place} belongs to somebody else.`,
      remedy: "Use it as its owner, or with --url and a token.",
    };
  }
  const remedy = "See whether it was done before you try again: sidestick events";
  return { detail: `The hub at ${place} went away before it answered (${code}).`, remedy };
}

/** What the innermost cause calls itself: `fetch` wraps what the socket said. */
function causeCode(error: Error): string {
  let found = error.name;
  for (let at: unknown = error.cause; at instanceof Error; at = at.cause) {
    found = (at as NodeJS.ErrnoException).code?.toString() ?? at.message;
  }
  return found;
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
