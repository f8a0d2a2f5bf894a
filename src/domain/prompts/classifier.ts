/**
 * From the end of the screen and the kernel's evidence to what is asked. Text never makes a question where the kernel
 * sees none; where it can't look (ssh, no /proc) text and quiet decide, with less confidence. A terminal that reads lines
 * without echo asks for a password, whatever the text says. Rules PMT-1..PMT-24 in docs/spec/prompts.md.
 */
import { confirmEnter, pager } from "./confirm-enter.ts";
import { drawnMenu } from "./drawn-menus.ts";
import { isReplPrompt, isShellPrompt, looksLikeProgress, looksLikeText } from "./not-a-prompt.ts";
import type {
  Classified,
  NotAsked,
  PromptConfidence,
  PromptEntry,
  PromptEvidence,
  PromptView,
  TextFinding,
} from "./prompt.ts";
import { asksForSecret } from "./secret-words.ts";
import { defaultOf, inlineMenu, numberedMenu } from "./typed-menus.ts";
import { type ViewText, viewText, withoutFrame } from "./view-text.ts";
import { yesNoByBrackets, yesNoByLiteral, yesNoByPhrase } from "./yes-no.ts";

/** Without the kernel's word, output that paused for less may go on by itself. */
export const QUIET_MS = 700;
const QUESTION_MAX = 300;

export function classifyPrompt(view: PromptView, evidence: PromptEvidence): Classified {
  const text = viewText(view);
  const { kind, program, canonical } = evidence;
  if (readsSecretLine(evidence)) return asked(text, evidence, password(text));
  const blind = kind === "opaque" || kind === "none";
  if (blind && evidence.quietMs !== undefined && evidence.quietMs < QUIET_MS) return notAsked("still_printing");
  if (kind === "shell" || isShellPrompt(text.asking, blind ? "" : program, canonical)) return notAsked("shell_prompt");
  if (kind === "editor") return editor(text, evidence);
  if (kind === "pager") return asked(text, evidence, pager(text.spoken));
  const found = blind ? foundBlindly(text) : foundWaiting(text, evidence);
  if (found !== undefined) return asked(text, evidence, found);
  if (blind) return notAsked("not_a_prompt");
  return kind === "tui" ? notAsked("screen_program") : asked(text, evidence, unknownText(kind === "line_editor"));
}

/** Nothing but a secret is read in lines and without echo; a pinentry is one by name. */
function readsSecretLine({ kind, echo, canonical }: PromptEvidence): boolean {
  return kind === "password" || (echo === false && canonical === true);
}

function foundWaiting(text: ViewText, evidence: PromptEvidence): TextFinding | undefined {
  const { spoken, asking } = text;
  const raw = evidence.canonical !== true;
  return (
    (raw ? drawnMenu(text) : undefined) ??
    inlineMenu(text) ??
    yesNoByBrackets(spoken) ??
    (raw ? yesNoByBrackets(wholeLine(text)) : undefined) ??
    // The rules for a password are numbered too; where nothing stands at the cursor, what is spoken may be an item.
    (asking.trim() === "" ? undefined : secretText(spoken)) ??
    numberedMenu(text) ??
    (raw ? drawnField(text) : undefined) ??
    secretText(spoken) ??
    yesNoByLiteral(text) ??
    confirmEnter(spoken) ??
    yesNoByPhrase(spoken, evidence.program) ??
    // A program that fills the screen has text everywhere: a colon beside the cursor says nothing.
    (evidence.kind === "tui" ? undefined : (replText(spoken) ?? freeText(spoken)))
  );
}

/** Some draw the answer behind the question and put the cursor between: `(y/N) ‣ false`. */
function wholeLine({ asking, below }: ViewText): string {
  return (asking + (below[0] ?? "")).replace(/\s+[›‣»]\s.*$/u, "");
}

/** Only what stands at the cursor, in a form that output doesn't have. */
function foundBlindly(text: ViewText): TextFinding | undefined {
  const { asking, all } = text;
  const menu = isMovedThrough(all) ? drawnMenu(text) : undefined;
  if (menu !== undefined) return menu;
  if (asking.trim() === "" || looksLikeText(asking)) return undefined;
  const confirm = confirmEnter(asking);
  if (looksLikeProgress(asking)) return confirm;
  const open = /[:：›>?？\])]\s*$/u.test(asking);
  const choice = (open ? inlineMenu(text) : undefined) ?? yesNoByBrackets(asking);
  const wants = confirm !== undefined || /[:：›>?]\s*$/u.test(asking);
  // `Type your password and press Enter` wants more than Enter.
  const secret = choice === undefined && wants ? secretText(asking) : undefined;
  return (
    secret ??
    confirm ??
    choice ??
    (/[:>?]\s*$/u.test(asking) ? numberedMenu(text) : undefined) ??
    (/[:：?]\s*$/u.test(asking) ? yesNoByLiteral(text) : undefined) ??
    yesNoByPhrase(asking, "") ??
    replText(asking) ??
    (WANTS_TEXT.test(asking) ? freeText(asking) : undefined)
  );
}

const WANTS_TEXT =
  /\b(?:enter|type|provide|input|name|user(?:name)?|login|e-?mail|address|branch|message|description|value|path|file|host|port|region|url|id)\b[^?]{0,80}[:?]\s+$|^[\w.-]+ login: $/iu;

/** A menu in a document has no line that says how to move in it. */
function isMovedThrough(all: readonly string[]): boolean {
  const end = all.filter((line) => line.trim() !== "").slice(-3);
  return (
    end.some((line) => /arrow|navigate|↑|esc\b|<\s*(?:ok|yes|ja|oui)\s*>|enter to/iu.test(line)) ||
    /^[└╰]/u.test(end.at(-1)?.trim() ?? "")
  );
}

/** A question of clack and its like has its field below it. */
function drawnField({ all, asking }: ViewText): TextFinding | undefined {
  const row = all.findLastIndex((line) => /^\s*◆\s+\S/u.test(line));
  if (row < 0 || row < all.length - 6) return undefined;
  if (/^\s*\?\s/u.test(asking)) return undefined;
  const question = withoutFrame(all[row] ?? "").replace(/^◆\s+/u, "");
  return { ...(secretText(question) ?? freeText(question, true)), question, explicit: true } as TextFinding;
}

function editor(text: ViewText, evidence: PromptEvidence): Classified {
  const found = /press enter/i.test(text.spoken) ? confirmEnter(text.spoken) : undefined;
  return found === undefined ? notAsked("screen_program") : asked(text, evidence, found);
}

function password({ spoken }: ViewText): TextFinding {
  return { class: "PASSWORD_INPUT", choices: [], accepts: [], question: spoken.trim(), explicit: true };
}

function secretText(question: string): TextFinding | undefined {
  if (!asksForSecret(question)) return undefined;
  return { class: "PASSWORD_INPUT", choices: [], accepts: [], explicit: true };
}

function replText(asking: string): TextFinding | undefined {
  if (!isReplPrompt(asking)) return undefined;
  return { class: "CHAT_INPUT", choices: [], accepts: [], explicit: true };
}

function freeText(question: string, sure = false): TextFinding | undefined {
  if (!sure && !/[:：?？>›‣=)\]]\s*\S{0,40}\s*$/u.test(question)) return undefined;
  const placed = /[›‣]\s*(?<told>\S.*)$/u.exec(question)?.groups?.["told"]?.trim();
  return { class: "FREE_TEXT", choices: [], accepts: [], default: placed ?? defaultOf(question), explicit: false };
}

/** The kernel says that it waits, and the text says nothing. */
function unknownText(editing: boolean): TextFinding {
  return { class: editing ? "CHAT_INPUT" : "FREE_TEXT", choices: [], accepts: [], explicit: false };
}

function asked(text: ViewText, evidence: PromptEvidence, found: TextFinding): Classified {
  const { explicit, ...rest } = found;
  const question = (found.question ?? text.spoken).trim().slice(-QUESTION_MAX);
  const entry = found.entry ?? entryOf(evidence);
  return { asked: true, prompt: { ...rest, question, entry, confidence: confidenceOf(evidence, explicit) } };
}

function entryOf({ kind, canonical }: PromptEvidence): PromptEntry {
  if (kind === "pager") return "key";
  const raw = canonical === false || kind === "line_editor" || kind === "tui" || kind === "editor";
  return raw && kind !== "opaque" ? "keys" : "line";
}

function confidenceOf(evidence: PromptEvidence, explicit: boolean): PromptConfidence {
  const seen = evidence.confidence !== "low" && evidence.kind !== "opaque" && evidence.kind !== "none";
  if (readsSecretLine(evidence)) return seen ? "HIGH" : "MED";
  if (seen) return explicit ? "HIGH" : "MED";
  return explicit ? "MED" : "LOW";
}

function notAsked(reason: NotAsked): Classified {
  return { asked: false, reason };
}
