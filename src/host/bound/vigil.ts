/**
 * Watches files while something runs from them. At its end a file is what it was only if nobody moved, replaced or wrote
 * to it or to a name on the way to it: one that was swapped and swapped back is told too. Rule APR-14 in
 * docs/spec/approvals.md.
 */
import { type FSWatcher, watch } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { digestOf, identityOf } from "./file-digest.ts";
import { type Step, walk, type Walked } from "./walk.ts";

export type Watched = {
  readonly what: string;
  readonly walked: Walked;
  /** Present: read again at the end. */
  readonly digest?: string | undefined;
};

export type Violation = { readonly what: string; readonly path: string };

export class Vigil {
  readonly #watchers: FSWatcher[] = [];
  /** Names that mean something, and of what kind they are. */
  readonly #names = new Map<string, Step["kind"]>();
  readonly #touched = new Set<string>();
  readonly #files: readonly Watched[];

  /** From now on. `root` is what is `/` for those who use the paths. */
  constructor(root: string, files: readonly Watched[]) {
    this.#files = files;
    const steps = files.flatMap(({ walked }) => walked.steps);
    for (const { directory, name, kind } of steps) this.#names.set(pathOf(directory, name), kind);
    for (const directory of new Set(steps.map((it) => it.directory))) this.#watch(root, directory);
  }

  /** Ends it. Those that aren't what they were, below a root that may be another by now. */
  async end(root: string): Promise<readonly Violation[]> {
    // What happened before is told by now, if the loop has asked once.
    await nextTurn();
    await nextTurn();
    // What can't be looked at isn't known to be the same.
    const violated = await Promise.all(this.#files.map((it) => this.#isOther(root, it).catch(() => true)));
    this.close();
    return this.#files.filter((_, index) => violated[index]).map(({ what, walked }) => ({ what, path: walked.path }));
  }

  close(): void {
    for (const watcher of this.#watchers) watcher.close();
  }

  /** Where that can't be watched, what the files themselves say has to do. */
  #watch(root: string, directory: string): void {
    try {
      const watcher = watch(root + directory, { persistent: false }, (event, name) => {
        const path = pathOf(directory, name ?? "");
        const kind = this.#names.get(path);
        // Whatever is written inside a directory leaves the directory where it is.
        if (kind !== undefined && (event === "rename" || kind !== "directory")) this.#touched.add(path);
      });
      watcher.on("error", () => undefined);
      this.#watchers.push(watcher);
    } catch {}
  }

  async #isOther(root: string, { walked, digest }: Watched): Promise<boolean> {
    if (walked.steps.some((it) => this.#touched.has(pathOf(it.directory, it.name)))) return true;
    const now = await walk(root, walked.asked);
    if (now === undefined || wayOf(now) !== wayOf(walked)) return true;
    if (identityOf(now.status) !== identityOf(walked.status)) return true;
    if (digest === undefined) return false;
    const read = await digestOf(root, now);
    return !read.ok || read.digest !== digest;
  }
}

/** The same if and only if it leads to the same by the same way. */
export function wayOf({ steps }: Walked): string {
  return steps.map(({ directory, name, identity }) => `${pathOf(directory, name)} ${identity}`).join("\n");
}

function pathOf(directory: string, name: string): string {
  return directory === "/" ? `/${name}` : `${directory}/${name}`;
}
