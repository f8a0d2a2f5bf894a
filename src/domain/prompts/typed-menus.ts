/**
 * Menus whose answer is typed: numbered or lettered lines above the question, letters in brackets inside it. They are
 * looked for before sentences like "Do you want to proceed?", which often stand above a menu.
 */
import { isPlanHeading } from "./plan-detector.ts";
import type { PromptChoice, TextFinding } from "./prompt.ts";
import { textAbove, type ViewText, withoutFrame } from "./view-text.ts";
import { isNo, isYes } from "./words.ts";
import { yesAmong } from "./yes-no.ts";

const ITEM =
  /(?:^\s*|\s{2,}|\t)(?:[-*>]\s)?[[(]?(?<key>\d{1,3}|[A-Za-z])(?:[)\].:]| =)\s+(?<label>\S.*?)(?=\s{2,}[[(]?(?:\d{1,3})(?:[)\].:])\s|\t|$)/gu;
/** `   p   primary` of fdisk. */
const BARE_ITEM = /^\s{2,}(?<key>[a-z0-9])\s{2,}(?<label>\S.*)$/u;
const CHOOSES =
  /\b(?:select(?:ion)?|choose|choice|choices|option|options|pick|number|numbers|decision|what now|which|your answer|action|item|auswahl|wählen|ihre wahl|choix|sélection|votre choix|opción|selección|elija|elección|scelta|enter .*\d\s*[-–]\s*\d+)\b|[[(]\s*\d+\s*[-–]\s*\d+|選択|选择|選擇|番号|决定|ihre auswahl|your selection/iu;
const BARE = /^(?:[#?>:$\s]|-->|=>|➜|»|›|❯)*$/u;
/** The question before this one, with what was typed behind it. */
const ANSWERED = /[[(][^\])]{0,40}\/[^\])]{0,40}[\])][:?]?\s+\S{1,40}$/u;
const NAMED_ARROW = />{1,2}\s*$/u;
const ITEMS_SEEN = 60;
/** Lines between the last item and the question. */
const GAP_MAX = 5;

export function numberedMenu(text: ViewText): TextFinding | undefined {
  const question = text.asking;
  const asks = CHOOSES.test(question) || BARE.test(question) || NAMED_ARROW.test(question);
  const below = text.below.filter((line) => line.trim() !== "");
  const drawnBelow = /^\?\s/u.test(question) && below.length > 1;
  const lines = (drawnBelow ? below : textAbove(text, 40)).map(withoutDrawing);
  const block = lastBlock(lines, /select|wähl|sélect|選択|选择|elija/iu.test(question));
  if (block.items.length < 2 && !(block.items.length === 1 && /number|>>/.test(question))) return undefined;
  const preset = defaultOf(question);
  const inRow = block.gap === 0 && itemsOf(lines.at(-1) ?? "", false).length > 1;
  const key = block.items.find((it) => it.key.toLowerCase() === preset?.toLowerCase())?.key;
  const placed = asks || drawnBelow || inRow;
  if (!placed && (key === undefined || block.gap > 1)) return undefined;
  if (block.gap > GAP_MAX) return undefined;
  if (!BARE.test(question)) return menu(block.items, { preset: key, question });
  const { title = question } = block;
  // Nothing is said at the cursor: an agent that has printed its steps asks for none of them, nor does what reads on after a menu.
  if (question.trim() === "" && (block.gap > 0 || isPlanHeading(title))) return undefined;
  return menu(block.items, { preset: key, question: ANSWERED.test(title) ? question : title });
}

type Block = { readonly items: readonly PromptChoice[]; readonly gap: number; readonly title?: string | undefined };

/** The items nearest to the question whose keys count up from 0, 1 or `a`. */
function lastBlock(lines: readonly string[], bare: boolean): Block {
  const rows = lines.map((line) => itemsOf(line, bare));
  const end = rows.findLastIndex((items) => items.length > 0);
  if (end < 0) return { items: [], gap: 0 };
  let begin = end;
  for (let row = end; row >= 0; row -= 1) {
    const items = rows[row] ?? [];
    if (items.length > 0) begin = row;
    else if (begin - row > 2) break;
    if (items.some(({ key }) => isFirst(key))) {
      if (
        rows
          .slice(0, row)
          .at(-1)
          ?.some(({ key }) => key === "0") !== true
      )
        break;
    }
  }
  const found = rows
    .slice(begin, end + 1)
    .flat()
    .slice(0, ITEMS_SEEN);
  const sorted = found.toSorted((a, b) => order(a.key) - order(b.key));
  const unique = sorted.filter(({ key }, index) => sorted[index - 1]?.key !== key);
  return { items: bare ? found : countingUp(unique), gap: lines.length - 1 - end, title: lines[begin - 1]?.trim() };
}

function countingUp(items: readonly PromptChoice[]): readonly PromptChoice[] {
  const first = items[0];
  if (first === undefined || !isFirst(first.key)) return [];
  // A letter among numbers (`m = back to the main menu`) stays; more than one hole in the numbers is no menu.
  const numbers = items.filter(({ key }) => /^\d/.test(key));
  const holes = numbers.filter(({ key }, index) => index > 0 && Number(key) - Number(numbers[index - 1]?.key) > 1);
  return holes.length > (numbers.length > 3 ? 1 : 0) ? [] : items;
}

function isFirst(key: string): boolean {
  return key === "1" || key === "0" || key.toLowerCase() === "a";
}

function order(key: string): number {
  return /^\d/.test(key) ? Number(key) : 1_000 + key.toLowerCase().charCodeAt(0);
}

function itemsOf(line: string, bare: boolean): PromptChoice[] {
  const found = [...line.matchAll(ITEM)].map(({ groups }) => choiceOf(groups?.["key"] ?? "", groups?.["label"] ?? ""));
  if (found.length > 0 || !bare) return found;
  const groups = BARE_ITEM.exec(line)?.groups;
  return groups === undefined ? [] : [choiceOf(groups["key"] ?? "", groups["label"] ?? "")];
}

function choiceOf(key: string, label: string): PromptChoice {
  return { key, label: label.trim(), types: key };
}

function withoutDrawing(line: string): string {
  return /[│┃]/u.test(line) ? withoutFrame(line) : line.trimEnd();
}

const GROUP = /[[(](?<words>[^\s[\](),/|]{1,12}(?:[,/|]\s?[^\s[\](),/|]{1,12}){2,})[\])](?<tail>[^\n]{0,30})$/u;
const LETTER_MARKS = /[[(](?<letter>\p{L}|\d)[\])](?<rest>\p{L}+)/gu;
const SLASHED = /[?？.]\s{1,3}(?<words>\p{L}+(?:\/\p{L}+)+)\s*[?？:]\s*$/u;
/** `n/s/q> ` below `n) New remote`. */
const LISTED = /^\s*(?<words>\p{L}(?:\/\p{L})+)>\s*$/u;
const EXPAND = /^\? .*\((?<letters>[a-zA-Z]{1,9}[hH])\)\s*$/u;

/** `(Y/I/N/O/D/Z) [default=N]`, `[y,n,q,a,d,e,?]`, `(N)ame, (C)omment`, `Fix/Ignore/Cancel?`. */
export function inlineMenu({ asking, above }: ViewText): TextFinding | undefined {
  const question = asking.slice(-240);
  const listed = LISTED.exec(question)?.groups?.["words"]?.split("/");
  if (listed !== undefined && listed.every((word) => above.some((line) => line.trimStart().startsWith(`${word}) `))))
    return lettered(listed, { question, above });
  const group = GROUP.exec(question)?.groups;
  if (group !== undefined && /^\s*(?:[[(<][^\])>]{0,24}[\])>])?[^\p{L}\p{N}]*$/u.test(group["tail"] ?? "")) {
    const words = (group["words"] ?? "").split(/[,/|]\s?/u);
    const few = words.length <= 4 && yesAmong(words) !== undefined && words.some(isNo);
    if (!few) return lettered(words, { question, above });
  }
  const marks = [...question.matchAll(LETTER_MARKS)].map(({ groups }) =>
    choiceOf(groups?.["letter"] ?? "", (groups?.["letter"] ?? "") + (groups?.["rest"] ?? "")),
  );
  if (marks.length > 2 && /[?:>：]\s*$/u.test(question)) return menu(marks, { preset: defaultOf(question), question });
  const slashed = SLASHED.exec(question)?.groups?.["words"]?.split("/") ?? [];
  if (slashed.length > 1 && !slashed.some(isYes))
    return menu(
      slashed.map((it) => choiceOf(it, it)),
      { question },
    );
  const expand = EXPAND.exec(question)?.groups?.["letters"];
  if (expand !== undefined) return lettered(expand.split(""), { question, above });
  return undefined;
}

/** The lines above often say what each letter does: `y - stage this hunk`. */
function lettered(
  words: readonly string[],
  { question, above }: { readonly question: string; readonly above: readonly string[] },
): TextFinding {
  const items = words.map((word) => {
    const told = above.findLast((line) =>
      new RegExp(`^\\s*${escaped(word)}(?:\\s+or\\s+\\S+)?\\s*[-:=)]\\s+\\S`, "u").test(line),
    );
    return choiceOf(word, told?.replace(/^[^-:=)]*[-:=)]\s+/u, "") ?? word);
  });
  const preset = defaultOf(question);
  return menu(items, { preset: items.find(({ key }) => key === preset)?.key, question });
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

function menu(
  items: readonly PromptChoice[],
  more: { readonly preset?: string | undefined; readonly question: string },
): TextFinding {
  return {
    class: "NUMBERED_CHOICE",
    choices: items,
    accepts: items.map(({ key }) => key),
    default: more.preset,
    question: more.question.trim(),
    explicit: true,
  };
}

const NAMED_DEFAULT =
  /[[(（,]\s*(?:default|vorgabe(?: ist)?|défaut|(?:par |por )?defecto|por omisión|predeterminado|既定値|デフォルト|默认|缺省)[^\s=:()[\]]{0,8}\s*[=:：]?\s*(?<told>[^\s,)\]]+)\s*[)\]）]\s*[?？:：>]*$/iu;
const LAST_GROUP = /[[(（<]\s*(?<told>[^[\]()<>（）]{1,60}?)\s*[\])）>]\s*[?？:：>›]*$/u;
/** A range or a list of alternatives is no default, a path is. */
const NO_DEFAULT = /^\d+\s*[-–]\s*\d+$|[,|]|^[^/~.]{1,8}\/| for help$|^\p{L}+ \p{L}+ \p{L}+/u;

/** `[8080]`, `(default: x)`, `[default=N]`, `(1-4, default 1)`: what Enter alone stands for. */
export function defaultOf(question: string): string | undefined {
  const text = question.trimEnd();
  const told = NAMED_DEFAULT.exec(text)?.groups?.["told"] ?? unnamedDefault(text);
  return told?.replace(/^["'](.*)["']$/u, "$1");
}

function unnamedDefault(text: string): string | undefined {
  const told = LAST_GROUP.exec(text)?.groups?.["told"];
  return told === undefined || NO_DEFAULT.test(told) ? undefined : told;
}
