/** A joined host as a service of systemd, and how it stands. Rules RML-41, RML-42 in docs/spec/remote-hosts.md. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isInstanceLocked } from "../host/link/instance-lock.ts";
import { EXIT_REMOVED, type JoinState, STATE_FILE } from "./host-join.ts";
import { defaultHostDir, readMembership } from "./membership.ts";
import { unitWord } from "./system-unit.ts";

export type HostStatus = {
  readonly joined: boolean;
  readonly running: boolean;
  readonly online: boolean;
  readonly name?: string;
  readonly hub?: string;
  readonly since?: string;
  readonly detail?: string;
  readonly dataDir: string;
};

export async function hostStatusOf(given: string | undefined): Promise<HostStatus> {
  const dataDir = directoryOf(given);
  const membership = await readMembership(dataDir);
  const place = { ...(membership && { name: membership.name, hub: membership.url }), dataDir };
  const lock = join(dataDir, "host", "lock");
  const running = existsSync(lock) && (await isInstanceLocked(lock));
  if (!running) return { joined: membership !== undefined, running, online: false, ...place };
  const { online = false, since, detail } = stateIn(dataDir, readFileSync(lock, "utf8").trim());
  return { joined: true, running, online, ...(since && { since }), ...(detail && { detail }), ...place };
}

/** What one said that ran there before is over. */
function stateIn(dataDir: string, pid: string): Partial<JoinState> {
  try {
    const state = JSON.parse(readFileSync(join(dataDir, STATE_FILE), "utf8")) as JoinState;
    return String(state.pid) === pid ? state : {};
  } catch {
    return {};
  }
}

export class ServiceRefused extends Error {
  override readonly name = "ServiceRefused";
  readonly remedy: string;

  constructor(message: string, remedy: string) {
    super(message);
    this.remedy = remedy;
  }
}

export type ServiceOptions = {
  readonly system: boolean;
  readonly user?: string | undefined;
  readonly dryRun: boolean;
  readonly dataDir?: string | undefined;
};

export type Service = { readonly path: string; readonly text: string; readonly next: readonly string[] };

const UNIT = "sidestick-host.service";
const INSTALL = resolve(import.meta.dirname, "..", "..");

/** Writes the unit, unless it is only to be shown; what starts it is for a person to do. */
export async function installHost({ system, user, dryRun, dataDir: given }: ServiceOptions): Promise<Service> {
  const account = accountOf(system, user);
  const dataDir = directoryOf(given);
  if (!system && (await readMembership(dataDir)) === undefined) {
    throw new ServiceRefused(
      `This machine has joined no hub (${dataDir}).`,
      "First: sidestick host join URL --code CODE",
    );
  }
  const path = system ? join("/etc/systemd/system", UNIT) : join(configHome(), "systemd", "user", UNIT);
  const text = hostUnit({ account, dataDir: system && given === undefined ? undefined : dataDir });
  if (!dryRun) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { mode: 0o644 });
  }
  return { path, text, next: system ? nextOfSystem(account) : NEXT };
}

function accountOf(system: boolean, user: string | undefined): string | undefined {
  if (!system && user !== undefined) throw new ServiceRefused("--user goes with --system.", "Leave it out.");
  if (system && user === undefined) {
    throw new ServiceRefused("--system needs the account in which sessions run.", "Give it: --user NAME");
  }
  return user;
}

function hostUnit({ account, dataDir }: { account: string | undefined; dataDir: string | undefined }): string {
  const place = dataDir === undefined ? "" : ` --data-dir ${unitWord(dataDir)}`;
  return `# Written by \`sidestick host install\`.
[Unit]
Description=Sidestick: sessions on this machine for a hub elsewhere
Documentation=file://${INSTALL}/docs/guide/hosts.md
After=network-online.target
Wants=network-online.target

[Service]
Type=exec
${account === undefined ? "" : `User=${account}\nWorkingDirectory=~\n`}ExecStart=${unitWord(`${INSTALL}/bin/sidestick`)} host join${place}
Restart=on-failure
RestartSec=5
# The hub has removed it: coming again would not help.
RestartPreventExitStatus=${EXIT_REMOVED}
# The host ends its sessions itself, politely.
KillMode=mixed
OOMPolicy=continue
LimitNOFILE=65536
UMask=0077
LimitCORE=0

[Install]
WantedBy=${account === undefined ? "default.target" : "multi-user.target"}
`;
}

const NEXT = [
  "Start it: systemctl --user daemon-reload && systemctl --user enable --now sidestick-host",
  "So that it runs while you are not logged in: loginctl enable-linger",
];

function nextOfSystem(account: string | undefined): readonly string[] {
  return [
    `Join as that account first: sudo -H -u ${account} sidestick host join URL --code CODE`,
    "Start it: systemctl daemon-reload && systemctl enable --now sidestick-host",
  ];
}

function directoryOf(given: string | undefined): string {
  return resolve(given ?? defaultHostDir(process.env));
}

function configHome(): string {
  return process.env["XDG_CONFIG_HOME"] || join(homedir(), ".config");
}
