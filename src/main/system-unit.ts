/** What `sidestick install --system` writes, as text. Rule GRD-25 in docs/spec/guard.md. */

export type SystemHub = {
  readonly user: string;
  readonly home: string;
  /** Where our programs are. */
  readonly install: string;
  readonly port: number;
};

/** By it we know our own files again. */
export const MARK = "# Written by `sidestick install --system`; `sidestick uninstall --system` removes it.";

export function unitText({ user, install, port }: SystemHub): string {
  return `${MARK}
[Unit]
Description=Sidestick: live sessions that an AI agent and a person share
Documentation=file://${install}/docs/guide/deployments.md
After=network.target

[Service]
Type=exec
User=${user}
WorkingDirectory=~
ExecStart=${unitWord(`${install}/bin/sidestick`)} up --port ${port}
Restart=on-failure
RestartSec=2

# Shells run in a process that outlives the hub: a restart of the hub leaves them alone.
KillMode=process
# A session that takes all the memory is not the end of the others.
OOMPolicy=continue
LimitNOFILE=65536

# A start prints a login link, and more people read the journal than may log in. Errors still go there.
StandardOutput=null
UMask=0077
LimitCORE=0
KeyringMode=private

# Usual, but not here:
# - PrivateTmp, ProtectSystem, ProtectHome, ProtectKernel*: they give the hub other files than its operator's command
#   line sees, and the operator's socket serves only those who see the same.
# - PrivateDevices, ProtectProc: sessions need terminals, and the host looks at the processes in them.
# - RestrictNamespaces: a guard is made of namespaces.
# - NoNewPrivileges, and all that implies it for an account like this one (SystemCallFilter, RestrictSUIDSGID,
#   LockPersonality ...): sudo in a session could not work.

[Install]
WantedBy=multi-user.target
`;
}

/** As systemd reads one word. */
export function unitWord(path: string): string {
  const text = path.replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./$-]+$/.test(text) ? text : `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

/** For packages, whose account is made where they are installed. */
export function sysusersText({ user, home }: SystemHub): string {
  return `${MARK}\nu ${user} - "Sidestick" ${home} /bin/bash\n`;
}

export function tmpfilesText({ user, home }: SystemHub): string {
  return `${MARK}\nd ${home} 0700 ${user} ${user}\n`;
}
