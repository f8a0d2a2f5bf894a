/**
 * Secrets in a text that is known whole: a command, a title, the lines of a screen. The same rules as for a stream;
 * what is undecided at the end is no secret.
 */
import { MaskedRanges } from "./masked-ranges.ts";
import { Scanner } from "./scanner.ts";
import { Window } from "./window.ts";

/** Stands for any character outside of ASCII: rules only need to know that it is one. */
const NOT_ASCII = 0xff;

/** One `*` for every UTF-16 unit that is masked. */
export function redactText(text: string): string {
  const window = new Window(0);
  const masked = new MaskedRanges();
  const scanner = new Scanner(window, (at) => masked.add(at));
  window.append(units(text));
  scanner.scan();
  scanner.finish();
  let shown = "";
  let from = 0;
  for (const [begin, end] of masked.takeBefore(text.length)) {
    shown += text.slice(from, begin) + "*".repeat(end - begin);
    from = end;
  }
  return shown + text.slice(from);
}

function units(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let index = 0; index < text.length; index += 1) bytes[index] = Math.min(text.charCodeAt(index), NOT_ASCII);
  return bytes;
}
