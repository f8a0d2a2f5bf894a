import { HubUnreachable } from "../../client/sidestick.ts";
import type { Check } from "../../protocol/hub.ts";
import { defineCommand } from "../command.ts";
import { EXIT } from "../exit.ts";
import type { Hub } from "../hub.ts";
import { printable } from "../printable.ts";
import { readVersion } from "../version.ts";

type Diagnosis = { readonly ok: boolean; readonly version: string; readonly checks: readonly Check[] };

export const doctor = defineCommand({
  name: "doctor",
  summary: "Say what works here, what does not, and what to do about it",
  examples: ["sidestick doctor", "sidestick doctor --json"],
  notes: [
    "✓ works, ! works in part, ✗ is needed and missing, - is missing and can be done without.\nExit codes: 0 nothing that is needed is missing, 1 something is (✗).",
  ],
  run: async ({ values, terminal, ...hub }) => {
    const diagnosis = await diagnose(hub);
    if (values.json === true) terminal.printJson(diagnosis);
    else for (const check of diagnosis.checks) terminal.print(lineOf(check));
    return diagnosis.ok ? EXIT.ok : EXIT.failure;
  },
});

/** Where no hub runs, the machine itself is looked at. */
async function diagnose({ client, dataDir }: Hub): Promise<Diagnosis> {
  try {
    return await client.hub.doctor();
  } catch (error) {
    if (dataDir === undefined || !(error instanceof HubUnreachable)) throw error;
    const { localChecks } = await import("../../main/doctor.ts");
    const checks = await localChecks(dataDir);
    return { ok: checks.every((check) => check.state !== "missing" || !check.needed), version: readVersion(), checks };
  }
}

const MARKS = { ready: "✓", degraded: "!", missing: "✗" } as const satisfies Record<Check["state"], string>;

function lineOf({ name, state, needed, detail, remedy }: Check): string {
  const mark = state === "missing" && !needed ? "-" : MARKS[state];
  const advice = state === "ready" || remedy === undefined ? "" : ` → ${remedy}`;
  return printable(`${mark} ${name}: ${detail}${advice}`);
}
