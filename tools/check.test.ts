import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "../test/support/eventually.ts";
import { temporaryTree } from "./temporary-tree.ts";

/** A step whose program starts another, as oxlint does; both pids are on its lines. */
const STEP = (file: string): string =>
  `require("fs").appendFileSync(${JSON.stringify(file)}, process.pid + "\\n" + require("child_process").spawn("sleep", ["600"]).pid + "\\n"); setTimeout(() => {}, 600_000);`;

test.each(["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT"] as const)(
  "[HSE-15] what the steps of the check started ends with a run that gets %s",
  async (signal) => {
    using tree = temporaryTree({ pids: "" });
    const file = join(tree.root, "pids");
    const check = JSON.stringify(join(import.meta.dirname, "check.ts"));
    const step = JSON.stringify({ name: "it", command: ["node", "-e", STEP(file)] });
    const script = `const { runSteps } = await import(${check}); await runSteps([${step}]);`;
    const run = spawn(process.execPath, ["--input-type=module", "-e", script], { stdio: "ignore" });
    onTestFinished(() => void run.kill("SIGKILL"));
    const pids = await eventually(() => {
      const lines = readFileSync(file, "utf8").trim().split("\n");
      expect(lines).toHaveLength(2);
      return lines.map(Number);
    });
    onTestFinished(() => pids.filter(isAlive).forEach((pid) => process.kill(pid, "SIGKILL")));

    run.kill(signal);

    expect(await once(run, "exit")).toEqual([130, null]);
    await eventually(() => expect(pids.filter(isAlive)).toEqual([]));
  },
);

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}
