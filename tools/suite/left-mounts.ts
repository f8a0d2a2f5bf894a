/** What tests mounted below a directory. Removing the directory would empty it, so it is unmounted first. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** Mounts lie one upon another, and a signal from the keyboard ends `umount` too. */
const MOST_ROUNDS = 10;

/** The paths that are mounted there, the latest first. It needs /proc, so Linux. */
export function mountsBelow(directory: string): string[] {
  const paths = tableOfMounts()
    .split("\n")
    .map((line) => unescaped(line.split(" ")[4] ?? ""));
  return paths.filter((path) => path === directory || path.startsWith(`${directory}/`)).toReversed();
}

/** Returns the paths that were mounted. Some may still be: not everybody may unmount everything. */
export function unmountBelow(directory: string): string[] {
  const before = mountsBelow(directory);
  for (let rounds = 0; rounds < MOST_ROUNDS && mountsBelow(directory).length > 0; rounds += 1) {
    for (const path of mountsBelow(directory)) {
      // Lazily: it may be in use. The path is looked up nowhere: a file system whose program is dead would never answer.
      spawnSync("umount", ["--lazy", "--no-canonicalize", path], { stdio: "ignore" });
    }
  }
  return [...new Set(before)];
}

function tableOfMounts(): string {
  try {
    return readFileSync("/proc/self/mountinfo", "utf8");
  } catch {
    return "";
  }
}

/** Blanks and backslashes stand there as `\040` and `\134`. */
function unescaped(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
