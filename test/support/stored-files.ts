import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "./eventually.ts";

/** All files below a directory, as latin1. One that is just being replaced is looked for again, with all the others. */
export function storedFiles(directory: string): Promise<Record<string, string>> {
  return eventually(() => {
    const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((it) => it.isFile());
    const paths = files.map((it) => join(it.parentPath, it.name));
    return Object.fromEntries(paths.map((path) => [path, readFileSync(path, "latin1")]));
  });
}
