/** A command as a terminal may show it: its lines, and its control characters as signs that do nothing. */
export function visible(text: string): string {
  return text.replace(/\n+$/, "").replaceAll(CONTROL, shownAs);
}

// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const CONTROL = /[\u0000-\u0008\u000A-\u001F\u007F-\u009F]/g;

function shownAs(character: string): string {
  const code = character.charCodeAt(0);
  if (code === 0x0a) return "\r\n";
  return code < 0x80 ? `^${String.fromCharCode(code ^ 0x40)}` : `<${code.toString(16)}>`;
}
