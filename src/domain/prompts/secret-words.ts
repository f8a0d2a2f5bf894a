/** Questions for something that must not be shown: by the words of the question, where the terminal's modes don't tell. */

const LATIN =
  /\b(?:pass(?:word|phrase|code|wd)s?|pass phrase|passwort|kennwort|passphrase|mot de passe|phrase (?:de passe|secrète)|contraseña|clave|frase (?:de paso|contraseña)|senha|parola d'ordine|p[aā]ssword|api[ _-]?keys?|(?:access|auth|api|bearer|personal|bot|secret|oauth|deploy|registry|session|refresh|github|gitlab|npm|id)[ _-]?tokens?|secret(?: access)?[ _-]?key|client secret|private key|secrets?|credentials?|pin(?:[ -]?code)?|otp|one[- ]time (?:code|password)|verification code|authenti(?:cation|cator) code|security code|2fa code|two-factor (?:authentication )?code|mfa code|recovery code|unlock key|encryption key|vault key|seed phrase|geheimnis)\b/iu;
const OTHER = /パスワード|パスフレーズ|暗証番号|密码|密碼|口令|令牌|通行码|トークン/u;
/** A bare `token` is one only at the end: `Token type:` is not. */
const TOKEN_LAST = /\b(?:token|passcode|key)\s*(?:\([^)]*\)|\[[^\]]*\])?\s*[:：›‣>]?\s*$/iu;
const WANTS_IT = /\b(?:paste|enter|provide|token|passcode)\b/iu;
/** About a secret, and none itself: `file in which to save the key`, `Password age`. */
const ABOUT_BEFORE =
  /\b(?:in which|path to|location of|name (?:of|for)|type of|kind of|number of|how many|which|any|press|hit|without)\b|\b(?:save|store|show|use|reset|change|forgot|remember|copy)\b[^:]*\?/iu;
const ABOUT_AFTER =
  /^\s*(?:age|file|files|hint|expir\w*|length|manager|store|id|type|policy|name|title|count|quality|warning|minimum|maximum|inactive|ファイル|文件|の長さ|长度)(?![\p{L}_])/iu;
const HIDDEN =
  /\[?(?:input|entrée|eingabe)[^\]]{0,12}(?:hidden|masked|cachée|verborgen)\]?|will be hidden|not be (?:echoed|shown|displayed)/iu;

/** `question` ends where the answer begins. */
export function asksForSecret(question: string): boolean {
  const text = question.trim().replace(/\s*[*•▪●]+$/u, "");
  if (HIDDEN.test(text)) return true;
  const last = text.slice(-160);
  const secret = LATIN.exec(last) ?? OTHER.exec(last) ?? (WANTS_IT.test(last) ? TOKEN_LAST.exec(last) : null);
  if (secret === null) return false;
  const after = last.slice(secret.index + secret[0].length);
  return !ABOUT_BEFORE.test(last.slice(0, secret.index)) && !ABOUT_AFTER.test(after);
}
