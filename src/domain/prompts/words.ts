/** Words that programs and people use for yes and no, in the languages that common tools speak. */

const YES = new Set(["y", "yes", "j", "ja", "o", "oui", "s", "si", "sí", "sim", "ｙ", "はい", "是", "是的"]);
const NO = new Set(["n", "no", "nein", "non", "não", "nao", "ｎ", "いいえ", "否", "不", "不是"]);
/** What only people say. */
const AGREE = new Set([
  "ok",
  "okay",
  "yeah",
  "yep",
  "yea",
  "sure",
  "allow",
  "approve",
  "accept",
  "confirm",
  "klar",
  "d'accord",
]);
const DECLINE = new Set(["nope", "nah", "deny", "reject", "refuse", "decline", "nö"]);

export function isYes(word: string): boolean {
  return YES.has(word.toLowerCase());
}

export function isNo(word: string): boolean {
  return NO.has(word.toLowerCase());
}

/** A person's word. `cancel`, `stop` and the like are neither: what they'd mean depends on the question. */
export function meaningOf(reply: string): "yes" | "no" | undefined {
  const word = reply
    .trim()
    .toLowerCase()
    .replace(/[.!。！]+$/u, "");
  if (isYes(word) || AGREE.has(word)) return "yes";
  if (isNo(word) || DECLINE.has(word)) return "no";
  return undefined;
}
