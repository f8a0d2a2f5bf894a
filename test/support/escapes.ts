/** How programs try to outlive a stop. Each command leaves programs called `sleep`; `count` of them. */
export const ESCAPES = [
  { how: "in the background", command: "sleep 1000 &", count: 1 },
  { how: "by nohup", command: "nohup sleep 1000 >/dev/null 2>&1 &", count: 1 },
  { how: "by setsid", command: "setsid -f sleep 1000", count: 1 },
  { how: "by a double fork", command: "sh -c '(setsid sh -c \"sleep 1000 & sleep 1000 & wait\" &)'", count: 2 },
  { how: "without an environment", command: "setsid -f env -i sleep 1000", count: 1 },
  { how: "deaf to signals", command: "sh -c 'trap \"\" HUP INT TERM; (sleep 1000 &)'", count: 1 },
  {
    how: "stopped",
    command: "sh -c 'sleep 1000 & until grep -q sleep /proc/$!/comm; do :; done; kill -STOP $!; wait' &",
    count: 1,
  },
];

/**
 * Chains of processes: each starts the next and ends, as long as a file `on` exists. dash ends a chain at 1000 nested
 * functions, which takes a second or so, so each chain starts over at 500.
 */
export function forkLoop(chains: number): string {
  const chain =
    'n=0; f() { [ -e on ] || exit; n=$((n+1)); [ $n -lt 500 ] || exec sh -c "$CHAIN"; (f &); sleep 0.05; }; f';
  return `CHAIN='${chain}' sh -c 'for i in $(seq ${chains}); do (setsid sh -c :; exec sh -c "$CHAIN") & done' &`;
}

const NUMBERS = process.arch === "arm64" ? { clone: 220, prctl: 167 } : { clone: 56, prctl: 157 };

/** What bash's own process does, as by a builtin that was loaded into it: it becomes perl, does that, and becomes bash again. */
function byItself(deed: string): string {
  const again = 'open $was, "was"; @was = split /\\0/, <$was>; unlink "was"; exec { $was[0] } @was';
  return `cat /proc/$$/cmdline > was; exec perl -MPOSIX -e '${deed}; ${again}'`;
}

/** In perl: its sibling does that. */
export function siblingDoes(deed: string): string {
  return `if (syscall(${NUMBERS.clone}, 0x8011, 0, 0, 0, 0) == 0) { ${deed} }`;
}

/** In bash: a sibling of the shell does what perl makes of it. */
export function asSibling(deed: string): string {
  return byItself(siblingDoes(deed));
}

const SLEEP = 'setsid(); exec "sleep", "1000"';

/** Of bash alone: how what it starts gets out from below it. Each leaves one program called `sleep` beside the shell. */
export const BESIDE = [
  { how: "as the shell's sibling (CLONE_PARENT)", command: asSibling(SLEEP) },
  { how: "as an orphan of the shell's sibling", command: asSibling(`exit if fork; ${SLEEP}`) },
  {
    how: "as an orphan that no shell takes in",
    command: byItself(`syscall(${NUMBERS.prctl}, 36, 0, 0, 0, 0); if (!fork) { exit if fork; ${SLEEP} } wait`),
  },
];
