/** Vitest's own runner, which skips a test whose programs are missing before any hook of its file runs. */
import { relative } from "node:path";
import { type RunnerTask, type RunnerTestFile, type RunnerTestSuite, TestRunner } from "vitest";
import { ROOT } from "../source-files.ts";
import { isMissing, needsOf, unknownNeeds } from "./needs.ts";

export default class SuiteRunner extends TestRunner {
  readonly #missing = new Map<string, boolean>();

  onCollected(files: RunnerTestFile[]): void {
    for (const file of files) this.#skip(file, relative(ROOT, file.filepath), "");
  }

  /** True if every test in the suite is skipped. */
  #skip(suite: RunnerTestSuite, file: string, title: string): boolean {
    const left = suite.tasks.filter((it) => !this.#skipTask(it, file, `${title} ${it.name}`));
    if (left.length > 0 || suite.tasks.length === 0) return false;
    suite.mode = "skip";
    return true;
  }

  #skipTask(task: RunnerTask, file: string, title: string): boolean {
    if (task.mode === "skip" || task.mode === "todo") return true;
    if (task.type === "suite") return this.#skip(task, file, title);
    const unknown = unknownNeeds(title);
    if (unknown.length > 0) throw new Error(`${file} > ${title}: tools/suite/needs.ts knows no ${unknown.join(", ")}`);
    if (!needsOf(file, title).some((it) => this.#isMissing(it))) return false;
    task.mode = "skip";
    return true;
  }

  #isMissing(name: string): boolean {
    const known = this.#missing.get(name) ?? isMissing(name);
    this.#missing.set(name, known);
    return known;
  }
}
