/** Programs that change the machine, its packages, accounts and processes, or reach others. */
import type { Findings } from "./findings.ts";
import type { Given, Program } from "./program.ts";
import type { Effect } from "./verdict.ts";
import { literalWord, textOf } from "./words.ts";

const HERE = literalWord(".");

function does(...effects: readonly Effect[]): Program {
  return { effects };
}

const READS: Program = { effects: ["read"] };
const PACKAGES: Program = { effects: ["package"] };
const SHOWS_PACKAGES: Program = {
  effects: ["package"],
  subcommands: {
    "list|show|search|info|policy|depends|rdepends|madison|outdated|freeze|check|help|doctor|leaves|deps|contents|repolist|provides|why":
      READS,
  },
  otherwise: PACKAGES,
};

/** More commands may follow behind a semicolon. */
const LISTS_TERMINALS: Program = {
  more: ({ operands }, findings) => {
    if (operands.some((word) => (textOf(word) ?? ";").endsWith(";"))) findings.add("unclear");
  },
};

const HTTP_URL = /^(?:https?:\/\/)?[\w.-]+(?::\d+)?(?:[/?#].*)?$|^https?:\/\//;
const HTTP_METHOD_OUT = /^(?!GET$|HEAD$|OPTIONS$)/i;

function curl({ options, operands }: Given, findings: Findings): void {
  for (const { name, value } of options) {
    if (/^(?:-X|--request)$/.test(name) && HTTP_METHOD_OUT.test(textOf(value) ?? "?")) findings.add("push");
    const text = textOf(value);
    if (/^(?:-d|--data.*|--json|-F|--form|--url-query|-H|--header|-w|--write-out)$/.test(name)) {
      const [, file] = /(?:^|=)[@<]([^;]+)/.exec(text ?? value?.prefix ?? "") ?? [];
      if (file !== undefined) findings.touch(literalWord(file), "read");
    }
    if (/^(?:-[OJ]|--remote-.*)$/.test(name)) findings.touch(HERE, "write");
    if (name === "--url" && value !== undefined) addresses({ operands: [value] }, findings);
    if (value !== undefined && text === undefined && name !== "-w") findings.add("unclear");
  }
  addresses({ operands }, findings);
}

function wget({ options, operands }: Given, findings: Findings): void {
  if (!options.some(({ name }) => /^(?:-O|--output-document|--spider)$/.test(name))) findings.touch(HERE, "write");
  if (options.some(({ name, value }) => name === "--method" && HTTP_METHOD_OUT.test(textOf(value) ?? "?")))
    findings.add("push");
  addresses({ operands }, findings);
}

/** Where it goes must stand there: what is put into an address leaves the machine. */
function addresses({ operands }: Pick<Given, "operands">, findings: Findings): void {
  for (const word of operands) {
    const texts = word.values?.map(({ text }) => text);
    if (texts === undefined) findings.add("unclear");
    else if (texts.some((text) => text.startsWith("file:"))) findings.touch(literalWord(texts[0]!.slice(5)), "read");
    else if (texts.some((text) => !HTTP_URL.test(text))) findings.add("unclear");
  }
}

const SENDS: readonly Effect[] = ["push"];

function rsync({ options, operands }: Given, findings: Findings): void {
  if (operands.some(({ prefix }) => /^[^/]*:/.test(prefix))) findings.add("push", "remote");
  const isDeleting = options.some(({ name }) => name.startsWith("--delete") || name === "--remove-source-files");
  const isMove = options.some(({ name }) => name === "--remove-source-files");
  for (const word of operands.slice(0, -1)) findings.touch(word, isMove ? "delete" : "read", { isDeep: true });
  for (const word of operands.slice(-1)) findings.touch(word, isDeleting ? "delete" : "write");
}

const KUBECTL: Program = {
  options: { "-n --namespace --context --cluster -o --output -l": "value", "--kubeconfig": "read" },
  subcommands: {
    "get|describe": {
      effects: ["fetch"],
      options: {
        "-n --namespace -o --output -l --selector --field-selector --context": "value",
        "--raw -f --filename -k --kustomize": { takes: ["credentials"] },
      },
      more: ({ operands }, findings) => {
        if (operands.some((word) => /\bsecrets?\b/.test(textOf(word) ?? "secret"))) findings.add("credentials");
      },
    },
    "logs|top|version|explain|api-resources|api-versions|cluster-info|diff": {
      effects: ["fetch"],
      options: { "-n --namespace -c --container --tail --since -l": "value" },
    },
    config: does("credentials"),
  },
  otherwise: does("remote"),
};

const DOCKER: Program = {
  options: {
    "-H --host -c --context": { takes: ["remote"] },
    "--config": "read",
    "-f --file -p --project-name": "value",
  },
  subcommands: {
    "ps|images|logs|version|info|stats|top|port|history|events|search|diff": { effects: ["read"] },
    "build|buildx": {
      effects: ["build"],
      options: {
        "-t --tag -f --file --build-arg --target --platform": "value",
        "--secret --ssh": { takes: ["credentials"] },
        "--push": ["push"],
        "-o --output --metadata-file --iidfile": { takes: ["unclear"] },
      },
    },
    compose: {
      options: { "-f --file -p --project-name --profile --env-file": "value" },
      subcommands: { "ps|logs|config|images|top|ls|version": READS, "build|pull": does("build") },
      otherwise: does("remote", "process"),
    },
    pull: does("fetch"),
    "push|login|logout": does("push", "credentials"),
    "system|volume|network|image|container|context": {
      subcommands: { "ls|list|df|info": READS },
      otherwise: does("remote", "system"),
    },
  },
  otherwise: does("remote", "privilege"),
};

export const SYSTEM_PROGRAMS: Readonly<Record<string, Program>> = {
  "apt|apt-get|aptitude|apt-cache|dnf|yum|zypper|pacman|apk|brew|snap|flatpak|port|emerge|nix-env|pip|pip3|pipx|uv|gem|conda|mamba|poetry|pipenv|rustup|nvm|pyenv|rbenv|asdf|mise|volta|corepack|composer|cpan|luarocks|opam|vcpkg|choco|winget|scoop":
    SHOWS_PACKAGES,
  "dpkg|rpm": { effects: [], more: queriesPackages },
  journalctl: {
    options: {
      "-u --unit -n --lines -S --since -U --until -p --priority -o --output -g --grep -t --identifier -b --boot":
        "value",
      "--rotate --flush --sync --vacuum-size --vacuum-time --vacuum-files --relinquish-var --smart-relinquish-var --update-catalog --setup-keys":
        ["system"],
      "--cursor-file": "write",
    },
  },
  dmesg: { options: { "-C -c --clear --read-clear -D -E -n --console-level --console-off --console-on": ["system"] } },
  mount: {
    effects: [],
    more: ({ options, operands }, findings) => findings.add(options.length + operands.length > 0 ? "system" : "read"),
  },
  ip: {
    options: { "-f -family -n -netns -b -batch": { takes: ["system"] } },
    isSingleDash: true,
    effects: [],
    more: showsNetwork,
  },
  "systemctl|service": {
    effects: ["system"],
    options: { "--user --system -a --all -l --full": [] },
    subcommands: { "status|is-active|is-enabled|list-units|list-unit-files|show|cat|list-timers": READS },
    otherwise: does("system"),
  },
  "shutdown|reboot|halt|poweroff|init|telinit|umount|swapon|swapoff|modprobe|insmod|rmmod|sysctl|iptables|ip6tables|nft|ufw|firewall-cmd|useradd|userdel|usermod|adduser|deluser|groupadd|groupdel|passwd|chpasswd|chsh|chfn|vipw|at|batch|loginctl|timedatectl|hostnamectl|localectl|update-alternatives|update-rc.d|ldconfig|depmod|grub-install|update-grub|fdisk|sfdisk|cfdisk|parted|losetup|cryptsetup|lvm|pvcreate|vgcreate|lvcreate|lvremove|mdadm|ifconfig|route|nmcli|tc|brctl|virsh|qemu-system-x86_64|VBoxManage|logger|fsck|tune2fs|kexec|setenforce|aa-disable|launchctl|defaults|diskutil|netplan|certbot|a2ensite|nginx|apachectl":
    does("system"),
  crontab: {
    effects: [],
    more: ({ options }, findings) => findings.add(options.some(({ name }) => name === "-l") ? "read" : "system"),
  },
  "mkfs|mkfs.ext4|mkfs.ext3|mkfs.ext2|mkfs.xfs|mkfs.btrfs|mkfs.vfat|mkfs.fat|mkfs.ntfs|mke2fs|mkswap|wipefs|blkdiscard|sgdisk|hdparm|nvme|badblocks":
    does("irreversible"),
  "kill|pkill|killall|xkill|skill|renice|disown|gcore|ptrace": {
    effects: ["process"],
    more: ({ options, operands }, findings) => {
      if ([...options.map(({ name }) => name), ...operands.map(textOf)].includes("-1")) findings.add("system");
    },
  },
  "tmux|screen|dtach|abduco|zellij": {
    effects: ["shell_state"],
    subcommands: { "ls|list-sessions|list-windows|list-panes|-ls|capture-pane|has-session": LISTS_TERMINALS },
    otherwise: does("shell_state", "unclear"),
  },
  "sudoedit|visudo|polkit|newgrp|sg|runas|capsh": does("privilege"),
  printenv: does("credentials"),
  "history|fc|ssh-add|ssh-agent|ssh-keygen|ssh-copy-id|gpg|gpg2|pass|secret-tool|security|keyring|op|bw|vault|age|sops|keytool|certutil|htpasswd|aws-vault|gopass":
    does("credentials"),
  openssl: { effects: [], subcommands: { version: READS }, otherwise: does("credentials") },
  set: {
    effects: [],
    more: ({ options, operands }, findings) => {
      const isBare = options.length === 0 && operands.length === 0;
      findings.add(
        isBare
          ? "credentials"
          : operands.length > 0 || options.some(({ name }) => !/^-[euxo]$/.test(name))
            ? "shell_state"
            : "read",
      );
    },
    options: { "-o": { takes: [] } },
  },
  "shopt|enable|hash|bind|complete|compgen|compopt|unalias|caller|suspend|logout|setopt|unsetopt|autoload|zmodload|emulate|abbr|funced|functions":
    does("shell_state"),
  curl: {
    effects: ["fetch"],
    options: {
      "-o --output --output-dir -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr --etag-save --libcurl --hsts --alt-svc":
        "write",
      "-d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string": {
        takes: SENDS,
      },
      "--head --fail --get --remote-name --remote-name-all --remote-header-name": [],
      "-T --upload-file": { takes: ["push", "unclear"] },
      "-K --config": { takes: ["unclear"] },
      "--unix-socket --abstract-unix-socket": { takes: ["privilege"] },
      "-E --cert --key --netrc-file -n --netrc": { takes: ["credentials"] },
      "-X --request -H --header -A --user-agent -e --referer -m --max-time --connect-timeout -w --write-out --retry --retry-delay -x --proxy -u --user -b --cookie --resolve --cacert -r --range --url-query --limit-rate -z -y -Y -C --max-redirs --retry-max-time --url":
        "value",
    },
    more: curl,
  },
  wget: {
    effects: ["fetch"],
    options: {
      "-O --output-document -o --output-file -a --append-output -P --directory-prefix --save-cookies": "write",
      "--post-data --body-data": { takes: SENDS },
      "--post-file --body-file": { takes: ["push", "unclear"] },
      "-i --input-file --load-cookies": "read",
      "-e --execute --use-askpass --config": { takes: ["environment"] },
      "-U --user-agent --header -T --timeout -t --tries --user --password -Q -w --method -l --level -A -R -D -I -X":
        "value",
    },
    more: wget,
  },
  "http|https|xh|httpie|aria2c|axel|lynx|w3m|links|elinks|youtube-dl|yt-dlp": does("fetch", "unclear"),
  "scp|sftp|ftp|lftp|nc|ncat|netcat|socat|telnet|tftp|smbclient|rclone|s3cmd|gsutil|azcopy|mail|mailx|sendmail|mutt|swaks|croc|wormhole|ngrok|cloudflared|tailscale|autossh|sshfs|mosh|rsh|rlogin|magic-wormhole":
    does("push", "remote"),
  rsync: {
    effects: ["write"],
    options: {
      "-e --rsh --rsync-path": { takes: ["remote", "inline_code"] },
      "--log-file --write-batch --only-write-batch --partial-dir -T --temp-dir --backup-dir": "write",
      "--daemon": ["system"],
      "--partial --backup --delete --delete-before --delete-during --delete-after --delete-excluded": [],
      "--remove-source-files": [],
      "--exclude --include --filter -f --bwlimit --timeout --port --chmod": "value",
      "--exclude-from --include-from --files-from --password-file": "read",
    },
    more: rsync,
  },
  "docker|podman|nerdctl": DOCKER,
  "docker-compose|podman-compose": {
    options: { "-f --file -p": "value" },
    subcommands: { "ps|logs|config|images|top": READS, "build|pull": does("build") },
    otherwise: does("remote", "process"),
  },
  "kubectl|oc|k": KUBECTL,
  "helm|terraform|tofu|pulumi|ansible|ansible-playbook|aws|gcloud|az|doctl|flyctl|fly|heroku|vercel|netlify|wrangler|firebase|serverless|sam|cdk|eksctl|argocd|flux|packer|vagrant|salt|puppet|chef|nomad|consul|lxc|incus|multipass|machinectl|systemd-nspawn|bwrap|toolbox|distrobox":
    {
      effects: ["remote"],
      subcommands: { "version|help|validate|fmt|lint": READS },
      otherwise: does("remote"),
    },
  "xdg-open|open|start|gio|xclip|xsel|pbcopy|pbpaste|wl-copy|wl-paste|xdotool|notify-send|wall|write|mesg":
    does("system"),
};

/** `ip addr`, `ip -4 route show`: what it is told beyond that changes something, or works elsewhere. */
function showsNetwork({ operands }: Given, findings: Findings): void {
  const [subject, verb, ...rest] = operands.map((word) => textOf(word) ?? "?");
  const isSubject = subject !== undefined && /^(?:a|addr|address|l|link|r|route|n|neigh|rule|-br)$/.test(subject);
  const isShown = verb === undefined || /^(?:show|list|ls|get)$/.test(verb);
  findings.add(isSubject && isShown && !rest.includes("?") ? "read" : "system");
}

function queriesPackages({ options }: Given, findings: Findings): void {
  const isQuery = options.some(({ name }) =>
    /^(?:-l|-L|-s|-S|-q|-p|--list|--status|--search|--query|--listfiles)$/.test(name),
  );
  findings.add(isQuery ? "read" : "package");
}
