/**
 * Menus that are drawn and moved through with keys: a pointer before one of several lines (inquirer, clack, prompts,
 * gum, the permission menus of coding agents) and boxes with buttons (whiptail, dialog).
 */
import type { PromptChoice, TextFinding } from "./prompt.ts";
import { asksForSecret } from "./secret-words.ts";
import { type ViewText, withoutFrame } from "./view-text.ts";
import { isNo, isYes } from "./words.ts";

const POINTER = /^(?<indent>[\s│┃|]*)(?<pointer>[❯›▸▶➤→►»]|>(?=\s?(?:\d+[.)]|[◯◉○●◻◼☐☑]|\S)))(?<rest>\s*\S.*)$/u;
const RADIO = /^[\s│┃|]*(?<mark>[●○])\s+(?<label>\S.*)$/u;
const BOX = /^(?<box>[◯◉◻◼☐☑✔]|\[[ xX*✔]\]|\([ *•]\))\s*(?<label>.*)$/u;
const CHECKED = /^[◉◼☑✔]|[xX*✔•]/u;
const NUMBER = /^(?<number>\d{1,2})[.)]\s+(?<label>\S.*)$/u;
const HINT =
  /^(?:[↑↓←→⏎⎋]|\(?use arrow|use (?:the )?arrow|press (?:enter|space|esc|↑)|enter to|esc to|space:|instructions|↑\/↓|.*\bto navigate\b|tab to|\(move up)/iu;

export function drawnMenu(text: ViewText): TextFinding | undefined {
  return dialog(text) ?? yesNoSwitch(text) ?? radioMenu(text) ?? pointerMenu(text);
}

type Item = { readonly label: string; readonly highlighted: boolean; readonly checked?: boolean | undefined };

/** One line has the pointer, its neighbours begin at the same column without it. */
function pointerMenu({ all, cursor, asking }: ViewText): TextFinding | undefined {
  // A list that is searched by typing: the answer is text.
  if (/^>\s*$/u.test(asking)) return undefined;
  const at = all.findLastIndex((line) => POINTER.test(line) && !HINT.test(line.trim()));
  const here = POINTER.exec(all[at] ?? "")?.groups;
  if (here === undefined) return checkList(all);
  const column =
    (here["indent"] ?? "").length + 1 + ((here["rest"] ?? "").length - (here["rest"] ?? "").trimStart().length);
  const isNeighbour = (row: number): boolean => {
    const line = all[row] ?? "";
    const begin = beginOf(line);
    return (
      begin >= Math.min(column, (here["indent"] ?? "").length + 1) &&
      begin <= column + 1 &&
      !HINT.test(line.trim()) &&
      !isBorder(line)
    );
  };
  const rests = restRows(all, at, isNeighbour);
  const isPart = (row: number): boolean => isNeighbour(row) || rests.has(row);
  let first = at;
  while (first > 0 && isPart(first - 1)) first -= 1;
  let last = at;
  while (last < all.length - 1 && isPart(last + 1)) last += 1;
  // A prompt of a shell or a quotation begins with such a sign too: the cursor of a menu stands below or above it.
  if (cursor.row === at && cursor.column > column && !/\d[.)]/.test(all[at] ?? "")) return undefined;
  const begins = Array.from({ length: last - first + 1 }, (_, index) => first + index).filter((row) => !rests.has(row));
  const items = begins.map((row, index) => {
    const lines = all.slice(row, begins[index + 1] ?? last + 1).map(withoutFrame);
    return itemOf(lines.filter((line) => line !== "").join(" "), row === at);
  });
  if (items.length < 2 || items.some(({ label }) => label === "")) return undefined;
  return drawn(numbered(items), questionAbove(all, first));
}

/** Lines that a label, or what explains it, may go on over. */
const REST_MAX = 4;
const BEFORE_LABEL = /^[\s│┃|]*(?:[❯›▸▶➤→►»>]\s*)?\d{1,2}[.)]\s+/u;

/**
 * Rows that belong to the label above them: those up to the item with the next number, and what hangs below the label of
 * the last. Without numbers a line that begins deeper may be an item of its own, and a move by arrows would miss.
 */
function restRows(all: readonly string[], at: number, isNeighbour: (row: number) => boolean): ReadonlySet<number> {
  const rests = new Set<number>();
  const isText = (row: number): boolean =>
    row in all && !HINT.test((all[row] ?? "").trim()) && !isBorder(all[row] ?? "");
  const numberAt = (row: number): number =>
    row === at || isNeighbour(row) ? Number(NUMBER.exec(itemOf(all[row] ?? "", false).label)?.groups?.["number"]) : NaN;
  let from = at;
  for (const step of [-1, 1]) {
    from = at;
    for (let row = at + step; isText(row) && Math.abs(row - from) <= REST_MAX + 1; row += step) {
      if (numberAt(row) !== numberAt(from) + step) continue;
      for (let rest = from + step; rest !== row; rest += step) rests.add(rest);
      from = row;
    }
  }
  const label = BEFORE_LABEL.exec(all[from] ?? "")?.[0].length;
  for (let row = from + 1; isText(row) && beginOf(all[row] ?? "") === label; row += 1) rests.add(row);
  return rests;
}

function beginOf(line: string): number {
  return line.search(/[^\s│┃|]/u);
}

function isBorder(line: string): boolean {
  return /^[─━╭╰└┌]/u.test(line.trim());
}

function itemOf(line: string, highlighted: boolean): Item {
  const bare = withoutFrame(line).replace(/^[❯›▸▶➤→►»>]\s*/u, "");
  const groups = BOX.exec(bare)?.groups;
  if (groups === undefined) return { label: bare.trim(), highlighted };
  return { label: (groups["label"] ?? "").trim(), highlighted, checked: CHECKED.test((groups["box"] ?? "").trim()) };
}

/** The keys are the menu's own numbers, else places. */
function numbered(items: readonly Item[]): PromptChoice[] {
  return items.map(({ label, highlighted, checked }, index) => {
    const own = NUMBER.exec(label)?.groups;
    return {
      key: own?.["number"] ?? String(index + 1),
      label: own?.["label"] ?? label,
      ...(highlighted && { highlighted }),
      ...(checked !== undefined && { checked }),
    };
  });
}

/** Check boxes whose pointer is a colour: where it stands is not known. */
function checkList(all: readonly string[]): TextFinding | undefined {
  const isBox = (line: string): boolean => /^[◯◉◻◼☐☑]\s*\S/u.test(withoutFrame(line));
  const last = all.findLastIndex(isBox);
  let first = last;
  while (first > 0 && isBox(all[first - 1] ?? "")) first -= 1;
  if (last - first < 1) return undefined;
  const items = all.slice(first, last + 1).map((line) => itemOf(line, false));
  return drawn(numbered(items), questionAbove(all, first));
}

/** `● TypeScript` and `○ JavaScript` of clack: the full one is the present one. */
function radioMenu({ all }: ViewText): TextFinding | undefined {
  const last = all.findLastIndex((line) => RADIO.test(line));
  let first = last;
  while (first > 0 && RADIO.test(all[first - 1] ?? "")) first -= 1;
  if (last - first < 1) return undefined;
  const items = all.slice(first, last + 1).map((line) => {
    const groups = RADIO.exec(line)?.groups;
    return { label: (groups?.["label"] ?? "").trim(), highlighted: groups?.["mark"] === "●" };
  });
  return items.filter(({ highlighted }) => highlighted).length === 1
    ? drawn(numbered(items), questionAbove(all, first))
    : undefined;
}

/** `● Yes / ○ No`, or two words beside each other whose present one is only a colour. */
function yesNoSwitch({ all, asking }: ViewText): TextFinding | undefined {
  const row = all.findLastIndex((line) => /[●○]\s*\p{L}+\s*\/\s*[●○]\s*\p{L}+/u.test(line));
  if (row >= 0 && row >= all.length - 4) {
    const found = [...(all[row] ?? "").matchAll(/(?<mark>[●○])\s*(?<label>\p{L}+)/gu)].map(({ groups }) => ({
      label: groups?.["label"] ?? "",
      highlighted: groups?.["mark"] === "●",
    }));
    return consent(found, { entry: "sideways", question: questionAbove(all, row) });
  }
  const words = /[›‣»]\s*(?<first>\p{L}+)\s\/\s(?<second>\p{L}+)\s*$/u.exec(asking)?.groups;
  if (words === undefined) return undefined;
  const found = [words["first"], words["second"]].map((label = "") => ({ label, highlighted: false }));
  return consent(found, { entry: "sideways", question: asking.replace(/\s*[›‣»].*$/u, "").trim() });
}

const BUTTON = /<\s*(?<label>[^<>]{1,20}?)\s*>/gu;

/** A box with buttons in its last line; the cursor stands on what has the focus. */
function dialog({ all, cursor }: ViewText): TextFinding | undefined {
  const end = all.findLastIndex((line) => /[└╰].*[─].*[┘╯]/u.test(line));
  const row = all.slice(0, end).findLastIndex((line) => [...line.matchAll(BUTTON)].length > 0);
  const begin = all.slice(0, Math.max(0, row)).findLastIndex((line) => /^\s*[┌╭]/u.test(line));
  if (end < 0 || row < 0 || begin < 0 || end - row > 3) return undefined;
  const buttons = [...(all[row] ?? "").matchAll(BUTTON)].map((it) => ({
    label: it.groups?.["label"] ?? "",
    highlighted: cursor.row === row && cursor.column >= it.index && cursor.column < it.index + it[0].length,
  }));
  const inside = all.slice(begin + 1, row).map(innermost);
  const question = inside.filter((line) => line !== "" && !/^[─├┤┌┐└┘]+$/u.test(line));
  if (buttons.length === 2 && buttons.some(({ label }) => isYes(label)) && buttons.some(({ label }) => isNo(label)))
    return consent(buttons, { entry: "buttons", question: question.join(" ") });
  return boxContent({ all, cursor, begin, row, question });
}

function boxContent(it: {
  readonly all: readonly string[];
  readonly cursor: ViewText["cursor"];
  readonly begin: number;
  readonly row: number;
  readonly question: readonly string[];
}): TextFinding {
  const { all, cursor, begin, row, question } = it;
  const field = all.slice(begin, row).some((line) => /_{6,}/u.test(line)) || isBoxedField(all, cursor.row);
  if (field) {
    const words = question.filter((line) => !/_{3,}/u.test(line));
    const secret = asksForSecret(words.join(" "));
    return {
      class: secret ? "PASSWORD_INPUT" : "FREE_TEXT",
      choices: [],
      accepts: [],
      question: words.join(" "),
      entry: "keys",
      explicit: true,
    };
  }
  const inside = all.slice(begin + 1, row);
  const tagged = boxItems(inside, cursor.row - begin - 1);
  const items = tagged.length > 1 ? tagged : plainItems(inside, cursor.row - begin - 1);
  if (items.length > 1) {
    const choices = items.map(({ label, key, highlighted, checked }) => ({
      key,
      label,
      ...(highlighted && { highlighted }),
      ...(checked !== undefined && { checked }),
    }));
    return { ...drawn(choices, question[0] ?? ""), accepts: [] };
  }
  return {
    class: "CONFIRM_ENTER",
    choices: [{ key: "enter", label: "Ok", types: "" }],
    accepts: [],
    question: question.join(" "),
    entry: "key",
    explicit: true,
  };
}

/** The cursor stands in a box of one line. */
function isBoxedField(all: readonly string[], row: number): boolean {
  return /[│]\s*[┌]─+┐/u.test(all[row - 1] ?? "") && /└─+┘/u.test(all[row + 1] ?? "");
}

type BoxItem = Item & { readonly key: string };

/** A list without tags: the lines around the cursor. */
function plainItems(lines: readonly string[], focus: number): BoxItem[] {
  const isText = (row: number): boolean => innermost(lines[row] ?? "") !== "";
  if (focus < 0 || !isText(focus)) return [];
  let first = focus;
  while (isText(first - 1)) first -= 1;
  let end = focus + 1;
  while (isText(end)) end += 1;
  return lines.slice(first, end).map((line, index) => {
    const label = innermost(line);
    return { key: String(index + 1), label, highlighted: first + index === focus };
  });
}

/** Tag and label stand in columns; the longest tag may leave one space between them. */
function boxItems(lines: readonly string[], focus: number): BoxItem[] {
  const rows = lines.map((line) => /^(?<box>\([ *]\)|\[[ *]\])?\s*(?<text>.*)$/u.exec(innermost(line))?.groups ?? {});
  const gap = Math.max(0, ...rows.map(({ text = "" }) => /^\S+\s{2,}(?=\S)/u.exec(text)?.[0].length ?? 0));
  return rows.flatMap(({ box, text = "" }, row) => {
    const inColumns = gap > 0 && text[gap - 1] === " " && /^\S+\s+\S/u.test(text);
    if (!inColumns && box === undefined) return [];
    const key = inColumns ? (/^\S+/u.exec(text)?.[0] ?? "") : text;
    const label = inColumns ? text.slice(gap) : text;
    return [{ key, label, highlighted: row === focus, checked: box?.includes("*") }];
  });
}

function innermost(line: string): string {
  return line.replace(/^[\s│]+/u, "").replace(/[\s│]+$/u, "");
}

function consent(
  found: readonly Item[],
  more: { readonly entry: "buttons" | "sideways"; readonly question: string },
): TextFinding | undefined {
  if (!found.some(({ label }) => isYes(label)) || !found.some(({ label }) => isNo(label))) return undefined;
  const choices = found.map(({ label, highlighted }) => ({
    key: isYes(label) ? "yes" : "no",
    label,
    ...(highlighted && { highlighted }),
  }));
  return {
    class: "YES_NO",
    choices,
    accepts: [],
    default: choices.find((it) => it.highlighted === true)?.key,
    explicit: true,
    ...more,
  };
}

function drawn(choices: readonly PromptChoice[], question: string): TextFinding {
  return {
    class: "NUMBERED_CHOICE",
    choices,
    accepts: [],
    default: choices.find(({ highlighted }) => highlighted === true)?.key,
    question,
    entry: "arrows",
    explicit: true,
    ...(choices.some(({ checked }) => checked !== undefined) && { multiple: true }),
  };
}

/** The nearest line above that is text. */
function questionAbove(all: readonly string[], row: number): string {
  const line = all.slice(0, row).findLast((it) => /[\p{L}]/u.test(it) && !HINT.test(withoutFrame(it)));
  return withoutFrame(line ?? "").replace(/^[?◆◇]\s+/u, "");
}
