/**
 * A card as Slack's blocks. What a program or a person wrote is shown letter for letter; only what an agent says is formatted.
 * Lengths are Slack's own limits: beyond them a message is refused whole. Rules CHN-70..CHN-75 in docs/spec/channels.md.
 */
import type { Button, Card } from "../../domain/channels/card.ts";
import { type Cut, cutInto, cutToOne, writeCode, writeMrkdwn, writePlain } from "./mrkdwn.ts";

type PlainText = { readonly type: "plain_text"; readonly text: string; readonly emoji: false };
type Mrkdwn = { readonly type: "mrkdwn"; readonly text: string; readonly verbatim: true };
type SlackButton = {
  readonly type: "button";
  readonly action_id: string;
  readonly text: PlainText;
  readonly value?: string;
  readonly url?: string;
  readonly style?: "primary" | "danger";
};
export type Block =
  | { readonly type: "header"; readonly text: PlainText }
  | { readonly type: "section"; readonly text: PlainText | Mrkdwn }
  | { readonly type: "section"; readonly fields: Mrkdwn[] }
  | { readonly type: "context"; readonly elements: Mrkdwn[] }
  | { readonly type: "actions"; readonly elements: SlackButton[] };

export type SlackMessage = {
  /** For notifications and screen readers. */
  readonly text: string;
  readonly blocks: Block[];
};

const HEADER_MAX = 150;
const LABEL_MAX = 75;
const SECTION_MAX = 3_000;
const SECTION_MIN = 300;
/** Of text and code together. */
const SECTIONS_MAX = 3;
/** What stands around the text of a section, and a note of what was left out. */
const AROUND = 200;
/** Of all blocks, written as JSON. Measured by others at about 13,200; Slack doesn't document it. */
const ALL_MAX = 12_500;
const FENCE = "```";
const FACTS_MAX = 10;
const FACT_MAX = 200;
const FACT_NAME_MAX = 50;
const FALLBACK_MAX = 1_000;
const BUTTONS_OF_ROW = 5;

export function slackMessage(card: Card): SlackMessage {
  const above = header(card);
  const below = [...facts(card), ...buttonRows(card), ...link(card)];
  const room = ALL_MAX - JSON.stringify([...above, ...below]).length;
  const length = Math.max(SECTION_MIN, Math.min(SECTION_MAX, Math.floor(room / SECTIONS_MAX) - AROUND));
  return {
    text: fallback(card),
    blocks: [...above, ...textSections(card, length), ...codeSections(card, length), ...below],
  };
}

function header({ title = "" }: Card): Block[] {
  const line = cutToOne(writePlain(title.replaceAll(/\s+/gu, " ").trim()), HEADER_MAX);
  return line === "" ? [] : [{ type: "header", text: plain(line) }];
}

function textSections({ kind, text, code }: Card, length: number): Block[] {
  const spoken = kind === "agent_message";
  const room = { length, begin: 1, end: code === undefined ? 1 : 0 };
  const cut = cutInto(spoken ? writeMrkdwn(text) : writePlain(text), room);
  return sections(cut, (it) => ({ type: "section", text: spoken ? mrkdwn(it) : plain(it) }));
}

/** Of output the newest counts; of a command the end may say as much as the beginning. */
function codeSections({ kind, code = "" }: Card, length: number): Block[] {
  const parts = kind === "output" ? { begin: 0, end: 2 } : { begin: 1, end: 1 };
  const cut = cutInto(writeCode(code), { length: length - 2 * `${FENCE}\n`.length, ...parts });
  return sections(cut, (it) => ({ type: "section", text: mrkdwn(`${FENCE}\n${it}\n${FENCE}`) }));
}

/** With a note where something was left out. */
function sections({ begin, omitted, end }: Cut, section: (text: string) => Block): Block[] {
  const gap = omitted > 0 ? [note(`… ${omitted} characters left out`)] : [];
  return [...begin.map(section), ...gap, ...end.map(section)];
}

function facts({ facts: all = [] }: Card): Block[] {
  if (all.length === 0) return [];
  const fields = all.slice(0, FACTS_MAX).map(({ name, value }) => {
    return mrkdwn(`*${cutToOne(writeMrkdwn(name), FACT_NAME_MAX)}*\n${cutToOne(writeMrkdwn(value), FACT_MAX)}`);
  });
  const left = all.length - fields.length;
  return [{ type: "section", fields }, ...(left > 0 ? [note(`… ${left} facts left out`)] : [])];
}

function buttonRows({ buttons }: Card): Block[] {
  const rows = buttons.map((row, line) => row.map((it, place) => slackButton(it, `press.${line}.${place}`)));
  return rows.flatMap((row) => chunks(row, BUTTONS_OF_ROW)).map((elements) => ({ type: "actions", elements }));
}

function slackButton({ label, action, style }: Button, id: string): SlackButton {
  const button = {
    type: "button",
    action_id: id,
    text: plain(cutToOne(writePlain(label), LABEL_MAX)),
    value: action,
  } as const;
  if (style === undefined) return button;
  return { ...button, style: style === "go" ? "primary" : "danger" };
}

function link({ link: opened }: Card): Block[] {
  if (opened === undefined) return [];
  const text = plain(cutToOne(writePlain(opened.label), LABEL_MAX));
  return [{ type: "actions", elements: [{ type: "button", action_id: "link", text, url: opened.url }] }];
}

function fallback({ kind, title, text, code }: Card): string {
  const words = [title, text.trim() === "" ? code : text].filter((it) => it !== undefined && it.trim() !== "");
  return cutToOne(writeMrkdwn(words.join("\n") || kind.replaceAll("_", " ")), FALLBACK_MAX);
}

function note(text: string): Block {
  return { type: "context", elements: [mrkdwn(text)] };
}

function plain(text: string): PlainText {
  return { type: "plain_text", text, emoji: false };
}

/** `verbatim`: addresses, channels and names in it are not turned into links. */
function mrkdwn(text: string): Mrkdwn {
  return { type: "mrkdwn", text, verbatim: true };
}

function chunks<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
}
