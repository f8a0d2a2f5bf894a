/**
 * JSON from strangers. `JSON.parse` lets the last of two equal keys win and takes `__proto__` as data, so that two
 * readers of one body can see different things; both are refused here, and so is nesting that would overflow
 * recursive code behind us.
 */
const MAX_DEPTH = 64;
/** Keys and elements. Small values in great number cost every reader behind us far more than their bytes. */
const MAX_VALUES = 50_000;

export class StrictJsonError extends Error {
  override readonly name = "StrictJsonError";
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new StrictJsonError("not valid UTF-8");
  }
  return parseStrictJsonText(text);
}

export function parseStrictJsonText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new StrictJsonError("not valid JSON");
  }
  refuseTraps(text);
  return value;
}

/** One pass over text that is known to be valid JSON. */
function refuseTraps(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  let keys: Set<string> | undefined;
  let expectKey = false;
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 0x22: {
        const end = endOfString(text, at);
        if (expectKey && keys !== undefined) {
          addKey(keys, text.slice(at, end + 1));
          expectKey = false;
        }
        at = end;
        break;
      }
      case 0x7b: // {
      case 0x5b: // [
        if (open.length >= MAX_DEPTH) throw new StrictJsonError(`nested deeper than ${MAX_DEPTH}`);
        keys = text.charCodeAt(at) === 0x7b ? new Set() : undefined;
        expectKey = keys !== undefined;
        open.push(keys);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        open.pop();
        keys = open.at(-1);
        expectKey = false;
        break;
      case 0x2c: // ,
        values += 1;
        if (values > MAX_VALUES) throw new StrictJsonError(`more than ${MAX_VALUES} values`);
        expectKey = keys !== undefined;
        break;
    }
  }
}

function addKey(keys: Set<string>, literal: string): void {
  // "\u0061" and "a" are one key: compare what they mean, not how they are written.
  const key = literal.includes("\\") ? (JSON.parse(literal) as string) : literal.slice(1, -1);
  if (key === "__proto__") throw new StrictJsonError('the key "__proto__" is not allowed');
  if (keys.has(key)) throw new StrictJsonError(`the key ${JSON.stringify(key.slice(0, 64))} stands twice`);
  keys.add(key);
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return at;
    at += code === 0x5c ? 2 : 1;
  }
}
