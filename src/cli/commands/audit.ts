import type { AuditReport } from "../../domain/audit-report.ts";
import { parseObject, splitLine } from "../../domain/audit-chain.ts";
import { auditWords } from "../audit-words.ts";
import { defineCommand } from "../command.ts";
import { EXIT, UsageError } from "../exit.ts";
import { untilInterrupted } from "../interruption.ts";
import { wholeNumber } from "../options.ts";
import { printable, printableJson } from "../printable.ts";
import { fit } from "../width.ts";

const HEADS_OPTION = {
  type: "string",
  value: "DIR",
  help: "where the hub keeps its audit head (default: as the hub is configured)",
} as const;

export const auditVerify = defineCommand({
  name: "audit verify",
  summary: "Check that no decision in the log was changed, removed, moved or cut off",
  options: { "audit-heads": HEADS_OPTION },
  notes: [
    "Reads the data directory itself, with and without a running hub. Exit code 1: something is not as it was written.",
  ],
  examples: ["sidestick audit verify", "sidestick audit verify --data-dir /srv/sidestick --json"],
  run: async ({ dataDir, values, terminal }) => {
    const directory = localOnly(dataDir);
    const heads = values["audit-heads"] ?? (await configuredHeads());
    const { verifyDataDir } = await import("../../main/audit.ts");
    const report = await verifyDataDir(directory, heads);
    if (report === undefined) {
      throw new UsageError(`There is no audit chain in ${directory}.`, {
        remedy: "Name the hub's data directory, or start the hub on it once.",
      });
    }
    if (values.json === true) terminal.printJson(jsonOf(report));
    else for (const line of wordsOf(report)) terminal.print(printable(line));
    return report.ok ? EXIT.ok : EXIT.failure;
  },
});

export const auditTail = defineCommand({
  name: "audit tail",
  summary: "Show the newest audit lines; with --follow, go on as they are written",
  options: {
    follow: { type: "boolean", help: "go on until Ctrl+C" },
    session: { type: "string", value: "ID", help: "only lines of this session" },
    limit: { type: "string", value: "N", help: "how many to begin with (default: 20)" },
  },
  examples: ["sidestick audit tail", "sidestick audit tail --follow --session 3f2a9c01"],
  run: async ({ dataDir, values, terminal }) => {
    const directory = localOnly(dataDir);
    const limit = values.limit === undefined ? 20 : wholeNumber(values.limit, "--limit");
    const isWanted = (line: string): boolean => sessionOf(line).startsWith(values.session?.toLowerCase() ?? "");
    const show = async (line: string): Promise<void> => {
      terminal.print(values.json === true ? safeLine(line) : fit(auditWords(line), terminal.width ?? Infinity));
      await terminal.drained();
    };
    const { auditLines, newAuditLines } = await import("../../main/audit.ts");
    let newest: string[] = [];
    let end = 0;
    for await (const read of auditLines(directory)) {
      ({ end } = read);
      if (isWanted(read.line)) newest.push(read.line);
      if (newest.length > 2 * limit) newest = newest.slice(-limit);
    }
    for (const line of limit === 0 ? [] : newest.slice(-limit)) await show(line);
    if (values.follow !== true) return EXIT.ok;
    using interruption = untilInterrupted();
    for await (const line of newAuditLines(directory, end, interruption.signal)) if (isWanted(line)) await show(line);
    return interruption.exitCode();
  },
});

function localOnly(dataDir: string | undefined): string {
  if (dataDir === undefined) throw new UsageError("The audit of a hub elsewhere is looked at there; leave out --url.");
  return dataDir;
}

async function configuredHeads(): Promise<string> {
  const { readSettings } = await import("../../main/settings.ts");
  return readSettings([], process.env).auditHeads;
}

function jsonOf({ ok, finding, proof, anchoredTo, chain, lines, heads }: AuditReport): object {
  const { from, to, records, checkpoint } = chain;
  return {
    ok,
    finding: finding ?? null,
    proof,
    anchored_to: anchoredTo ?? null,
    verified: { from, to, records },
    checkpoint: checkpoint && { id: checkpoint.id, sequence: checkpoint.base.sequence, removed: checkpoint.removed },
    lines,
    heads: heads.map(({ place, sequence, state }) => ({ place, sequence, state })),
  };
}

function wordsOf({ finding, proof, anchoredTo, chain, lines, heads }: AuditReport): string[] {
  const { from, to, records, checkpoint } = chain;
  const through = anchoredTo === undefined ? "" : ` up to sequence ${anchoredTo}`;
  const rows = [
    ["records", `${records}, from sequence ${from} to ${to}`],
    ["checkpoint", checkpoint === undefined ? "none" : `${checkpoint.id}, at sequence ${checkpoint.base.sequence}`],
    ["lines", lines.count === 0 ? "none" : `${lines.count}, from sequence ${lines.from} to ${lines.to}`],
    ...heads.map(({ place, sequence, state }) => ["head", `${HEAD_WORDS[state]}, sequence ${sequence}, ${place}`]),
    finding === undefined
      ? ["ok", `${proof}${through}`]
      : ["VIOLATED", `${finding.kind} at sequence ${finding.sequence}: ${finding.detail}`],
  ];
  return rows.map(([name = "", text = ""]) => `${name.padEnd(12)}${text}`);
}

const HEAD_WORDS = { matches: "matches", too_old: "too old to be found", differs: "differs" } as const;

function sessionOf(line: string): string {
  const { session_id: id } = parseObject(line);
  return typeof id === "string" ? id : "";
}

/** One that isn't JSON is shown as it is: somebody wrote it there. */
function safeLine(line: string): string {
  return splitLine(line) === undefined ? printableJson({ unreadable: line }) : printableJson(JSON.parse(line));
}
