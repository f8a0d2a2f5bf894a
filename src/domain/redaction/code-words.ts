/**
 * What stands after `password:` or `password =` in code, help and configuration without being a password. A value is
 * held only as long as it could still become one of these.
 */
import { belongs, byteClass, type ByteClass } from "./byte-class.ts";

const ENDS = byteClass(" \t\r\n,;)]}|:=<>\"'`([.?");
const EXPRESSION = byteClass("([.?");
const SCHEME = byteClass(" ");

/** Ends at the word: `password: str,`. */
const PLAIN = words(`
  None null NULL nil undefined true false True False
  str string String bool int bytes any object required optional SecretStr
  PASSWORD PASSWD PASS PASSPHRASE SECRET STRING TEXT TOKEN VALUE
  await new async lambda files compat systemd`);
/** An expression goes on from the word: `password = getpass()`, `password: self.password`. */
const EXPRESSIONS = words(`
  getpass input prompt os process self this config settings env ENV
  req request args opts options params user data form ctx props state Optional
  z sys url urllib base64 hashlib secrets json cfg conf`);
const SCHEMES = words("Bearer bearer BEARER Basic basic BASIC Token token Bot ApiKey Negotiate Digest");

export type CodeWords = ReadonlyMap<string, ByteClass>;

export const CODE_WORDS: CodeWords = new Map([
  ...PLAIN.map((word) => [word, ENDS] as const),
  ...EXPRESSIONS.map((word) => [word, EXPRESSION] as const),
]);

/** Of an `Authorization` header; the credential follows. */
export const AUTH_SCHEMES: CodeWords = new Map(SCHEMES.map((word) => [word, SCHEME] as const));

export function mayBecome(words: CodeWords, text: string): boolean {
  for (const word of words.keys()) if (word.startsWith(text)) return true;
  return false;
}

export function isCodeWord(words: CodeWords, text: string, next: number): boolean {
  const followers = words.get(text);
  return followers !== undefined && belongs(followers, next);
}

/** The whole text is known and ends with the word. */
export function isLastWord(words: CodeWords, text: string): boolean {
  return words.get(text) === ENDS;
}

function words(list: string): string[] {
  return list.trim().split(/\s+/);
}
