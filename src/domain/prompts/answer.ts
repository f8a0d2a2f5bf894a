/**
 * From a person's reply to the bytes that the program wants: its own literal, the keys that move a highlight, text and
 * Enter apart where the program reads keys. What is not clear is asked back; nothing is ever guessed.
 * Rules PMT-50..PMT-61 in docs/spec/prompts.md.
 */
import { utf8Length } from "../display-text.ts";
import type { Prompt, PromptChoice } from "./prompt.ts";
import { meaningOf } from "./words.ts";

export type Reply = { readonly by: "button"; readonly key: string } | { readonly by: "text"; readonly text: string };

export type Answer =
  /** Each write goes in only if the question still stands. `shown` is the `{value}` of feedback. */
  | { readonly ok: true; readonly writes: readonly string[]; readonly shown: string; readonly repeatable: boolean }
  | { readonly ok: false; readonly ask: string };

const ENTER = "\r";
const KEYS = { up: "\u001B[A", down: "\u001B[B", right: "\u001B[C", left: "\u001B[D", tab: "\t", space: " " };
/** The kernel cuts longer lines of a terminal without a word. */
const LINE_BYTES_MAX = 4_000;
// oxlint-disable-next-line no-control-regex -- those are what is looked for
const CONTROL = /[\u0000-\u001F\u007F-\u009F]/u;
const FINGERPRINT = /^(?:SHA256:[\w+/]{20,}=?|MD5:[\da-f:]{20,})$/u;

export function answerTo(prompt: Prompt, reply: Reply): Answer {
  const refusal = reply.by === "text" ? unfitForLine(reply.text) : undefined;
  if (refusal !== undefined) return ask(refusal);
  if (isDefault(prompt, reply) && prompt.default !== undefined && prompt.class !== "PASSWORD_INPUT")
    return defaultOf(prompt, prompt.default);
  switch (prompt.class) {
    case "YES_NO":
      return answerYesNo(prompt, reply);
    case "CONFIRM_ENTER":
      return answerConfirm(prompt, reply);
    case "NUMBERED_CHOICE":
      return answerChoice(prompt, reply);
    case "FREE_TEXT":
    case "CHAT_INPUT":
    case "PASSWORD_INPUT":
    case "FOLDER_TRUST":
      return reply.by === "text" ? typed(prompt, reply.text, reply.text) : ask("Please send the answer as a message.");
    case "RAW_TERMINAL":
      return ask("This question can't be answered from here. Please respond locally.");
  }
}

/** A person's text as it is: for a class that only ML gave. */
export function literalAnswer(prompt: Prompt, text: string): Answer {
  const refusal = unfitForLine(text);
  return refusal === undefined ? typed(prompt, text, text) : ask(refusal);
}

/** An item of that name is that item, wherever the highlight is. */
function isDefault({ choices }: Prompt, reply: Reply): boolean {
  return reply.by === "button" && reply.key === "default" && choices.every(({ key }) => key !== "default");
}

/** Enter alone, but at the end of a pager, which Enter doesn't leave. */
function defaultOf(prompt: Prompt, key: string): Answer {
  return prompt.class === "CONFIRM_ENTER" ? answerConfirm(prompt, { by: "button", key }) : written([ENTER], key);
}

/** More lines would answer questions that nobody has seen yet. */
export function unfitForLine(text: string): string | undefined {
  if (CONTROL.test(text)) return "Please send one line, without control characters.";
  if (utf8Length(text) > LINE_BYTES_MAX) return "That is too long for one line of a terminal.";
  return undefined;
}

function answerYesNo(prompt: Prompt, reply: Reply): Answer {
  const said = saidOf(reply);
  if (prompt.accepts.includes("[fingerprint]") && FINGERPRINT.test(said)) return typed(prompt, said, said);
  const lower = said.toLowerCase();
  // The program's own letters are before what they mean elsewhere: `s` for `[y/n/S]` skips, it is no Spanish yes.
  const literal =
    prompt.choices.find(({ types }) => types === said) ??
    prompt.choices.find(({ key, types }) => key.toLowerCase() === lower || types?.toLowerCase() === lower);
  const chosen = literal ?? prompt.choices.find(({ key }) => key === meaningOf(said));
  if (chosen === undefined) return ask(`Please reply with ${listed(prompt.choices)}.`);
  return enter(prompt, [chosen]);
}

const GO_ON = /^(?:|enter|return|continue|go on|more|next|weiter|ok|okay|y|yes)$/iu;

function answerConfirm(prompt: Prompt, reply: Reply): Answer {
  const said = saidOf(reply);
  const chosen =
    prompt.choices.find(({ key }) => key === said.toLowerCase()) ?? (GO_ON.test(said) ? prompt.choices[0] : undefined);
  if (chosen === undefined) return ask(`Please reply with ${listed(prompt.choices)}.`);
  const types = chosen.types ?? "";
  if (types === "") return written([ENTER], "Enter");
  return prompt.entry === "key" ? written([types], types) : written([types, ENTER], `${types} + Enter`);
}

function answerChoice(prompt: Prompt, reply: Reply): Answer {
  const said = saidOf(reply);
  const parts = prompt.multiple === true ? said.split(/\s*[,;]\s*|\s+(?=\d)/u).filter((it) => it !== "") : [said];
  const chosen = parts.map((part) => chosenBy(prompt.choices, part));
  const clear = chosen.filter((it) => it !== undefined);
  if (clear.length === 0 || clear.length < chosen.length) return ask(`Please reply with ${listed(prompt.choices)}.`);
  return enter(prompt, clear);
}

/** By key, by label, by the only label that begins so. */
function chosenBy(choices: readonly PromptChoice[], said: string): PromptChoice | undefined {
  const lower = said.toLowerCase();
  const tests: readonly ((it: PromptChoice) => boolean)[] = [
    ({ key }) => key === said,
    ({ key }) => key.toLowerCase() === lower,
    ({ label }) => label.toLowerCase() === lower,
    ({ label }) => lower.length > 1 && new RegExp(String.raw`^${escaped(lower)}(?![\p{L}\p{N}])`, "iu").test(label),
    ({ label }) => lower.length > 2 && label.toLowerCase().startsWith(lower),
  ];
  for (const test of tests) {
    const found = choices.filter(test);
    if (found.length === 1) return found[0];
    if (found.length > 1) return undefined;
  }
  return undefined;
}

function escaped(text: string): string {
  return text.replaceAll(/[$()*+.?[\\\]^{|}]/g, String.raw`\$&`);
}

function enter(prompt: Prompt, chosen: readonly PromptChoice[]): Answer {
  const shown = chosen.map(({ key }) => key).join(", ");
  const [only] = chosen;
  if (chosen.length === 1 && only?.types !== undefined) {
    return typed(prompt, only.types, prompt.class === "YES_NO" ? only.types : shown);
  }
  const at = prompt.choices.findIndex(({ highlighted }) => highlighted === true);
  if (at < 0) return ask("Which item is highlighted can't be seen from here. Please respond locally.");
  const keys =
    prompt.multiple === true ? toggles(prompt.choices, chosen, at) : moves(prompt, at, prompt.choices.indexOf(only!));
  return written(keys === "" ? [ENTER] : [keys, ENTER], shown);
}

function moves({ entry, choices }: Prompt, from: number, to: number): string {
  if (entry === "buttons") return KEYS.tab.repeat((to - from + choices.length) % choices.length);
  const [forth, back] = entry === "sideways" ? [KEYS.right, KEYS.left] : [KEYS.down, KEYS.up];
  return to >= from ? forth.repeat(to - from) : back.repeat(from - to);
}

/** From the top down, so that no menu has to wrap around. */
function toggles(choices: readonly PromptChoice[], wanted: readonly PromptChoice[], from: number): string {
  const wrong = choices.flatMap((it, index) => ((it.checked === true) === wanted.includes(it) ? [] : [index]));
  let at = from;
  let keys = "";
  for (const index of wrong) {
    keys += index >= at ? KEYS.down.repeat(index - at) : KEYS.up.repeat(at - index);
    keys += KEYS.space;
    at = index;
  }
  return keys;
}

function typed(prompt: Prompt, text: string, shown: string): Answer {
  if (text === "") return written([ENTER], shown);
  return written(prompt.entry === "line" ? [text + ENTER] : [text, ENTER], shown);
}

/** Keys before Enter change what the same keys would mean the next time. */
function written(writes: readonly string[], shown: string): Answer {
  return { ok: true, writes, shown, repeatable: writes.length === 1 };
}

function saidOf(reply: Reply): string {
  return (reply.by === "button" ? reply.key : reply.text).trim();
}

function listed(choices: readonly PromptChoice[]): string {
  const keys = choices.slice(0, 12).map(({ key }) => key);
  return keys.length < 2 ? (keys[0] ?? "the answer") : `${keys.slice(0, -1).join(", ")} or ${keys.at(-1)}`;
}

function ask(question: string): Answer {
  return { ok: false, ask: question };
}
