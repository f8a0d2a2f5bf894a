/**
 * Words after which a secret stands, and words that stand there without being one. Compared backwards from the `:`,
 * `=` or space that follows, without regard to case, `-` being `_`. Rules RED-10 to RED-16 in docs/spec/redaction.md.
 */
import { BACKSLASH, belongs, byteClass, LF, SPACE } from "./byte-class.ts";

/** `literal`: any value is masked. `random`: only one that looks random. `header`: a scheme may come first. */
export type KeywordKind = "literal" | "random" | "header";

/** Looks back over the text: the byte before an offset, colour codes skipped. */
export type Behind = { at(offset: number): number; before(offset: number): number };

const QUOTES = byteClass("\"'`");
const LINE_UP = 16;
const SLASH = 0x2f;

type Keyword = { readonly word: string; readonly kind: KeywordKind | "none" };

/** Longer words first: the first that fits decides. */
const KEYWORDS: readonly Keyword[] = [
  ...words("none", ["nopasswd"]),
  ...words("header", ["authorization"]),
  ...words("literal", ["password", "passwd", "passphrase", "passcode", "_pass", "_pwd"]),
  ...words("literal", [
    "secret_access_key",
    "secretaccesskey",
    "secret_key",
    "secretkey",
    "client_secret",
    "clientsecret",
  ]),
  ...words("literal", ["aws_session_token"]),
  ...words("random", ["token", "secret", "api_key", "apikey", "access_key", "accesskey", "private_key", "privatekey"]),
  ...words("random", [
    "account_key",
    "accountkey",
    "auth_key",
    "authkey",
    "encryption_key",
    "signing_key",
    "master_key",
  ]),
];

const BY_LAST = new Map<number, readonly Keyword[]>();
for (const keyword of KEYWORDS) {
  const last = keyword.word.charCodeAt(keyword.word.length - 1);
  BY_LAST.set(last, [...(BY_LAST.get(last) ?? []), keyword]);
}

/** The last two characters of every keyword, in either case. */
export const KEYWORD_TAILS: readonly string[] = KEYWORDS.flatMap(({ word }) => {
  const tail = word.slice(-2);
  return [
    tail,
    tail.toUpperCase(),
    (tail[0] ?? "") + (tail[1] ?? "").toUpperCase(),
    (tail[0] ?? "").toUpperCase() + (tail[1] ?? ""),
  ];
});

/** The kind of the keyword that ends just before the separator at `offset`. */
export function keywordBefore(text: Behind, separator: number): KeywordKind | undefined {
  let last = text.before(separator);
  for (let skipped = 0; skipped < LINE_UP && text.at(last) === SPACE; skipped += 1) last = text.before(last);
  if (text.at(last) === 0x5d) last = text.before(last);
  if (belongs(QUOTES, text.at(last))) last = text.before(last);
  if (text.at(last) === BACKSLASH) last = text.before(last);
  const candidates = BY_LAST.get(fold(text.at(last)));
  if (candidates === undefined) return undefined;
  for (const { word, kind } of candidates) {
    const begin = beginOf(text, word, last);
    if (begin === undefined) continue;
    return kind === "none" || isName(text, word, begin, separator) ? undefined : kind;
  }
  return undefined;
}

/** Where `word` begins when it ends at `last`. */
function beginOf(text: Behind, word: string, last: number): number | undefined {
  let at = last;
  for (let index = word.length - 1; ; index -= 1) {
    if (fold(text.at(at)) !== word.charCodeAt(index)) return undefined;
    if (index === 0) return at;
    at = text.before(at);
  }
}

/** `/etc/passwd:` is a path, and `passwd: ` at a line's begin is that program speaking. */
function isName(text: Behind, word: string, begin: number, separator: number): boolean {
  const before = text.at(text.before(begin));
  if (before === SLASH) return true;
  return word === "passwd" && text.at(separator) === 0x3a && (before === LF || before === -1);
}

function fold(byte: number): number {
  if (byte >= 0x41 && byte <= 0x5a) return byte + 0x20;
  return byte === 0x2d ? 0x5f : byte;
}

function words(kind: Keyword["kind"], list: readonly string[]): Keyword[] {
  return list.map((word) => ({ word, kind }));
}
