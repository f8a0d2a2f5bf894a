/** Ids as people use them: shown as short as they are unique, given as any unique beginning. */
import { AppError } from "../protocol/errors.ts";

const SHORTEST = 8;
const FULL_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The fewest characters that tell these ids apart, at least eight. A question's id is its session's with a number, which stays. */
export function shortener(ids: readonly string[]): (id: string) => string {
  let length = SHORTEST;
  const short = (id: string): string => {
    const [head = "", ...tail] = id.split(".");
    return [head.slice(0, length), ...tail].join(".");
  };
  while (length < 36 && new Set(ids.map(short)).size < new Set(ids).size) length += 1;
  return short;
}

/** Whether `given` names it: by any begin, or as it is shown. */
export function isNamedBy(id: string, given: string): boolean {
  const begin = given.toLowerCase();
  const [head = "", tail] = begin.split(".");
  return (
    begin !== "" && (id.startsWith(begin) || (tail !== undefined && id.startsWith(head) && id.endsWith(`.${tail}`)))
  );
}

/** `list` is asked only when `given` is not a whole id. */
export async function resolveId(given: string, what: string, list: () => Promise<readonly string[]>): Promise<string> {
  const begin = given.toLowerCase();
  if (FULL_ID.test(begin)) return begin;
  const found = (await list()).filter((id) => isNamedBy(id, begin));
  const [id] = found;
  if (id === undefined)
    throw new AppError("not_found", { what, detail: `No ${what} has an id that begins with "${given}".` });
  if (found.length > 1) {
    const short = shortener(found);
    const some = found.slice(0, 5).map(short).join(", ");
    throw new AppError("invalid_request", {
      detail: `"${given}" is the begin of ${found.length} ids (${some}); give more of it.`,
    });
  }
  return id;
}
