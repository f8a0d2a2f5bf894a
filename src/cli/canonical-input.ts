/**
 * Bytes of a file or pipe as one would type them. A terminal that reads lines takes at most 4,095 bytes of one and
 * acts on control characters; quoted, and in parts that Ctrl+D hands over, they arrive as they are.
 */

export const CTRL_D = "\u0004";

/** For a program that reads lines; what ends without a line's end is handed over all the same. */
export function lineInput(bytes: Buffer): Buffer {
  const parts = bytes.toString("latin1").match(PARTS) ?? [];
  return Buffer.from(parts.map(typed).join(""), "latin1");
}

/** For a program that reads keys: the Enter key sends a carriage return. */
export function keyInput(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString("latin1").replaceAll(/\r?\n/g, "\r"), "latin1");
}

const PARTS = /[^\n]{0,4000}\n|[^\n]{1,4000}/g;
/** ^C ^D CR ^Q ^R ^S ^U ^V ^W ^Z ^\ DEL */
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const SPECIAL = /[\u0003\u0004\r\u0011-\u0013\u0015-\u0017\u001A\u001C\u007F]/g;
const QUOTE = "\u0016";

function typed(part: string): string {
  const quoted = part.replaceAll(SPECIAL, `${QUOTE}$&`);
  return part.endsWith("\n") ? quoted : quoted + CTRL_D;
}
