/** Programs whose last words are a command that they run: what stands before it. Rule POL-3 in docs/spec/policy.md. */
import type { Kinds } from "./options.ts";
import type { Effect } from "./verdict.ts";

export type Prefix = Kinds & {
  /** With these it runs nothing. They are flags too. */
  readonly idle?: string;
  /** So many words stand before the command. */
  readonly operands?: number;
  readonly effects?: readonly Effect[];
  readonly isElsewhere?: true;
  /** Options whose value is a file that it writes. */
  readonly writes?: string;
  /** Options whose value is shell text that it runs. */
  readonly texts?: string;
};

const NAMESPACES =
  "-m -u -i -n -p -C -U -T --mount --uts --ipc --net --pid --user --cgroup --time --kill-child --mount-proc";
const SPEAKS = "--help --version";

const PREFIXES: Readonly<Record<string, Prefix>> = {
  builtin: {},
  busybox: { flags: "--list --list-full --help", idle: "--list --list-full --help" },
  caffeinate: { valued: "-t -w", flags: "-d -i -m -s -u" },
  chroot: {
    valued: "--userspec --groups",
    flags: `--skip-chdir ${SPEAKS}`,
    operands: 1,
    effects: ["privilege"],
    isElsewhere: true,
  },
  chrt: {
    valued: "-T -P -D --sched-runtime --sched-period --sched-deadline",
    flags:
      "-a -b -d -f -i -m -o -r -R -v -V --batch --deadline --fifo --idle --other --rr --reset-on-fork --max --verbose",
    operands: 1,
  },
  command: { flags: "-p -v -V", idle: "-v -V" },
  dbus_run_session: { flags: SPEAKS },
  doas: { valued: "-C -u", flags: "-L -n -s", effects: ["privilege"] },
  eatmydata: {},
  exec: { valued: "-a", flags: "-c -l", effects: ["shell_state"] },
  firejail: { effects: ["privilege"] },
  ionice: { valued: "-c -n -p -P -u --class --classdata --pid --pgid --uid", flags: "-t --ignore -h -V" },
  ltrace: {
    valued: "-a -A -D -e -F -l -n -o -p -s -u -w -x --output",
    flags: "-b -c -C -f -i -L -r -S -t -T -V -h",
    writes: "-o --output",
    effects: ["process"],
  },
  nice: { valued: "-n --adjustment", flags: `-# ${SPEAKS}` },
  nohup: { flags: SPEAKS },
  nsenter: {
    valued: "-t -S -G -W --target --setuid --setgid --wdns",
    attached: `${NAMESPACES} -r -w --root --wd`,
    flags: "-a -F -Z --all --no-fork --preserve-credentials",
    effects: ["privilege"],
    isElsewhere: true,
  },
  numactl: {
    valued: "-m -N -C -p -i -w --membind --cpunodebind --physcpubind --preferred --interleave --weighted-interleave",
    flags: "-a -H -l -s --all --hardware --localalloc --show",
  },
  pkexec: { valued: "--user", flags: `--disable-internal-agent --keep-cwd ${SPEAKS}`, effects: ["privilege"] },
  prlimit: {
    valued: "-p -o --pid --output",
    attached:
      "-c -d -e -f -i -l -m -n -q -r -s -t -u -v -x -y --core --data --nice --fsize --sigpending --memlock --rss --nofile --msgqueue --rtprio --stack --cpu --nproc --as --locks --rttime",
    flags: "--noheadings --raw --verbose",
  },
  proxychains: { valued: "-f", flags: "-q" },
  proxychains4: { valued: "-f", flags: "-q" },
  runuser: {
    valued: "-c -g -G -s -u -w --command --session-command --group --supp-group --shell --user --whitelist-environment",
    flags: "- -f -l -m -p -P --fast --login --preserve-environment --pty",
    texts: "-c --command --session-command",
    effects: ["privilege"],
  },
  setpriv: {
    valued:
      "--ambient-caps --inh-caps --bounding-set --ruid --euid --rgid --egid --reuid --regid --groups --securebits --pdeathsig --selinux-label --apparmor-profile",
    flags: "-d --dump --nnp --no-new-privs --clear-groups --keep-groups --init-groups --reset-env",
    effects: ["privilege"],
  },
  setsid: { flags: "-c -f -w --ctty --fork --wait -h -V" },
  stdbuf: { valued: "-i -o -e --input --output --error", flags: SPEAKS },
  strace: {
    valued:
      "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --env --attach --user --detach-on --interruptible --trace --signal --status --trace-path --columns --abbrev --verbose --raw --read --write --output --string-limit --const-print-style --summary-syscall-overhead --summary-sort-by --summary-columns --inject --fault --kvm",
    attached:
      "--daemonize --quiet --relative-timestamps --absolute-timestamps --syscall-times --strings-in-hex --decode-fds --decode-pids --tips",
    flags:
      "-A -c -C -d -D -f -F -h -i -k -n -q -r -t -T -v -V -w -x -y -Y -z -Z --follow-forks --successful-only --failed-only --instruction-pointer --stack-traces --syscall-number --output-append-mode --output-separately --no-abbrev --summary-only --summary --summary-wall-clock --debug --seccomp-bpf",
    writes: "-o --output",
    effects: ["process"],
  },
  sudo: {
    valued:
      "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --close-from --chdir --chroot --role --type --command-timeout --other-user",
    attached: "--preserve-env",
    // With `-k` and a command it runs the command.
    flags:
      "-A -b -B -e -E -H -i -k -K -l -n -N -P -s -S -v -V --askpass --background --bell --edit --set-home --help --login --remove-timestamp --reset-timestamp --list --non-interactive --preserve-groups --stdin --shell --version --validate",
    idle: "-l -v -K -V --list --validate --remove-timestamp --version --help",
    effects: ["privilege"],
  },
  systemd_run: {
    valued: "-p -u -M -H -t -E --unit --property --slice --machine --host --setenv --description --working-directory",
    flags: "-d -G -q -r -S -P --user --system --scope --pty --pipe --wait --collect --quiet --no-block --same-dir",
    effects: ["system"],
  },
  taskset: { flags: "-a -c -p --all-tasks --cpu-list --pid -h -V", operands: 1 },
  time: {
    valued: "-f -o --format --output",
    flags: "-a -p -q -v -h -V --append --portability --quiet --verbose",
    writes: "-o --output",
  },
  timeout: {
    valued: "-k -s --kill-after --signal",
    flags: `-f -p -v --foreground --preserve-status --verbose ${SPEAKS}`,
    operands: 1,
  },
  toybox: {},
  torsocks: { valued: "-a -P -p -u --address --port --pass --user", flags: "-d -i -q --debug --isolate --quiet" },
  unbuffer: { flags: "-p" },
  unshare: {
    valued:
      "-S -G -R -w --setuid --setgid --root --wd --map-user --map-group --map-users --map-groups --propagation --setgroups --monotonic --boottime",
    attached: NAMESPACES,
    flags: "-c -f -r --fork --map-root-user --map-current-user --map-auto --keep-caps",
    effects: ["privilege"],
    isElsewhere: true,
  },
  xvfb_run: {
    valued: "-e -f -n -p -s -w --error-file --auth-file --server-num --xauth-protocol --server-args --wait",
    flags: "-a -l --auto-servernum --listen-tcp",
    writes: "-e -f --error-file --auth-file",
  },
};

export function prefixNamed(name: string): Prefix | undefined {
  const key = name.replaceAll("-", "_");
  return Object.hasOwn(PREFIXES, key) ? PREFIXES[key] : undefined;
}

export const ENV: Kinds = {
  valued: "-u -C -S -a --unset --chdir --split-string --argv0",
  attached: "--block-signal --default-signal --ignore-signal",
  flags: "- -0 -i -v --null --ignore-environment --debug --list-signal-handling --help --version",
};
export const FLOCK: Kinds = {
  valued: "-w -E --timeout --wait --conflict-exit-code",
  flags: "-e -F -n -o -s -u -x --close --exclusive --nb --no-fork --nonblock --nonblocking --shared --unlock --verbose",
};
export const JOBS: Kinds = { flags: "-l -n -p -r -s -x" };
export const SCRIPT: Kinds = {
  valued:
    "-c -O -I -B -T -m -E -o --command --log-out --log-in --log-io --log-timing --logging-format --echo --output-limit",
  attached: "-t --timing",
  flags: "-a -e -f -q --append --return --flush --force --quiet",
};
export const SU: Kinds = {
  valued: "-c -g -G -s -w --command --session-command --group --supp-group --shell --whitelist-environment",
  flags: "- -f -l -m -p -P --fast --login --preserve-environment --pty",
};
export const TRAP: Kinds = { flags: "-l -p -P" };
export const WATCH: Kinds = {
  valued: "-n -q --interval --equexit",
  attached: "-d --differences",
  flags:
    "-b -c -C -e -g -p -r -t -w -x --beep --color --no-color --errexit --chgexit --precise --no-rerun --no-title --no-wrap --exec",
};
export const XARGS: Kinds = {
  valued: "-a -d -E -I -L -n -P -s --process-slot-var --arg-file --delimiter --max-args --max-procs --max-chars",
  attached: "-e -i -l --eof --replace --max-lines",
  flags: "-0 -o -p -r -t -x --null --open-tty --interactive --no-run-if-empty --show-limits --verbose --exit",
};

export const SETARCH: Kinds = {
  flags:
    "-B -F -I -L -R -S -T -X -Z -3 -v -h -V --32bit --fdpic-funcptrs --short-inode --addr-compat-layout --addr-no-randomize --whole-seconds --sticky-timeouts --read-implies-exec --mmap-page-zero --3gb --4gb --uname-2.6 --verbose --list --help --version",
};
