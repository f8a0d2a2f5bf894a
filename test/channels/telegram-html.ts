/** Telegram's own reading of HTML in a message: as strict as the real one. */
const TAGS = new Set("b strong i em u ins s strike del tg-spoiler code pre blockquote span a".split(" "));
const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"' };
const TOKEN = /<(\/?)([a-zA-Z][\w-]*)((?:\s[^<>]*)?)>|&(?:#(\d+)|([a-z]+));|[^<&]+|[<&]/gsy;

export class HtmlRefused extends Error {}

export type Shown = {
  readonly text: string;
  /** What stands in a tag, as `pre: …`, in the order in which the tags end. */
  readonly marked: readonly { readonly tag: string; readonly text: string }[];
};

export function readHtml(html: string): Shown {
  const open: { tag: string; begin: number }[] = [];
  const marked: { tag: string; text: string }[] = [];
  let text = "";
  for (const [whole, closing, tag, , code, entity] of html.matchAll(TOKEN)) {
    if (tag !== undefined) {
      if (!TAGS.has(tag)) throw new HtmlRefused(`can't parse entities: Unsupported start tag "${tag}"`);
      if (closing === "") {
        open.push({ tag, begin: text.length });
        continue;
      }
      const last = open.pop();
      if (last?.tag !== tag)
        throw new HtmlRefused(`can't parse entities: Unmatched end tag, expected "</${last?.tag}>"`);
      marked.push({ tag, text: text.slice(last.begin) });
    } else if (code !== undefined) {
      text += String.fromCodePoint(Number(code));
    } else if (entity !== undefined) {
      const char = ENTITIES[entity];
      if (char === undefined) throw new HtmlRefused(`can't parse entities: Unknown entity "${whole}"`);
      text += char;
    } else if (whole === "<" || whole === "&") {
      throw new HtmlRefused(`can't parse entities: Unescaped "${whole}"`);
    } else {
      text += whole;
    }
  }
  if (open.length > 0) throw new HtmlRefused(`can't parse entities: Can't find end tag corresponding to start tag`);
  return { text, marked };
}
