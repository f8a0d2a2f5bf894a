/** What works here, what does not, and what to do about it. `npm start` and `sidestick doctor` say the same. */
import { access, constants, stat } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { guardAbility } from "../host/guard/guard.ts";
import type { ChannelDesk, ListedChannel } from "../hub/chat/channel-desk.ts";
import type { AuditWriter } from "../hub/audit-writer.ts";
import type { DriverTable } from "../hub/driver-table.ts";
import { type Applied, type PolicyDesk, problemLine } from "../hub/policy-desk.ts";
import type { Journal } from "../hub/journal.ts";
import type { PolicyProblem, SessionDriver } from "../hub/ports.ts";
import { SESSION_KINDS } from "../domain/session.ts";
import type { Check } from "../protocol/hub.ts";
import { openPeerReader } from "../server/peer.ts";
import type { SqliteStore } from "../store/sqlite/sqlite-store.ts";
import { AUDIT_FILE } from "./audit.ts";
import { containmentCheck } from "./containment.ts";
import { configuredPolicies } from "./policy.ts";
import { type Settings, SettingsError } from "./settings.ts";

export type HubCheckParts = {
  readonly settings: Settings;
  readonly drivers: DriverTable;
  readonly store: SqliteStore;
  readonly journal: Journal;
  readonly audit: AuditWriter;
  readonly policy: PolicyDesk;
  readonly channels: ChannelDesk;
  readonly socketPath: string;
};

const MIN_NODE = 24;

/** Asked of a running hub. */
export async function hubChecks(parts: HubCheckParts): Promise<Check[]> {
  const { settings, drivers, store, journal, audit, policy, channels, socketPath } = parts;
  return [
    nodeCheck(),
    await dataDirCheck(settings.dataDir),
    storeCheck(store, journal),
    auditCheck(join(settings.dataDir, AUDIT_FILE), audit),
    policyCheck(policy.applied, policy.problems),
    { name: "operator socket", state: "ready", needed: true, detail: socketPath },
    containmentCheck({ guard: drivers.all.find((it) => it.guard !== undefined)?.guard, account: userInfo() }),
    ...kindChecks(drivers.all),
    ...(await channelChecks(channels)),
  ];
}

/** Asked where no hub runs. */
export async function localChecks(dataDir: string): Promise<Check[]> {
  const hub: Check = {
    name: "hub",
    state: "missing",
    needed: true,
    detail: `It isn't running on ${dataDir}.`,
    remedy: `Start it: npm start -- --data-dir ${dataDir}`,
  };
  const containment = containmentCheck({ guard: guardAbility(), account: userInfo() });
  return [hub, nodeCheck(), await dataDirCheck(dataDir), await filesCheck(dataDir), await peerCheck(), containment];
}

function nodeCheck(): Check {
  const { node } = process.versions;
  const detail = `Node ${node}`;
  if (Number.parseInt(node, 10) >= MIN_NODE) return { name: "runtime", state: "ready", needed: true, detail };
  return {
    name: "runtime",
    state: "missing",
    needed: true,
    detail,
    remedy: `Sidestick needs Node ${MIN_NODE}: run it by npm start`,
  };
}

function storeCheck(store: SqliteStore, journal: Journal): Check {
  const problem = store.problem();
  if (problem === undefined && journal.failing) {
    const detail = "The last write failed; nothing is lost that was answered.";
    return { name: "store", state: "missing", needed: true, detail, remedy: `Make room for ${store.file}` };
  }
  if (problem === undefined)
    return { name: "store", state: "ready", needed: true, detail: `SQLite ${store.sqliteVersion}, ${store.file}` };
  return {
    name: "store",
    state: "missing",
    needed: true,
    detail: problem,
    remedy: "Look at the disk, then restart the hub",
  };
}

function auditCheck(file: string, { problem }: AuditWriter): Check {
  const base = { name: "audit file", needed: false };
  if (problem === undefined) return { ...base, state: "ready", detail: file };
  const remedy = `Look at ${file}; lines that are missing are written as soon as they can be`;
  return { ...base, state: "degraded", detail: `It can't be written (${problem}).`, remedy };
}

function policyCheck({ global, workspaces }: Applied, problems: readonly PolicyProblem[]): Check {
  const base = { name: "policy", needed: false };
  const own = workspaces.size === 0 ? "" : `, and ${workspaces.size} of workspaces`;
  const detail = `${global.file ?? "the default"}${own}, version ${global.policy.version}`;
  const [first] = problems;
  if (first === undefined) return { ...base, state: "ready", detail };
  const { remedy } = first;
  return { ...base, state: "degraded", detail: `It stays as it was (${detail}): ${problemLine(first)}.`, remedy };
}

/** Of files that a hub would read at its start. */
async function filesCheck(dataDir: string): Promise<Check> {
  const broken = { name: "policy", needed: true, state: "missing" } as const;
  try {
    const loaded = await configuredPolicies(dataDir);
    if (loaded.ok) return policyCheck(loaded.applied, []);
    const [first] = loaded.problems as [PolicyProblem];
    return { ...broken, detail: `A hub would not start: ${problemLine(first)}.`, remedy: first.remedy };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    return { ...broken, detail: `A hub would not start: ${error.message}`, remedy: "Mend that setting" };
  }
}

async function dataDirCheck(dataDir: string): Promise<Check> {
  const base = { name: "data directory", needed: true };
  try {
    await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    const { mode } = await stat(dataDir);
    if ((mode & 0o077) === 0) return { ...base, state: "ready", detail: dataDir };
    return {
      ...base,
      state: "degraded",
      detail: `Others on this machine can enter ${dataDir}.`,
      remedy: `chmod 700 ${dataDir}`,
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return { ...base, state: "ready", detail: `${dataDir} will be made at the first start` };
    return {
      ...base,
      state: "missing",
      detail: `${dataDir} can't be used (${code}).`,
      remedy: "Choose another: --data-dir DIR",
    };
  }
}

async function peerCheck(): Promise<Check> {
  const base = { name: "peer credentials", needed: true };
  try {
    await openPeerReader();
    return { ...base, state: "ready", detail: "the kernel names who calls the operator socket" };
  } catch (error) {
    return { ...base, state: "missing", detail: (error as Error).message, remedy: "Run npm install again" };
  }
}

function kindChecks(drivers: readonly SessionDriver[]): Check[] {
  return SESSION_KINDS.map((kind) => {
    const base = { name: `${kind} sessions`, needed: false };
    const driver = drivers.find((it) => it.kind === kind);
    if (driver !== undefined) return { ...base, state: "ready", detail: `on host ${driver.hostId}` };
    return { ...base, state: "missing", detail: "no driver for them in this version" };
  });
}

async function channelChecks(channels: ChannelDesk): Promise<Check[]> {
  if (channels.problem === undefined) return (await channels.list()).map(channelCheck);
  const remedy = "Mend or remove the file, then restart the hub";
  const detail = `The hub runs without them: ${channels.problem}`;
  return [{ name: "channels", needed: false, state: "degraded", detail, remedy }];
}

function channelCheck({ name, bot = "not reached yet", health, people, waiting }: ListedChannel): Check {
  const base = { name: `${name} channel`, needed: false };
  const detail = `${bot}, ${people.length === 1 ? "1 person" : `${people.length} people`}, ${waiting} waiting`;
  if (health.state !== "up") {
    const remedy = `See sidestick channels list; a new token: sidestick channels remove ${name}, then add ${name}`;
    return { ...base, state: "degraded", detail: `${detail}: ${health.detail ?? health.state}`, remedy };
  }
  if (people.length > 0) return { ...base, state: "ready", detail };
  return { ...base, state: "degraded", detail, remedy: `Nobody may speak there: sidestick channels invite ${name}` };
}
