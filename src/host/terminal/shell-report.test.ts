import { afterAll, expect, test } from "vitest";
import { closeServices, LiveTerminal } from "../../../test/support/live-terminal.ts";
import { shellReport } from "./shell-report.ts";

afterAll(closeServices);

test.each(["bash", "zsh", "fish", "dash"])("[GRD-28] nothing is told of a %s in which nothing changed", async (name) => {
  const live = await LiveTerminal.open(`/usr/bin/${name}`);
  await live.command("cd /; cat /dev/null; false");
  const from = live.output.length;
  const t = performance.now();
  const report = await shellReport(live.terminal);
  console.log(name, performance.now() - t, JSON.stringify(report, null, 1).slice(0, 3000), JSON.stringify(live.output.slice(from)));
  await live.command("echo $?$status");
  console.log(JSON.stringify(live.output.slice(from)));
});
