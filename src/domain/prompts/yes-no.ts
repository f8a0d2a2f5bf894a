/**
 * Questions with two answers: brackets in all their spellings, literals that a program insists on, and sentences that
 * ask for consent without naming an answer. What is typed is always the program's own spelling.
 */
import type { PromptChoice, TextFinding } from "./prompt.ts";
import { textAbove, type ViewText } from "./view-text.ts";
import { isNo, isYes } from "./words.ts";

/** What may follow the alternatives: punctuation, a default, a mark of the input. */
const TAIL = String.raw`\s*(?:\((?:[yYnNjJ]|yes|no)\)|\[(?:default\s*[=:]?\s*)?(?:[yYnNjJ]|yes|no)\])?\s*[\])）】]?\s*[?？:：.>›‣»…]*\s*$`;
const WORD = String.raw`[[(]?[\p{L}ｙｎ]{1,4}[\])]?`;
const SEPARATOR = String.raw`\s*(?:[/|,]|\bor\b|\boder\b|\bou\b)\s*`;
const PAIR = new RegExp(
  String.raw`(?<open>[[(（【<]?)\s*(?<first>${WORD})${SEPARATOR}(?<second>${WORD})(?<more>(?:${SEPARATOR}(?:\[[^\]]+\]|[^\s\])）】/|,]+))*)(?<rest>[^\])）】]{0,40}?)\s*(?<close>[\])）】>]?)(?<tail>${TAIL})`,
  "u",
);
/** `[Y]es/[N]o`, `(Y)es/(N)o`, `[y] [n]`. */
const MARKED =
  /[[(](?<yes>[\p{L}])[\])](?<yesRest>\p{L}*)\s*(?:[/,|]|or)?\s*[[(](?<no>[\p{L}])[\])](?<noRest>\p{L}*)\s*[?:>]*\s*$/u;
/** `(yes)`, `[yes]`, `<y>?`, `[n]`: the default alone. */
const LONE = /[\s\p{L}?][[(<](?<word>y|n|yes|no|ja|nein|oui|non|j|o)[\])>]\s*[?:>]*\s*$/iu;
const LITERAL = /['"‘“`«](?<word>yes|ja|oui|sí|y)['"’”`»]/iu;
const INSISTS = /\b(?:only|type|enter|answer|confirm by|tapez|saisissez|geben sie|escriba|please type)\b/iu;
/** `Type 'yes' to accept: yes`, also where an editor has drawn the colon away. */
const ANSWERED = /['"’”`»][^'"’”`»]*[:?：？]\s+[^\s'"’”`»]{1,80}$|['"‘“`«](?<word>\p{L}+)['"’”`»].*\s\k<word>$/iu;

export function yesNoByBrackets(question: string): TextFinding | undefined {
  const from = Math.max(question.lastIndexOf("["), question.lastIndexOf("("), question.lastIndexOf("（"));
  return (
    byGroup(question) ??
    byPair(question.slice(Math.max(0, from))) ??
    byPair(question) ??
    byMarks(question) ??
    byLoneDefault(question)
  );
}

/** `Only 'yes' will be accepted to approve.` */
export function yesNoByLiteral(text: ViewText): TextFinding | undefined {
  const standing = textAbove(text, 4).filter((line) => !ANSWERED.test(line));
  const insisting = [...standing, text.asking].findLast((line) => INSISTS.test(line) && LITERAL.test(line));
  const literal = insisting === undefined ? undefined : LITERAL.exec(insisting)?.groups?.["word"];
  if (insisting === undefined || literal === undefined) return undefined;
  const yes = /capital letters|uppercase/i.test(insisting) ? literal.toUpperCase() : literal;
  const free = /fingerprint/i.test(insisting) ? ["[fingerprint]"] : [];
  return finding({ yes, no: "no", extra: free });
}

const TOOLS_THAT_ASK = new Set(["rm", "cp", "mv", "ln", "find", "xargs", "tar", "unlink"]);
const CONSENT =
  /\b(?:are you sure|do you (?:really )?want to|would you like(?: me)? to|shall (?:i|we|the)|should (?:i|we)|is (?:this|that|the information) (?:ok|okay|correct|right)|ok(?:ay)? to (?:proceed|continue)|(?:proceed|continue|confirm|overwrite|retry|abort)(?: anyway| with[^?]*)?\s*\?|möchten sie|wollen sie|soll(?:en)? .* werden|sind sie sicher|fortfahren|voulez-vous|souhaitez-vous|êtes-vous sûr|faut-il|desea|quiere|está seguro|continuar)\b.*[?？]?|(?:ますか|ですか|でしょうか|吗|是否.*)\s*[?？]?/iu;
const ENDS_AS_QUESTION = /[?？]\s*(?:\.\.\.)?\s*$|か[。\s]*$/u;

/** Sentences that want consent; `y` and `n` are understood by tools that use the system's own test. */
export function yesNoByPhrase(question: string, program: string): TextFinding | undefined {
  const text = question.trimEnd();
  if (!ENDS_AS_QUESTION.test(text)) return undefined;
  if (TOOLS_THAT_ASK.has(program)) return finding({ yes: "y", no: "n" });
  if (/^(?:\? )?(?:what|which|where|when|who|how|why|was|welche|wo|wie|quel|qué|cuál|où)\b/iu.test(text.trim()))
    return undefined;
  return CONSENT.test(text.slice(-200)) ? { ...finding({ yes: "y", no: "n" }), explicit: false } : undefined;
}

/** `[y/d/N]`: the two may have others between them. */
function byGroup(question: string): TextFinding | undefined {
  const joined = /[[(](?<pair>[yYjJ][nN])[\])]\s*[?:>]*\s*$/u.exec(question)?.groups?.["pair"];
  if (joined !== undefined) return byGroup(`[${joined[0]}/${joined[1]}]`);
  const words =
    /[[(](?<words>\p{L}{1,4}(?:[/,|]\p{L}{1,4}){1,3})[\])]\s*[?:>]*\s*$/u
      .exec(question)
      ?.groups?.["words"]?.split(/[/,|]/u) ?? [];
  const yes = yesAmong(words);
  const no = words.find(isNo);
  if (yes === undefined || no === undefined) return undefined;
  const extra = words.filter((word) => word !== yes && word !== no);
  return finding({ yes, no, extra, preset: presetOf(unmarked(yes), unmarked(no)) });
}

/** `s` and `o` mean split, skip or overwrite beside a `y`; languages that say yes with them name it first. */
export function yesAmong(words: readonly string[]): string | undefined {
  const plain = words.find((word) => /^y(?:es)?$/iu.test(word));
  return plain ?? words.find((word, index) => isYes(word) && (index === 0 || !/^[so]$/iu.test(word)));
}

function byPair(question: string): TextFinding | undefined {
  const groups = PAIR.exec(question.slice(-200))?.groups;
  if (groups === undefined) return undefined;
  const first = unmarked(groups["first"]);
  const second = unmarked(groups["second"]);
  const bracketed = groups["open"] !== "" && groups["close"] !== "";
  if (!bracketed && (groups["rest"] ?? "").trim() !== "") return undefined;
  const [yes, no] = isYes(first.word) && isNo(second.word) ? [first, second] : [second, first];
  if (!isYes(yes.word) || !isNo(no.word)) return undefined;
  // `n/s` and `n/o` are letters of a menu: those languages name yes first.
  if (no === first && yes.word.length === 1 && yes.word.toLowerCase() !== "y") return undefined;
  const extra = [...(groups["more"] ?? "").matchAll(/\[[^\]]+\]|[^\s/|,]+/gu)]
    .map(([it]) => it)
    .filter((it) => it !== "or");
  if (yesAmong([yes.word, ...extra]) !== yes.word) return undefined;
  if (extra.length > 2 && !extra.includes("...?")) return undefined;
  const told = /\b(?:default)?\s*[[(=:]?\s*(?<word>[yYnNjJ]|yes|no)[\])]?\s*[:?]*\s*$/u.exec(groups["tail"] ?? "")
    ?.groups?.["word"];
  const preset = told === undefined ? presetOf(yes, no) : isYes(told) ? "yes" : "no";
  return finding({ yes: yes.word, no: no.word, extra, preset });
}

type Token = { readonly word: string; readonly marked: boolean };

function unmarked(token = ""): Token {
  return { word: token.replaceAll(/[[\]()]/g, ""), marked: /^[[(].*[\])]$/.test(token) };
}

/** The capital one, or the one in brackets of its own. */
function presetOf(yes: Token, no: Token): "yes" | "no" | undefined {
  if (yes.marked !== no.marked) return yes.marked ? "yes" : "no";
  const [yesUpper, noUpper] = [yes.word, no.word].map((word) => word !== word.toLowerCase());
  if (yesUpper === noUpper) return undefined;
  return yesUpper === true ? "yes" : "no";
}

function byMarks(question: string): TextFinding | undefined {
  const groups = MARKED.exec(question.slice(-60))?.groups;
  const { yes = "", no = "", yesRest = "", noRest = "" } = groups ?? {};
  if (!isYes(yes + yesRest) && !isYes(yes)) return undefined;
  return isNo(no + noRest) || isNo(no) ? finding({ yes, no }) : undefined;
}

function byLoneDefault(question: string): TextFinding | undefined {
  const word = LONE.exec(question.slice(-80))?.groups?.["word"];
  if (word === undefined || !(question.includes("?") || /<.>/.test(question))) return undefined;
  const long = word.length > 1;
  const [yes, no] = isYes(word) ? [word, long ? "no" : "n"] : [long ? "yes" : "y", word];
  return finding({ yes, no, preset: isYes(word) ? "yes" : "no" });
}

function finding(it: {
  readonly yes: string;
  readonly no: string;
  readonly extra?: readonly string[] | undefined;
  readonly preset?: "yes" | "no" | undefined;
}): TextFinding {
  const { yes, no, extra = [], preset } = it;
  const others: PromptChoice[] = extra
    .filter((word) => !word.startsWith("["))
    .map((word) => ({ key: word, label: word, types: word }));
  return {
    class: "YES_NO",
    choices: [{ key: "yes", label: "Yes", types: yes }, { key: "no", label: "No", types: no }, ...others],
    accepts: [yes, no, ...extra],
    default: preset,
    explicit: true,
  };
}
