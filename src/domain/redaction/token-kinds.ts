/**
 * Tokens that are known by a public prefix: the prefix stays readable, the body is masked. The table is the truth;
 * what the columns mean is rule RED-3 to RED-9 in docs/spec/redaction.md.
 */
import { ALNUM, belongs, byteClass, DIGIT, LOWER, UPPER, WORD, type ByteClass } from "./byte-class.ts";

/** What a body that isn't decided yet has shown. */
export type BodySoFar = {
  readonly count: number;
  readonly digit: boolean;
  readonly upper: boolean;
  readonly lower: boolean;
  /** Characters since the last `-` or `_`. */
  readonly unbroken: number;
  readonly text: string;
};

export type TokenKind = {
  readonly name: string;
  readonly body: ByteClass;
  /** What may stand before the body. */
  readonly lead?: ByteClass;
  /** Public characters that come after what triggered the rule. */
  readonly rest?: string;
  /** Body length from which a line break ends the token; a shorter one was wrapped at the margin. */
  readonly full: number;
  /** A byte that ends the body and proves that it was one. */
  readonly closing?: number;
  /** Decides on a body while it is held. */
  judge(body: BodySoFar): "secret" | "open" | "harmless";
  /** Whether a lone undecided body may be shown after all when output falls quiet. */
  readonly harmlessAtRest?: (body: BodySoFar) => boolean;
};

export type PrefixRule = {
  readonly prefix: string;
  /** Whether the character before the prefix must be no letter or digit. */
  readonly boundary: boolean;
  readonly kind: TokenKind;
};

const DOTTED = byteClass("A-Z", "a-z", "0-9", "-._");
const JWT_BEGINS = new Set([
  "hbGciOi",
  "0eXAiOi",
  "raWQiOi",
  "lbmMiOi",
  "4NXQiOi",
  "4NWMiOi",
  "jdHkiOi",
  "qa3UiOi",
  "6aXAiOi",
]);
const JWT_BEGIN_LENGTH = 7;

export const PREFIX_RULES: readonly PrefixRule[] = [
  ...["ghp_", "gho_", "ghu_", "ghs_", "ghr_"].map((prefix) => glued(prefix, plain("github", ALNUM, 16, 36))),
  free("github_pat_", plain("github", byteClass("A-Z", "a-z", "0-9", "_"), 16, 82)),
  free("glpat-", wordy("gitlab", 20)),
  ...["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-", "xoxd-"].map((prefix) =>
    free(prefix, plain("slack", byteClass("A-Z", "a-z", "0-9", "-%"), 10, 40)),
  ),
  free("xoxe.xoxp-", plain("slack", byteClass("A-Z", "a-z", "0-9", "-"), 10, 40)),
  glued("xapp-", plain("slack", byteClass("A-Z", "a-z", "0-9", "-"), 10, 60)),
  glued("sk-", wordy("openai", 40)),
  ...["sk-proj-", "sk-svcacct-", "sk-admin-"].map((prefix) => glued(prefix, wordy("openai", 80))),
  glued("sk-ant-", wordy("anthropic", 80)),
  ...["sk_live_", "rk_live_", "sk_test_", "rk_test_"].map((prefix) => glued(prefix, plain("stripe", ALNUM, 16, 24))),
  glued("whsec_", plain("stripe", byteClass("A-Z", "a-z", "0-9", "+/="), 16, 32)),
  glued("npm_", plain("npm", ALNUM, 20, 36)),
  glued("pypi-", wordy("pypi", 100)),
  glued("hf_", plain("huggingface", ALNUM, 20, 34)),
  glued("SG.", plain("sendgrid", DOTTED, 16, 66)),
  glued("AIz", { ...plain("google", WORD, 16, 35), rest: "a" }),
  glued("AK", { ...plain("aws", byteClass("A-Z", "0-9"), 16, 16), rest: "IA" }),
  glued("AS", { ...plain("aws", byteClass("A-Z", "0-9"), 16, 16), rest: "IA" }),
  glued("eyJ", { name: "jwt", body: DOTTED, full: 60, judge: judgeJwt }),
  free(".eyJ", plain("jwt", DOTTED, 16, 60)),
];

export const TELEGRAM: TokenKind = {
  name: "telegram",
  body: WORD,
  full: 35,
  judge: ({ count, upper, lower }) => (count < 30 ? "open" : upper && lower ? "secret" : "harmless"),
};

/** The value of `token=`, `api_key:` …: only what looks random, for these words are common in code. */
export const RANDOM_VALUE: TokenKind = {
  name: "value",
  lead: byteClass(" \t\"'`=>\\"),
  body: byteClass("A-Z", "a-z", "0-9", "_-+/=.~:%"),
  full: 0,
  judge: ({ count, digit, upper, lower }) => {
    if (count >= 16 && digit && (upper || lower)) return "secret";
    return count < 24 ? "open" : "harmless";
  },
};

const PORT_DIGITS = 5;
const AT = 0x40;

export const URL_PASSWORD: TokenKind = {
  name: "url",
  body: byteClass("A-Z", "a-z", "0-9", "-._~%!$&*+,;=:^(){}[]|?#"),
  full: 0,
  closing: AT,
  judge: ({ text }) => (/^\d*[?#]/.test(text) ? "harmless" : "open"),
  harmlessAtRest: ({ text }) => text.length <= PORT_DIGITS && /^\d*$/.test(text),
};

export function observe(body: BodySoFar, byte: number): BodySoFar {
  const character = String.fromCharCode(byte);
  return {
    count: body.count + 1,
    digit: body.digit || belongs(DIGIT, byte),
    upper: body.upper || belongs(UPPER, byte),
    lower: body.lower || belongs(LOWER, byte),
    unbroken: character === "-" || character === "_" ? 0 : body.unbroken + 1,
    text: body.text + character,
  };
}

export const EMPTY_BODY: BodySoFar = { count: 0, digit: false, upper: false, lower: false, unbroken: 0, text: "" };

function glued(prefix: string, kind: TokenKind): PrefixRule {
  return { prefix, boundary: true, kind };
}

function free(prefix: string, kind: TokenKind): PrefixRule {
  return { prefix, boundary: false, kind };
}

/** Enough characters are enough: the prefix is of no ordinary word. */
function plain(name: string, body: ByteClass, enough: number, full: number): TokenKind {
  return { name, body, full, judge: ({ count }) => (count >= enough ? "secret" : "open") };
}

/** The prefix may begin ordinary names (`sk-estimator-doc-link`): the body must not read like words. */
function wordy(name: string, full: number): TokenKind {
  return {
    name,
    body: WORD,
    full,
    judge: ({ count, digit, upper, unbroken }) => {
      if (count >= 16 && (digit || upper || unbroken >= 20)) return "secret";
      return count < 24 ? "open" : "harmless";
    },
  };
}

/** A file's base64 may begin with `eyJ` too: only the usual first fields of a header make a token of it. */
function judgeJwt({ count, text }: BodySoFar): "secret" | "open" | "harmless" {
  if (count < JWT_BEGIN_LENGTH) return "open";
  return JWT_BEGINS.has(text) ? "secret" : "harmless";
}
