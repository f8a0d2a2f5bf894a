/** Which places of a machine a guard closes, by name. `~` is the home of whom the session runs as. */

export function words(text: string): readonly string[] {
  return text.trim().split(/\s+/);
}

/** Read by a shell, a login or a desktop when a person starts one. */
export const START_UP = words(`
  .profile .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .inputrc .zshenv .zprofile
  .zshrc .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .config/fish .config/zsh .zsh
  .oh-my-zsh .bashrc.d .bash_completion .config/bash_completion .xprofile .xsession .xsessionrc
  .xinitrc .pam_environment .config/environment.d .config/autostart .config/autostart-scripts
  .config/plasma-workspace .config/upstart .config/systemd .local/share/systemd
  .config/user-tmpfiles.d .local/share/user-tmpfiles.d .local/share/dbus-1
  .local/share/bash-completion .forward .procmailrc .tmux.conf .config/tmux .screenrc .config/kitty
  .config/alacritty .config/wezterm
`).map((it) => `~/${it}`);

/** Directories of programs that a login adds to PATH when they are there. */
export const USUAL_PATH = ["~/bin", "~/.local/bin"];

/** What opens other doors. */
export const CREDENTIALS = words(`
  ~/.aws ~/.azure ~/.config/gcloud ~/.kube ~/.oci ~/.config/doctl ~/.config/hcloud ~/.mozilla
  ~/.config/google-chrome ~/.config/chromium ~/.config/BraveSoftware ~/.config/vivaldi
  ~/.config/microsoft-edge ~/.config/opera ~/snap/firefox ~/snap/chromium ~/.var/app
  ~/.local/share/keyrings ~/.local/share/kwalletd ~/.password-store ~/.Xauthority ~/.vnc
`);
/** One's own inside, so that ssh can remember hosts. Made if it isn't there: keys that let in could be put into it. */
export const SSH = "~/.ssh";

/** Of `/run`: names of hosts, and databases. */
export const SHOWN_IN_RUN = words(`
  /run/systemd/resolve /run/resolvconf /run/NetworkManager /run/netconfig /run/nscd /run/postgresql
  /run/mysqld /run/redis
`);

/** Where people's own servers listen, in a directory for all. A name may hold one `*`. */
export const SOCKETS_IN_TMP = words(`
  tmux-* screens uscreens .X11-unix .ICE-unix .XIM-unix .font-unix .X*-lock ssh-* dbus-* vscode-*
  gpg-* keyring-* pulse-* orbit-* ksocket-*
`);
export const SOCKETS_IN_HOME = words(`
  ~/.screen ~/.gnupg/S.gpg-agent ~/.gnupg/S.gpg-agent.extra ~/.gnupg/S.gpg-agent.browser
  ~/.gnupg/S.gpg-agent.ssh ~/.gnupg/S.keyboxd ~/.docker/run ~/.docker/desktop
  ~/.local/share/containers ~/.cache/keyring-* ~/.dbus
`);
export const SOCKETS_IN_VAR = ["/var/run/docker.sock", "/var/lib/docker", "/var/lib/lxd", "/var/snap/lxd"];

/** Variables that name any of these, or a desktop. */
export const UNSET =
  /^(?:SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_ASKPASS|SUDO_ASKPASS|GIT_ASKPASS|TMUX|TMUX_PANE|STY|WINDOW|DISPLAY|WAYLAND_\w+|XAUTHORITY|DBUS_\w+|GPG_AGENT_INFO|DOCKER_HOST|CONTAINER_HOST|VSCODE_\w+|ICEAUTHORITY|SESSION_MANAGER|DESKTOP_STARTUP_ID|XDG_SESSION_\w+|SIDESTICK_\w+)$/;

/** In root's guard these can't be written to, nor can the homes of others; all else at the top can. */
export const SYSTEM: ReadonlySet<string> = new Set(
  "bin boot dev efi etc home lib lib32 lib64 libx32 lost+found nix opt proc root run sbin snap sys usr var".split(" "),
);

export const DEVICES = ["null", "zero", "full", "random", "urandom", "tty", "kvm", "dri", "kfd", "nvidia*"];

/** Of `/proc`, for root: what changes the machine, and what shows its memory. */
export const PROC_READ_ONLY = words(`
  sys sysrq-trigger irq bus fs acpi asound scsi driver mtrr
`);
export const PROC_EMPTY = words(`
  kcore kmsg keys key-users timer_list latency_stats sched_debug kpagecount kpageflags kpagecgroup
`);

/**
 * What stays of root's rights: those of files, accounts and low ports. None over the machine, and none to see what passes
 * on the network: our own tokens pass on loopback.
 */
export const CAPABILITIES = {
  CHOWN: 0,
  DAC_OVERRIDE: 1,
  FOWNER: 3,
  FSETID: 4,
  KILL: 5,
  SETGID: 6,
  SETUID: 7,
  SETPCAP: 8,
  NET_BIND_SERVICE: 10,
  SYS_CHROOT: 18,
  AUDIT_WRITE: 29,
};
