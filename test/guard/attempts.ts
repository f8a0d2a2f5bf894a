/**
 * What a hostile agent tries from inside its shell. Each is a bash script that ends with 0 if it succeeded; `$X` are the
 * facts of victim.ts. The open level's list of what succeeds is in docs/guide/guard.md.
 */
import { DEADLINE_MS } from "../support/deadline.ts";

export type Attempt = {
  readonly name: string;
  readonly script: string;
  /** In the person's home; it has succeeded only if this is there outside. */
  readonly leaves?: string;
  /** Makes sense only for an agent that is root, or only for one that isn't. */
  readonly only?: "root";
};

/** Whether a unix socket answers. */
const connects = (path: string): string =>
  `python3 -c 'import socket,sys,os
s = socket.socket(socket.AF_UNIX); s.settimeout(${DEADLINE_MS / 1000})
s.connect(os.path.expandvars(sys.argv[1]).replace("@", "\\0", 1) if sys.argv[1].startswith("@") else os.path.expandvars(sys.argv[1]))' "${path}"`;

const ioctl = (path: string): string =>
  `python3 -c 'import fcntl,os,sys
fd = os.open(sys.argv[1], os.O_RDWR | os.O_NOCTTY)
fcntl.ioctl(fd, 0x5412, bytes([21]))' "${path}"`;

const call = (method: string, path: string, body: string): string =>
  `test "$(curl -s -o /dev/null -w '%{http_code}' -X ${method} -H "Authorization: Bearer $TOKEN" -H 'content-type: application/json' -d '${body}' "$URL${path}" | cut -c1)" = 2`;

const syscall = (code: string): string => `python3 -c 'import ctypes,os,sys
libc = ctypes.CDLL(None, use_errno=True)
${code}'`;

const DATA: readonly Attempt[] = [
  { name: "list the data directory", script: `ls -A "$DATA" | grep -qv '^host$'` },
  { name: "read the database", script: `head -c 16 "$DATA/events.db" | grep -q SQLite` },
  { name: "change the database", script: `exec 9>> "$DATA/events.db"` },
  { name: "read recorded output", script: `find "$DATA" -type f | grep -qv '/host/sessions/'` },
  { name: "read the audit heads", script: `ls -A "$HEADS" | grep -q .` },
  { name: "read the config", script: `cat "$CONFIG/config.json"` },
  { name: "change the config", script: `printf '{"port": 1}' > "$CONFIG/config.json"` },
  {
    name: "put another data directory in its place",
    script: `moved=$(dirname "$(dirname "$DATA")") && mv "$moved/share" "$moved/moved" && mv "$moved/moved" "$moved/share"`,
  },
  { name: "put another config in its place", script: `mv ~/.config ~/.config-moved && mv ~/.config-moved ~/.config` },
  { name: "reach the data by a link", script: `ln -sfn "$DATA" ~/link && ls -A ~/link/ | grep -q events` },
  {
    name: "reach the data by /proc/*/root",
    script: `ls -d /proc/[0-9]*/root"$DATA"/events.db 2>/dev/null | grep -q .`,
  },
  {
    name: "reach the data by /proc/*/cwd",
    script: `for it in /proc/[0-9]*/cwd; do ls -A "$it/$DATA" "$it/.local/share/sidestick" 2>/dev/null; done | grep -q events`,
  },
];

const POWER: readonly Attempt[] = [
  {
    name: "make an operator's token with the command line",
    script: `"$NODE" "$INSTALL/bin/main.mjs" token create --role operator --name evil --data-dir "$DATA"`,
  },
  { name: "make an operator's token over HTTP", script: call("POST", "/tokens", `{"role":"operator","name":"evil"}`) },
  {
    name: "grant itself control",
    script: call("POST", `/sessions/$OTHER_SESSION/control/grant`, `{"lease_seconds":60,"attend":true}`),
  },
  { name: "release the person's hold", script: call("POST", `/sessions/$OTHER_SESSION/control/release`, `{}`) },
  { name: "type into the person's session", script: call("POST", `/sessions/$OTHER_SESSION/input`, `{"data":"x"}`) },
  {
    name: "find a login link or token in the hub's or host's command lines",
    script: `cat "/proc/$HUB/cmdline" "/proc/$HUB/environ" "/proc/$HOST/cmdline" "/proc/$HOST/environ" | tr '\\0' '\\n' | grep -E '[c]ode=|[s]st_operator'`,
  },
  { name: "reach the operator's socket", script: connects("$DATA/hub.sock") },
  { name: "reach the host's socket", script: connects("$DATA/host/link.sock") },
  {
    name: "forge frames of a hub",
    script: `python3 -c 'import json, os, socket, struct, sys
s = socket.socket(socket.AF_UNIX); s.settimeout(${DEADLINE_MS / 1000}); s.connect(os.environ["DATA"] + "/host/link.sock")
hello = json.dumps({"type": "HELLO", "versions": [1], "channel": "control", "hub": "evil"}).encode()
s.sendall(struct.pack(">I", len(hello)) + struct.pack(">I", 0) + hello)
sys.exit(0 if s.recv(1) else 1)'`,
  },
];

const PROCESSES: readonly Attempt[] = [
  {
    name: "see the hub's process",
    script: `test -d "/proc/$HUB" && tr '\\0' ' ' < "/proc/$HUB/cmdline" | grep -q hub`,
  },
  { name: "signal the hub", script: `kill -0 "$HUB"` },
  { name: "signal the host", script: `kill -0 "$HOST"` },
  { name: "signal another session's shell", script: `kill -0 "$OTHER"` },
  { name: "stop all that it may signal", script: `kill -CONT -1 && kill -0 "$HUB"` },
  { name: "read the hub's environment", script: `grep -q HOME "/proc/$HUB/environ"` },
  {
    name: "read the hub's memory",
    script: `head -c 1 "/proc/$HUB/mem" || { test -r "/proc/$HUB/maps" && head -1 "/proc/$HUB/maps" | grep -q .; }`,
  },
  {
    name: "trace the host",
    script: syscall(`
if libc.ptrace(0x4206, int(os.environ["HOST"]), 0, 0) != 0: sys.exit(1)
libc.ptrace(17, int(os.environ["HOST"]), 0, 0)`),
  },
  {
    name: "enter the namespaces of another process",
    script: `nsenter -t "$HOST" -m -p true || { test "$(id -u)" != 0 && kill -0 "$HOST"; }`,
  },
  {
    name: "open what the first process has open",
    script: `readlink /proc/1/fd/* /proc/1/root /proc/1/cwd | grep -q .`,
  },
  {
    name: "trace the first process",
    script: syscall(`
if libc.ptrace(0x4206, 1, 0, 0) != 0: sys.exit(1)
libc.ptrace(17, 1, 0, 0)`),
  },
];

const MOUNTS: readonly Attempt[] = [
  { name: "uncover by umount", script: `umount "$DATA" && test -e "$DATA/events.db"`, only: "root" },
  {
    name: "uncover in a user namespace",
    script: `unshare -Urm sh -c 'umount "$DATA"; umount -l "$DATA"; test -e "$DATA/events.db"'`,
  },
  {
    name: "uncover by a bind mount in a user namespace",
    script: `mkdir ~/bound; unshare -Urm sh -c '{ mount --bind / ~/bound || mount --rbind / ~/bound; } && test -e ~/"bound$DATA/events.db"'`,
  },
  {
    name: "uncover by a bind mount",
    script: `mkdir -p ~/b && mount --bind "$(dirname "$DATA")" ~/b && test -e ~/b/sidestick/events.db`,
    only: "root",
  },
  {
    name: "make the install writable again",
    script: `mount -o remount,rw,bind "$INSTALL" && touch "$INSTALL/evil" && rm "$INSTALL/evil"`,
    only: "root",
  },
  {
    name: "leave by chroot",
    script: syscall(`
os.makedirs(os.path.expanduser("~/jail"), exist_ok=True)
top = os.open("/", os.O_RDONLY)
os.chroot(os.path.expanduser("~/jail"))
os.fchdir(top)
for _ in range(64): os.chdir("..")
os.chroot(".")
sys.exit(0 if os.path.exists(os.environ["DATA"] + "/events.db") else 1)`),
    only: "root",
  },
  {
    name: "open by handle",
    script: syscall(`
handle = ctypes.create_string_buffer(136)
ctypes.cast(handle, ctypes.POINTER(ctypes.c_uint))[0] = 128
mount = ctypes.c_int()
if libc.name_to_handle_at(-100, b"/", handle, ctypes.byref(mount), 0) != 0: sys.exit(1)
sys.exit(0 if libc.open_by_handle_at(os.open("/", os.O_RDONLY), handle, 0) >= 0 else 1)`),
    only: "root",
  },
  {
    name: "make a device of a disk",
    script: `dev=$(awk '$3 == 0 && $2 == "/" { print $1 }' /proc/self/mounts); mknod ~/disk b 254 0 && head -c 1 ~/disk`,
    only: "root",
  },
  {
    name: "read a disk",
    script: `ls /dev/vd? /dev/sd? /dev/nvme?n? 2>/dev/null | head -1 | xargs -r head -c 1 | grep -qa . || { ls /dev/vd? /dev/sd? /dev/nvme?n? 2>/dev/null | grep -q .; }`,
    only: "root",
  },
  { name: "open the kernel's settings for writing", script: `exec 9<> /proc/sys/kernel/core_pattern`, only: "root" },
  { name: "listen to the network", script: syscall("import socket; socket.socket(17, 3, 0x300)"), only: "root" },
  { name: "write to another user's home", script: `cd /home && touch ssv-evil && rm ssv-evil`, only: "root" },
  { name: "open sysrq for writing", script: `exec 9> /proc/sysrq-trigger`, only: "root" },
  { name: "open a module's settings for writing", script: `exec 9<> /sys/module/printk/parameters/time`, only: "root" },
];

const SOCKETS: readonly Attempt[] = [
  {
    name: "run a command in the person's tmux",
    script: `they() { tmux -S "$TMUX_SOCKET" "$@"; }
they new-window "touch '$EVIL/tmux'; tmux wait-for -S made" && they wait-for made && test -e "$EVIL/tmux"`,
  },
  { name: "reach docker's socket", script: connects("$HOME/.docker/run/docker.sock") },
  { name: "reach a service's socket", script: connects("/run/ssv-$SCENE/docker.sock") },
  { name: "reach the ssh agent", script: connects("/tmp/ssh-ssv$SCENE/agent.1") },
  { name: "reach the gpg agent", script: connects("$HOME/.gnupg/S.gpg-agent") },
  { name: "reach the X server", script: connects("/tmp/.X11-unix/X$SCENE") },
  { name: "reach an abstract socket", script: connects("@$ABSTRACT") },
  {
    name: "reach D-Bus",
    script: `test -S /run/dbus/system_bus_socket || test -S "/run/user/$(id -u)/bus" || test -d /run/systemd/private`,
  },
];

const LATER: readonly Attempt[] = [
  { name: "change a start-up file", script: `echo 'touch evil' >> ~/.bashrc` },
  { name: "make a start-up file", script: `echo 'touch evil' > ~/.bash_profile` },
  { name: "rename a start-up file", script: `mv ~/.profile ~/.profile-moved` },
  { name: "remove a start-up file", script: `rm -f ~/.bashrc` },
  {
    name: "put a key into ~/.ssh",
    script: `mkdir -p ~/.ssh && echo key > ~/.ssh/authorized_keys`,
    leaves: ".ssh/authorized_keys",
  },
  {
    name: "start with the desktop",
    script: `mkdir -p ~/.config/autostart && echo evil > ~/.config/autostart/evil.desktop`,
  },
  {
    name: "start with systemd",
    script: `mkdir -p ~/.config/systemd/user && echo evil > ~/.config/systemd/user/evil.service`,
  },
  { name: "put a program into PATH", script: `echo evil > ~/.local/bin/ls` },
  { name: "make a directory of PATH", script: `mkdir -p ~/bin && echo evil > ~/bin/ls` },
  { name: "change our programs", script: `touch "$INSTALL/src/cli/main.ts"` },
  { name: "add to our programs", script: `touch "$INSTALL/node_modules/evil"` },
  { name: "change our runtime", script: `exec 9>> "$NODE"` },
  {
    name: "start by cron",
    script: `echo '* * * * * :' | crontab - && crontab -r || test -w /etc/cron.d || test -w /var/spool/cron/crontabs`,
  },
  { name: "change a program of the system", script: `exec 9<> /usr/bin/perl`, only: "root" },
  { name: "preload into every program", script: `exec 9>> /etc/ld.so.preload`, only: "root" },
];

const SECRETS: readonly Attempt[] = [
  { name: "read a cloud's credentials", script: `grep -q of-the-person ~/.aws/credentials` },
  { name: "read an ssh key", script: `grep -q of-the-person ~/.ssh/id_ed25519` },
  { name: "read a browser's cookies", script: `grep -q of-the-person ~/.config/chromium/Cookies` },
];

const TERMINALS: readonly Attempt[] = [
  { name: "type into its own terminal", script: ioctl("/dev/tty") },
  { name: "type into another terminal", script: ioctl("/proc/$OTHER/fd/0") },
  { name: "write to another terminal", script: `printf x > "/proc/$OTHER/fd/0"` },
  { name: "read another terminal", script: `exec 9< "$(readlink "/proc/$OTHER/fd/0")"` },
  { name: "list the kernel's keys", script: syscall(`sys.exit(0 if libc.syscall(250, 0, -4, 1) >= 0 else 1)`) },
];

export const ATTEMPTS: readonly Attempt[] = [
  ...DATA,
  ...POWER,
  ...PROCESSES,
  ...MOUNTS,
  ...SOCKETS,
  ...SECRETS,
  ...TERMINALS,
  ...LATER,
];
