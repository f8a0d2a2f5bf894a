/** Where the directories of runs lie: below `TMPDIR`, or below /tmp where that is too deep for the sockets of tests. */
import { mkdtempSync, realpathSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SHORT = "/tmp";
const SOCKET_PATH_MAX = 107;
/** The deepest socket that a test looks for: that of a hub in a home of the test's own. */
const DEEPEST = "/ss-XXXXXX/sidestick-XXXXXX/.local/share/sidestick/hub.sock";
const LONGEST_PLACE = SOCKET_PATH_MAX - DEEPEST.length;

/** Throws what to do if no directory can be made there. */
export function placeOfRuns(): string {
  const place = usable(tmpdir());
  return isShort(place) ? place : usable(SHORT);
}

/** Why the tests don't use TMPDIR; undefined if they do. */
export function detour(): string | undefined {
  const wanted = realpathSync(tmpdir());
  if (isShort(wanted)) return undefined;
  const bytes = Buffer.byteLength(wanted);
  return `TMPDIR is ${bytes} bytes long, and the sockets of tests leave room for ${LONGEST_PLACE}: using ${SHORT} instead`;
}

function isShort(place: string): boolean {
  return Buffer.byteLength(place) <= LONGEST_PLACE;
}

/** Tried, not asked: root may write everywhere, but not on a disk that is read-only. */
function usable(directory: string): string {
  try {
    const place = realpathSync(directory);
    rmdirSync(mkdtempSync(join(place, "ss-")));
    return place;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    throw new Error(
      `No directory can be made in ${directory} (${code}): set TMPDIR to a directory that you can write to`,
      {
        cause: error,
      },
    );
  }
}
