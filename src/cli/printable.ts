/**
 * Text from elsewhere, made safe for a terminal. A title or a payload may hold escape sequences that rewrite the
 * screen, or invisible characters that reorder it; they are shown, never sent (CLI-6 in docs/spec/cli.md).
 */
const UNSAFE = /[\p{C}\p{Zl}\p{Zp}]/gu;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t", "\u001b": "\\e" };

export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (char) => SHORT[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}

/** The same for text of several lines: line ends and tabs stay. */
export function printableText(text: string): string {
  return text.replaceAll(UNSAFE, (char) => (char === "\n" || char === "\t" ? char : printable(char)));
}

/** JSON that means the same and holds nothing unsafe: `JSON.stringify` alone leaves DEL, C1 and bidi controls. */
export function printableJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, undefined, indent);
  return json.replaceAll(UNSAFE, (char) => (char === "\n" ? char : codeUnits(char)));
}

function codeUnits(char: string): string {
  const units = char.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"));
  return units.map((unit) => `\\u${unit}`).join("");
}
