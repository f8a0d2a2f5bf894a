/**
 * Finds an agent's plan in its output: a heading with steps below it, or a run of steps that begin with verbs. A menu
 * that waits for an answer is never a plan. Rules PMT-80..PMT-87 and PMT-145 in docs/spec/prompts.md.
 */
export type DetectedPlan = { readonly title: string; readonly steps: readonly string[] };

export type PlanSearch = {
  /** The last output, bounded. */
  readonly text: string;
  /** Plans that were told, so that none is told twice. */
  readonly told: readonly string[];
};

export const PLAN_CHARACTERS_MAX = 8_192;
const TOLD_MAX = 16;
const STEPS_MAX = 40;
const STEP_MAX = 300;
/** Longer text behind a step is none of its explanation. */
const EXPLANATION_MAX = 1_000;
const STEPS_WITH_HEADING = 2;
const STEPS_ALONE = 3;
const VERB_SHARE = 0.6;

export const EMPTY_SEARCH: PlanSearch = { text: "", told: [] };

export type PlanCircumstances = {
  /** A program waits for an answer right now. */
  readonly asking: boolean;
  /** Nothing was printed for a while: what stands there is all of it. */
  readonly isQuiet: boolean;
};

/** `mayGoOn`: a plan ends what was printed so far, and whoever prints it may be in its middle. */
export type PlanFound = { readonly search: PlanSearch; readonly plan?: DetectedPlan; readonly mayGoOn?: true };

/** Takes a batch of output in. */
export function searchPlan(search: PlanSearch, output: string, { asking, isQuiet }: PlanCircumstances): PlanFound {
  const text = (search.text + output).slice(-PLAN_CHARACTERS_MAX);
  const found = asking ? undefined : findPlan(text);
  const key = found === undefined ? "" : found.plan.steps.join("\n");
  if (found === undefined || search.told.includes(key)) return { search: { ...search, text } };
  if (found.mayGoOn && !isQuiet) return { search: { ...search, text }, mayGoOn: true };
  return { search: { text: "", told: [...search.told, key].slice(-TOLD_MAX) }, plan: found.plan };
}

const PIECE_CHARACTERS = PLAN_CHARACTERS_MAX / 2;

/** Long output in parts that a search takes in one after the other, cut where no list of steps is cut. */
export function piecesOf(text: string): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > PIECE_CHARACTERS) {
    const lines = rest.slice(0, PIECE_CHARACTERS).split("\n").slice(0, -1);
    const last = lines.findLastIndex((line, index) => index > 0 && isOutsideList(line, lines[index - 1] ?? ""));
    const cut = last > 0 ? lines.slice(0, last).join("\n").length + 1 : PIECE_CHARACTERS;
    pieces.push(rest.slice(0, cut));
    rest = rest.slice(cut);
  }
  return rest === "" ? pieces : [...pieces, rest];
}

/** A line that neither goes on with a list nor stands right below a heading. */
function isOutsideList(line: string, before: string): boolean {
  return /^\S/u.test(line) && !STEP.test(line) && !BULLET.test(line) && !HEADING.test(before) && before.trim() !== "";
}

const HEADING =
  /^[\s#*_>⏺●•]*(?:(?:here(?:'|’)?s|here is|this is)\s+(?:(?:my|the|a|our)\s+)?(?:\w+\s+)?plan\b[^.?]{0,60}|(?:(?:my|the|proposed|implementation|execution|action|migration|revised|updated|refactoring|test|detailed|step-by-step)\s+)*plan(?:\s+of action|\s+for\s+[^.?:]{1,60})?|(?:i(?:'|’)ll|i will|i(?:'|’)m going to|let(?:'|’)s)\s+(?:follow|use|proceed with|go with|execute)?\s*(?:this|the following|these)\s+(?:plan|steps|approach)[^.?]{0,40}|(?:i(?:'|’)ll|i will|i plan to|we(?:'|’)ll)\s+(?:do|take|carry out|perform)\s+the following[^.?]{0,40}|mein plan|der plan|(?:mon|le) plan|plan d'action|mi plan|el plan)\s*[*_]*\s*[:：]?\s*[*_]*\s*$/iu;
const STEP =
  /^\s*(?:[*_]{2})?(?:(?<number>\d{1,2})[.)]|step\s+(?<step>\d{1,2})\s*[:.)-]|(?<box>[-*]\s\[[ x]\]|[☐☑◻]))\s*(?<text>\S.*)$/iu;
const BULLET = /^\s*[-*•]\s+(?<text>\S.*)$/u;
const PAST =
  /^(?:[*_`]*)(?:added|fixed|updated|created|removed|changed|refactored|implemented|wrote|ran|moved|renamed|deleted|installed|configured|verified)\b/iu;
const MENU_LEAD =
  /\b(?:choose|select|pick|which|what would you like|what do you want|options?|do you want|would you like|how (?:would|should|do) (?:you|i|we)|please (?:enter|answer|confirm))\b[^.]*[:?]?\s*$|\?\s*$/iu;
const MENU_END =
  /(?:\b(?:choose|select|enter|pick|choice|selection|option|number|which)\b.*[:?>\])]\s*$|^\s*[#?>❯›:]+\s*$|\[\d+\s*[-–]\s*\d+\]|\((?:y\/n|\d-\d)\)|esc to (?:cancel|exit)|enter to (?:confirm|select)|use arrow)/iu;
const POINTED = /^\s*[│|]?\s*[❯›▸▶➤>]\s*\d{1,2}[.)]/u;

const VERBS = new Set(
  (
    "add adjust analyze apply audit backup back build bump bundle change check clean clone commit compare compile configure convert copy create debug define delete deploy design " +
    "determine disable document download draft drop enable ensure establish evaluate examine execute explore export extend extract find fix format gather generate identify implement import improve " +
    "initialize inspect install integrate introduce investigate lint load locate log look make map merge migrate modify monitor move open optimize parse patch plan prepare profile publish pull push " +
    "read rebuild refactor register release remove rename replace reproduce research restart restore restructure retry return review revert rewrite run scan search send set setup simplify split start " +
    "stop store summarize switch sync tag test trace track trim tune understand uninstall update upgrade upload use validate verify wire wrap write"
  ).split(" "),
);

export function detectPlan(text: string): DetectedPlan | undefined {
  return findPlan(text)?.plan;
}

type Found = { readonly plan: DetectedPlan; readonly mayGoOn: boolean };

function findPlan(text: string): Found | undefined {
  const lines = text
    .slice(-PLAN_CHARACTERS_MAX)
    .split(/\r?\n/u)
    .map((line) => line.trimEnd());
  if (lines.some((line) => POINTED.test(line)) || endsAsMenu(lines)) return undefined;
  return planWithHeading(lines) ?? planOfVerbs(lines);
}

export function isPlanHeading(line: string): boolean {
  return HEADING.test(line) && !STEP.test(line);
}

function endsAsMenu(lines: readonly string[]): boolean {
  const last = lines.filter((line) => line.trim() !== "").slice(-2);
  return last.some((line) => MENU_END.test(line) && !STEP.test(line));
}

function planWithHeading(lines: readonly string[]): Found | undefined {
  for (const [row, line] of lines.entries()) {
    if (!isPlanHeading(line)) continue;
    const below = lines.slice(row + 1);
    const numbered = stepsIn(below, STEP);
    const { steps, mayGoOn } = numbered.steps.length > 0 ? numbered : stepsIn(below, BULLET);
    const future = steps.filter((step) => !PAST.test(step));
    if (future.length >= STEPS_WITH_HEADING && future.length * 2 > steps.length)
      return { plan: plan(line, steps), mayGoOn };
  }
  return undefined;
}

/** Steps near the heading; text between them is their explanation, another heading ends them. */
function stepsIn(lines: readonly string[], shape: RegExp): { readonly steps: string[]; readonly mayGoOn: boolean } {
  const steps: string[] = [];
  const behind = new Behind();
  for (const line of lines) {
    const text = shape.exec(line.slice(0, STEP_MAX))?.groups?.["text"];
    if (text === undefined) behind.add(line);
    else {
      steps.push(text);
      behind.clear();
    }
    if (behind.endsSteps) break;
  }
  return { steps, mayGoOn: !behind.endsSteps && behind.characters < EXPLANATION_MAX };
}

/** What stands behind a step and is none. */
class Behind {
  #lines = 0;
  #isHeaded = false;
  characters = 0;

  get endsSteps(): boolean {
    return this.#lines > 3 || this.#isHeaded;
  }

  add(line: string): void {
    this.characters += line.length;
    if (line.trim() !== "" && !/^\s{2,}/u.test(line)) this.#lines += 1;
    this.#isHeaded ||= /^#{1,6}\s/u.test(line);
  }

  clear(): void {
    this.#lines = 0;
    this.characters = 0;
  }
}

function planOfVerbs(lines: readonly string[]): Found | undefined {
  const rows = lines.map((line) => ({ line, groups: STEP.exec(line.slice(0, STEP_MAX))?.groups }));
  const last = rows.findLastIndex(({ groups }) => groups !== undefined);
  let first = last;
  while (first > 0 && (rows[first - 1]?.groups !== undefined || /^\s{2,}\S/u.test(rows[first - 1]?.line ?? "")))
    first -= 1;
  const found = rows
    .slice(Math.max(0, first), last + 1)
    .flatMap(({ groups }) => (groups === undefined ? [] : [groups]));
  const numbers = found.map(({ number, step }) => Number(number ?? step));
  if (found.length < STEPS_ALONE || !numbers.every((it, index) => it === index + 1)) return undefined;
  const steps = found.map((it) => it["text"] ?? "");
  const lead = lines.slice(0, Math.max(0, first)).findLast((line) => line.trim() !== "") ?? "";
  if (
    MENU_LEAD.test(lead) ||
    /\b(?:did|done|changes made|summary|results?|usage|example|errors?|warnings?)\b/iu.test(lead)
  )
    return undefined;
  const verbs = steps.filter(
    (step) =>
      step.length > 12 && VERBS.has(/^[\s*_`]*(?<word>\p{L}+)/u.exec(step)?.groups?.["word"]?.toLowerCase() ?? ""),
  );
  if (verbs.length < steps.length * VERB_SHARE) return undefined;
  const behind = new Behind();
  for (const line of lines.slice(last + 1)) behind.add(line);
  return { plan: plan(lead, steps), mayGoOn: !behind.endsSteps && behind.characters < EXPLANATION_MAX };
}

function plan(heading: string, steps: readonly string[]): DetectedPlan {
  const title = heading
    .replaceAll(/[#*_>⏺●]+/gu, "")
    .replace(/[:：]\s*$/u, "")
    .trim();
  return {
    title: title === "" ? "Plan" : title,
    steps: steps.slice(0, STEPS_MAX).map((step) => step.trim().slice(0, STEP_MAX)),
  };
}
