/** What went wrong, for a person (a sentence and what to do), for a script (a problem object) and for a shell. */
import { AppError, type ErrorCode, problemOf } from "../protocol/errors.ts";
import { changedWords } from "../domain/approval-outcome.ts";
import { AboutTerminal, CannotRun, EndsWith, EXIT, type ExitCode, UsageError } from "./exit.ts";
import { type Hub, shellWord } from "./hub.ts";

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

/** `terminal`: what is advised is about it. */
export function explain(error: unknown, terminal?: string): Failure {
  if (error instanceof EndsWith) return { ...explain(error.cause, terminal), exitCode: error.exitCode };
  if (error instanceof AboutTerminal) return explain(error.cause, error.terminal);
  if (error instanceof HubAway) return failure(EXIT.unreachable, "hub_unreachable", error.message, error.remedy);
  if (error instanceof CannotRun) return failure(EXIT.failure, "cannot_run", error.message, error.remedy);
  if (error instanceof UsageError) return failure(EXIT.usage, "usage", error.message, error.remedy);
  if (!(error instanceof AppError)) throw error;
  const { detail, remedy } = adviceOn(error);
  const named = withName(remedy, terminal);
  const problem = { ...problemOf(error), detail: sentence(detail), remedy: named };
  return { exitCode: REFUSALS.has(error.code) ? EXIT.refused : EXIT.failure, problem };
}

/** Another credential, or another way to the hub, would help. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(["unauthenticated", "forbidden", "origin_refused"]);

/** Where it is not known, the placeholder stays. */
function withName(remedy: string, terminal: string | undefined): string {
  return terminal === undefined ? remedy : remedy.replaceAll("SESSION", () => shellWord(terminal));
}

function adviceOn(error: AppError): { detail: string; remedy: string } {
  const { oldest, requestId, approvalId, prompt_id: promptId, sessionId, workspaceId, what } = error.details;
  const detail = SENTENCES[error.code]?.(error.details) ?? error.message;
  if (typeof oldest === "number") return { detail, remedy: `Begin there: --after ${oldest}` };
  if (error.code === "approval_decided" && typeof requestId === "string") {
    return { detail, remedy: `The first decision stands; see: sidestick approvals get ${requestId}` };
  }
  if (error.code === "policy_denied" && isOfHost(error.details)) return { detail, remedy: HOST_POLICY };
  if (error.code === "kind_unavailable" && typeof sessionId === "string") {
    return { detail, remedy: `Nothing was run. See: sidestick sessions get ${sessionId.slice(0, 8)}` };
  }
  if (error.code === "kind_unavailable" && typeof workspaceId === "string") {
    const put = shellWord(JSON.stringify({ workspaceId, hostId: "local" }));
    return { detail, remedy: `Name another, of sidestick hosts: sidestick call workspace.put ${put}` };
  }
  if (error.code === "needs_open" && typeof approvalId === "string") {
    return { detail, remedy: `A person decides, by approve or deny: sidestick approve ${approvalId.slice(0, 8)}` };
  }
  if (error.code === "invalid_request" && typeof promptId === "string") {
    return { detail, remedy: "Nothing was typed, and it is still asked: sidestick answer" };
  }
  const isPlaced = error.code === "not_found" || error.code === "invalid_transition";
  const place = isPlaced && typeof what === "string" ? PLACES[what] : undefined;
  return { detail, remedy: place ?? REMEDIES[error.code] ?? "See: sidestick doctor" };
}

/** Where to look for what isn't there, or isn't as it should be. */
const PLACES: Readonly<Record<string, string>> = {
  approval: "See: sidestick approvals",
  block: "See: sidestick blocks SESSION",
  channel: "See: sidestick channels",
  host: "See: sidestick hosts",
  person: "See who may speak there: sidestick channels list --json",
  prompt: "See what is asked now: sidestick prompts",
  question: "See what is asked: sidestick prompts, or wait for it: sidestick answer --wait",
  session: "See: sidestick sessions",
  terminal: "See: sidestick sessions",
  token: "See: sidestick token list",
  workspace: "See: sidestick workspaces",
};

/** What the details tell better than the message; undefined where the hub does not say. */
const SENTENCES: Partial<Record<ErrorCode, (details: AppError["details"]) => string | undefined>> = {
  approval_decided: decisionText,
  approval_rejected: (details) => decisionText({ ...details, decision: "rejected" }),
  approval_stale: staleText,
  policy_denied: deniedText,
  control_refused: driverText,
  not_found: ({ what, id }) =>
    typeof what === "string" && typeof id === "string" ? `There is no ${what} "${id}"` : undefined,
};

function deniedText(details: AppError["details"]): string | undefined {
  const { rule, reason } = details;
  if (typeof reason !== "string" || typeof rule !== "string") return undefined;
  return `${isOfHost(details) ? "The host's own policy" : "Policy"} denies it: ${reason} (rule ${rule})`;
}

/** Above any hub: nothing that the hub shows or changes would help. */
function isOfHost({ rule }: AppError["details"]): boolean {
  return typeof rule === "string" && rule.startsWith("host:");
}

const HOST_POLICY =
  "Do it another way; that machine's owner can change it there, in host-policy.yaml of the host's data directory (default ~/.local/share/sidestick-host).";

function staleText({ changed }: AppError["details"]): string | undefined {
  if (!Array.isArray(changed)) return undefined;
  return `It was approved, but since then ${changedWords(changed)} changed, so nothing was run`;
}

function driverText({ holder }: AppError["details"]): string | undefined {
  if (holder === undefined) return undefined;
  const { kind, id } = (holder ?? {}) as { readonly kind?: string; readonly id?: string };
  if (id === undefined) return "Control was refused: nobody drives, and an agent needs a person's grant here";
  return `Control was refused: ${kind === "agent" ? `agent ${id}` : id} drives`;
}

/** Who decided and how. */
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
  policy_denied: "Do it another way; what is denied a person can see, and change in its file: sidestick policy show",
  not_found: "See what there is: sidestick sessions, approvals, workspaces, token list",
  pattern_refused: "Write it without look-around and back-references (re2 syntax).",
  secret_for_person: "A person types it: sidestick answer",
  busy: "Wait for it: sidestick wait SESSION --prompt, or end it: sidestick end SESSION",
  interactive_active: "Talk to it: sidestick send SESSION --text TEXT --enter, or end it: sidestick end SESSION",
  shell_idle: "Run a command: sidestick run --conversation SESSION -- COMMAND",
  needs_open:
    "A person decides: sidestick approvals, or runs it in an open session: sidestick sessions create --kind terminal",
  prompt_gone: "See what is asked now: sidestick prompts",
  control_refused:
    "An agent asks for control: sidestick request SESSION --reason TEXT; a person takes it: sidestick take SESSION",
  lease_expired: "An agent asks again: sidestick request SESSION --reason TEXT",
  stale_epoch: "See who has control, then try again: sidestick control SESSION",
  stopped: "A person stopped you; wait until one grants control: sidestick request SESSION --reason TEXT",
  paused: "A person has you wait: sidestick request SESSION --reason TEXT",
  revoked: "See what happened: sidestick control SESSION",
  invalid_transition: "See how it stands: sidestick sessions",
  session_paused: "Let it go on: sidestick sessions resume SESSION",
  approval_decided: "See the decision: sidestick approvals",
  approval_rejected: "Do it another way, or ask them why.",
  approval_pending: "A person decides: sidestick approvals",
  approval_expired: "It has to be asked again.",
  approval_stale: "It has to be asked again.",
  limit_reached: "End or revoke what is no longer needed, or raise the limit.",
  kind_unavailable: "See what runs here: sidestick doctor",
  channel_failed: "Put that right and try again; what is connected: sidestick channels",
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
  if (NOT_RUNNING.has(code) && process.env.SIDESTICK_GUARD !== undefined) {
    return {
      detail: "This runs in a guard, where Sidestick's own files and sockets don't exist.",
      remedy:
        "Use the tools that you were given (MCP), or $SIDESTICK_URL with a token of your own in $SIDESTICK_TOKEN: what sidestick guard starts has both.",
    };
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
