/** What shells print of themselves so that they could read it again: words in their quotes. */

/** The lines of a listing; a newline inside quotes belongs to its line. */
export function quotedLines(text: string): readonly string[] {
  const lines: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === "\n") {
      lines.push(text.slice(from, at));
      from = at + 1;
    } else at = quoteEnd(text, at);
  }
  return [...lines, text.slice(from)].filter((line) => line !== "");
}

/** The last character of the quote that begins at `at`, or `at` itself. */
function quoteEnd(text: string, at: number): number {
  switch (text[at]) {
    case "\\":
      return at + 1;
    case "'": {
      const isAnsi = text[at - 1] === "$";
      return isAnsi ? closing(text, at) : end(text, text.indexOf("'", at + 1));
    }
    case '"':
      return closing(text, at);
    default:
      return at;
  }
}

function closing(text: string, open: number): number {
  const quote = text[open];
  let at = open + 1;
  while (at < text.length && text[at] !== quote) at += text[at] === "\\" ? 2 : 1;
  return at;
}

function end(text: string, at: number): number {
  return at < 0 ? text.length : at;
}

/** As the shell would read it, for people to look at: escapes of control characters stay. */
export function unquoted(text: string): string {
  let plain = "";
  for (let at = 0; at < text.length; at += 1) {
    const last = Math.min(quoteEnd(text, at), text.length);
    const isAnsi = text[at] === "$" && text[at + 1] === "'";
    if (isAnsi) continue;
    if (last === at) plain += text[at];
    else if (text[at] === "\\") plain += text[last] ?? "";
    else plain += unescaped(text.slice(at + 1, last), text.slice(Math.max(0, at - 1), at + 1));
    at = last;
  }
  return plain;
}

function unescaped(inner: string, quote: string): string {
  if (quote === "$'") return inner.replaceAll(/\\(?:n|t|'|\\)/g, (escape) => ANSI[escape[1] ?? ""] ?? escape);
  return quote.endsWith('"') ? inner.replaceAll(/\\([\\"$`])/g, "$1") : inner;
}

const ANSI: Readonly<Record<string, string>> = { n: "\n", t: "\t", "'": "'", "\\": "\\" };
