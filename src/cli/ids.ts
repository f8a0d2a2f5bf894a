/** Ids as people use them: shown as short as they are unique, given as any unique beginning. */
import { AppError } from "../protocol/errors.ts";

const SHORTEST = 8;
const FULL_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The fewest characters that tell these ids apart, at least eight. */
export function shortener(ids: readonly string[]): (id: string) => string {
  let length = SHORTEST;
  while (length < 36 && new Set(ids.map((id) => id.slice(0, length))).size < new Set(ids).size) length += 1;
  return (id) => id.slice(0, length);
}

/** `list` is asked only when `given` is not a whole id. */
export async function resolveId(given: string, what: string, list: () => Promise<readonly string[]>): Promise<string> {
  const begin = given.toLowerCase();
  if (FULL_ID.test(begin)) return begin;
  const found = begin === "" ? [] : (await list()).filter((id) => id.startsWith(begin));
  const [id] = found;
  if (id === undefined)
    throw new AppError("not_found", { detail: `No ${what} has an id that begins with "${given}".` });
  if (found.length > 1) {
    const short = shortener(found);
    const some = found.slice(0, 5).map(short).join(", ");
    throw new AppError("invalid_request", {
      detail: `"${given}" is the begin of ${found.length} ids (${some}); give more of it.`,
    });
  }
  return id;
}
