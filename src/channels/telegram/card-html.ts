/**
 * A card as a message of Telegram: HTML in which everything that isn't ours is escaped, and buttons below it. It always fits: of prose
 * the beginning is kept, of code the end, where a program's question is. Rules CHN-53..CHN-58 in docs/spec/channels.md.
 */
import type { InlineKeyboardButton } from "grammy/types";
import type { Card } from "../../domain/channels/card.ts";
import { ACTION_BYTES_MAX } from "../../domain/channels/card.ts";
import { ChannelFailed } from "../../hub/channel-port.ts";
import { cleanText, cutText, escapeHtml, fittedHtml, fittedLine } from "./html-text.ts";

export type Keyboard = readonly (readonly InlineKeyboardButton[])[];

export type TelegramMessage = { readonly html: string; readonly keyboard: Keyboard };

/** Of the text with its markup; Telegram itself counts without. */
export const HTML_MAX = 4096;
const TITLE_MAX = 256;
const FACT_NAME_MAX = 64;
const FACT_VALUE_MAX = 300;
const FACTS_MAX = 1200;
const ROW_BUTTONS_MAX = 8;
const BUTTONS_MAX = 100;
const LABEL_MAX = 100;
const STYLES = { go: "success", stop: "danger" } as const;

export function telegramMessage(card: Card): TelegramMessage {
  const onButton = card.link !== undefined && buttonTakes(card.link.url);
  return {
    html: cardHtml(card, onButton ? undefined : card.link),
    keyboard: keyboardOf(card, onButton ? card.link : undefined),
  };
}

function cardHtml(card: Card, link: Card["link"]): string {
  const title = card.title === undefined || card.title === "" ? "" : fittedLine(cleanText(card.title), TITLE_MAX);
  const before = title === "" ? "" : `<b>${title}</b>\n`;
  const facts = factsHtml(card.facts ?? []);
  const after = link === undefined ? "" : linkHtml(link);
  const text = cleanText(card.text);
  const code = cleanText(card.code ?? "");

  const room = HTML_MAX - before.length - facts.length - after.length - "\n<pre></pre>\n".length;
  const codeRoom = Math.min(escapeHtml(code).length, Math.max(room >> 1, room - escapeHtml(text).length));
  const prose = fittedHtml(text, room - codeRoom, "head");
  const block = code === "" ? "" : `<pre>${fittedHtml(code, codeRoom, "tail")}</pre>\n`;
  const html = `${before}${prose === "" ? "" : `${prose}\n`}${facts}${block}${after}`.trimEnd();
  return isSeen(html) ? html : "(empty)";
}

function factsHtml(facts: NonNullable<Card["facts"]>): string {
  let html = "";
  for (const { name, value } of facts) {
    const line = `<b>${fittedLine(cleanText(name), FACT_NAME_MAX)}:</b> ${fittedLine(cleanText(value), FACT_VALUE_MAX)}\n`;
    if (html.length + line.length > FACTS_MAX) return `${html}…\n`;
    html += line;
  }
  return html;
}

/** As code: a tap copies it, where Telegram would not make it a link. */
function linkHtml({ label, url }: NonNullable<Card["link"]>): string {
  const html = `${fittedLine(cleanText(label), LABEL_MAX)}: <code>${escapeHtml(url)}</code>`;
  if (html.length > HTML_MAX / 2) throw new ChannelFailed("a link is too long for Telegram", "never");
  return html;
}

/** Telegram refuses a message without anything to see. */
function isSeen(html: string): boolean {
  return /[^\p{Z}\p{C}\s]/u.test(html.replaceAll(/<[^>]*>/g, ""));
}

function keyboardOf(card: Card, link: Card["link"]): Keyboard {
  const rows = card.buttons.flatMap((row) => {
    const buttons = row.map(({ label, action, style }) => ({
      text: buttonLabel(label),
      callback_data: checkedAction(action),
      ...(style === undefined ? {} : { style: STYLES[style] }),
    }));
    return inRows(buttons);
  });
  if (rows.flat().length > BUTTONS_MAX) {
    throw new ChannelFailed(`a card has more than ${BUTTONS_MAX} buttons`, "never");
  }
  return link === undefined ? rows : [...rows, [{ text: buttonLabel(link.label), url: link.url }]];
}

function inRows<T>(buttons: readonly T[]): T[][] {
  const count = Math.ceil(buttons.length / ROW_BUTTONS_MAX);
  return Array.from({ length: count }, (_, at) => buttons.slice(at * ROW_BUTTONS_MAX, (at + 1) * ROW_BUTTONS_MAX));
}

function buttonLabel(label: string): string {
  const clean = cutText(cleanText(label), LABEL_MAX);
  return isSeen(escapeHtml(clean)) ? clean : "…";
}

function checkedAction(action: string): string {
  const bytes = Buffer.byteLength(action);
  if (bytes === 0 || bytes > ACTION_BYTES_MAX) {
    throw new ChannelFailed(`an action of a button has ${bytes} bytes: 1 to ${ACTION_BYTES_MAX} are possible`, "never");
  }
  return action;
}

/** Telegram takes no address without a dot (`localhost`), and nobody's phone reaches our own loopback. */
function buttonTakes(address: string): boolean {
  const url = URL.parse(address);
  if (url === null || !["http:", "https:"].includes(url.protocol)) return false;
  const host = url.hostname.replace(/\.$/, "");
  return host.includes(".") && !host.startsWith("127.") && !host.endsWith(".localhost");
}
