/**
 * What a person reads before they decide (APR-10, APR-21), in words that every place shows alike: what would be done, where, and why
 * they are asked. What an agent says is always named as its words.
 */
import { type Containment, grantWarning } from "./containment.ts";

export type ShownApproval = {
  readonly requestedBy: string;
  readonly kind: string;
  readonly action: string;
  readonly riskLevel: string;
  readonly rule: string;
  readonly containment?: Containment | undefined;
  readonly epoch?: number | undefined;
  readonly payload: Readonly<Record<string, unknown>>;
};

export type Fact = { readonly name: string; readonly value: string };

type Shown = {
  readonly command?: string;
  readonly exact?: boolean;
  readonly omittedCharacters?: number;
  readonly cwd?: string;
  readonly program?: string;
  readonly reason?: string;
  readonly parts?: readonly { readonly text: string; readonly reason: string; readonly riskLevel: string }[];
  readonly touches?: readonly { readonly how: string; readonly path: string; readonly place: string }[];
  /** Paths, by what is run: `program:git`. */
  readonly programs?: Readonly<Record<string, string>>;
  readonly unbound?: readonly { readonly what: string; readonly reason: string }[];
  readonly agentSays?: string;
};

/** A command, or what is typed: the hub built what is shown, and it is done if it is approved. */
export function isAction({ payload, epoch }: ShownApproval): boolean {
  return epoch !== undefined && typeof payload["command"] === "string";
}

export function commandOf({ payload }: ShownApproval): string {
  const { command } = payload;
  return typeof command === "string" ? command : "";
}

export function isTyped({ action, payload }: ShownApproval): boolean {
  return (action !== "exec" && action !== "remote_command") || payload["program"] !== undefined;
}

/** What is shown is what would be run, letter by letter. */
export function isExact({ payload }: ShownApproval): boolean {
  return (payload as Shown).exact !== false;
}

/** The rule of what an agent asks by itself. */
const REQUESTED = "requested";
const NEEDS_OPEN = "needs_open";
const OWN_WORDS = "it asks by itself, in its own words";

export type ApprovalShown = {
  readonly headline: string;
  /** What would be done; of `ownWords` all that the agent gave. */
  readonly code: string;
  /** All of it is the agent's: it must not stand where the hub's facts do. */
  readonly ownWords: boolean;
  readonly facts: readonly Fact[];
  /** What a yes does, where that isn't plain from what is shown. */
  readonly meaning?: string | undefined;
  readonly agentSays?: string | undefined;
};

export function approvalShown(approval: ShownApproval): ApprovalShown {
  const { requestedBy, action, payload, rule } = approval;
  if (isAction(approval)) {
    const [headline, code] = [approvalHeadline(approval), approvalCommand(approval)];
    return { headline, code, ownWords: false, facts: approvalFacts(approval), agentSays: agentWords(approval) };
  }
  const ownWords = rule === REQUESTED;
  return {
    headline: `${requestedBy} asks before: ${action}`,
    code: (!ownWords && commandOf(approval)) || JSON.stringify(payload, undefined, 2),
    ownWords,
    facts: approvalFacts(ownWords ? { ...approval, payload: { reason: OWN_WORDS } } : approval),
    ...(rule === NEEDS_OPEN && { meaning: openMeaning(requestedBy) }),
    agentSays: ownWords ? undefined : agentWords(approval),
  };
}

export function approvalHeadline(approval: ShownApproval): string {
  const { cwd, program } = approval.payload as Shown;
  const into = program === undefined ? "" : ` into ${program}`;
  const what = isTyped(approval) ? `type${into}` : "run";
  return `${approval.requestedBy} wants to ${what}${cwd === undefined ? "" : ` in ${cwd}`}:`;
}

/** With a sign for the Enter that is typed, and a note of what isn't shown. */
export function approvalCommand(approval: ShownApproval): string {
  const { omittedCharacters } = approval.payload as Shown;
  const command = isTyped(approval) ? commandOf(approval).replace(/\n$/, " ⏎") : commandOf(approval);
  return omittedCharacters === undefined ? command : `${command}\n… and ${omittedCharacters} characters more`;
}

export function approvalFacts(approval: ShownApproval): readonly Fact[] {
  const { riskLevel, rule, containment, kind } = approval;
  const { parts = [], touches = [], unbound = [], programs = {}, reason = "" } = approval.payload as Shown;
  return [
    fact("risk", `${riskLevel}${containment === undefined ? "" : `, in ${PLACES[containment]}`}`),
    fact("rule", `${rule}: ${reason}`),
    ...(parts.length > 1 ? parts.map((it) => fact("asks", `${it.text}  (${it.riskLevel}: ${it.reason})`)) : []),
    ...touches.map((it) => fact(it.how, `${it.path}  (${it.place})`)),
    ...programFacts(programs),
    ...unbound.map((it) => fact("unbound", `${it.what}: ${it.reason}`)),
    ...(isExact(approval) ? [] : [fact("shown", "with masks for secrets and signs for what can't be seen")]),
    // Others call themselves so that were never asked before: an agent's own, and what needs an open session.
    ...(kind === "escalation" && isAction(approval)
      ? [fact("again", "nobody decided in time when it was asked first")]
      : []),
  ];
}

/** Its own words, for the end of a card. */
export function agentWords({ payload }: ShownApproval): string | undefined {
  return (payload as Shown).agentSays;
}

function openMeaning(agent: string): string {
  return [
    `Approving starts an open session beside this one, in the same directory, and lends it to ${agent} for ten minutes.`,
    "Nothing runs by itself: the agent has to run its command again there.",
    grantWarning("open"),
  ].join(" ");
}

/** Scripts are among what it touches. */
function programFacts(programs: Readonly<Record<string, string>>): readonly Fact[] {
  const run = Object.entries(programs).filter(([what]) => what.startsWith("program:"));
  return run.map(([what, path]) => fact("program", `${what.slice("program:".length)}: ${path}`));
}

const PLACES = {
  guard: "a guarded session",
  user: "a session of another account",
  open: "an open session, which reaches all that you do",
} as const satisfies Record<Containment, string>;

function fact(name: string, value: string): Fact {
  return { name, value };
}
