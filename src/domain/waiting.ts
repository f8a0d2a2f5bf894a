/**
 * Whether the program in the foreground of a terminal waits for input, and how, judged from what the kernel says:
 * terminal modes, who is in the foreground, what each of them is blocked on. Text is never evidence: a program that
 * prints "password:" and sleeps does not wait. Rules PRB-1..PRB-17 in docs/spec/probe.md.
 */
export type Confidence = "high" | "medium" | "low";

export type WaitingKind = "shell" | "line" | "password" | "line_editor" | "pager" | "editor" | "tui" | "opaque";

export type TtyModes = { readonly echo: boolean; readonly canonical: boolean; readonly signals: boolean };

export type ScreenModes = { readonly altScreen: boolean; readonly bracketedPaste: boolean; readonly mouse: boolean };

/** One thread's wait in which the terminal takes part. */
export type TtyWait = {
  readonly thread: number;
  readonly call: "read" | "poll" | "select" | "epoll";
  readonly fd: number;
  /** Whether anything else would end it too. */
  readonly sole: boolean;
  /** It ends by itself: the program goes on without an answer. */
  readonly timed: boolean;
};

export type Member = {
  readonly pid: number;
  readonly program: string;
  /** The session's own shell. */
  readonly shell: boolean;
  /** Its memory and calls can't be seen: another user's program. */
  readonly hidden: boolean;
  readonly asleep: boolean;
  readonly wait?: TtyWait | undefined;
  /** Numbers of the ptys whose master side it waits on: what it reads there comes from a terminal inside this one. */
  readonly masters: readonly number[];
};

export type Observation = {
  readonly tty: TtyModes;
  readonly screen: ScreenModes;
  /** The foreground process group. */
  readonly members: readonly Member[];
  /** Others that have the terminal open; absent: nobody has looked. */
  readonly holders?: readonly Member[] | undefined;
  /** Somebody has looked for terminals inside this one and there is none. */
  readonly innermost?: boolean | undefined;
};

export type Judgement =
  | { readonly verdict: "not_waiting"; readonly confidence: Confidence; readonly reason: string }
  | {
      readonly verdict: "waiting";
      readonly kind: WaitingKind;
      readonly member: Member;
      readonly confidence: Confidence;
    }
  /** `relay` passes keys on: the terminals inside it tell. */
  | { readonly verdict: "descend"; readonly relay: Member }
  /** The modes say that somebody reads keys, and nobody in the foreground does. */
  | { readonly verdict: "find_holders" };

export function judgeWaiting(observation: Observation): Judgement {
  const { tty, members, holders = [], innermost } = observation;
  if (members.length === 0 && holders.length === 0) return notWaiting("the foreground group can't be seen", "low");

  const everyone = [...members, ...holders];
  const relay =
    innermost || tty.canonical ? undefined : (everyone.find(passesKeysOn) ?? everyone.find((it) => it.hidden));
  if (relay !== undefined) return { verdict: "descend", relay };

  const reader = everyone.filter((it) => it.wait !== undefined && isStrong(it.wait, tty)).sort(byLikelihood)[0];
  if (reader !== undefined) return judgeReader(reader, observation);
  if (everyone.some((it) => it.wait !== undefined))
    return notWaiting("may accept input, and does other things", "medium");

  const hidden = members.filter((it) => it.hidden);
  if (hidden.length > 0) return judgeHidden(hidden, observation);
  if (observation.holders === undefined && !(tty.canonical && tty.echo)) return { verdict: "find_holders" };
  return notWaiting("nobody in the foreground reads the terminal", "high");
}

/** All that is left when the kernel shows no processes at all. */
export function judgeByModes(tty: TtyModes): Judgement {
  const reason = "processes can't be seen";
  if (!tty.canonical || tty.echo) return notWaiting(reason, "low");
  const member = { pid: 0, program: "", shell: false, hidden: true, asleep: true, masters: [] };
  return { verdict: "waiting", kind: "password", member, confidence: "low" };
}

/** How a member that reads the terminal asks. */
export function kindOf(member: Member, { tty, screen }: Pick<Observation, "tty" | "screen">): WaitingKind {
  if (tty.canonical) return tty.echo ? "line" : "password";
  if (member.shell) return "shell";
  const known = kindOfProgram(member.program);
  if (known !== undefined) return known;
  return screen.altScreen || screen.mouse ? "tui" : "line_editor";
}

const EDITORS = new Set(
  "vi vim nvim view vimdiff ex nano rnano pico emacs hx helix micro kak joe jed mg ne mcedit".split(" "),
);
const PAGERS = new Set("less more man most bat batcat pager pg lv".split(" "));
/** They pass keys to another machine or namespace, where this kernel sees nothing. */
const REMOTES = new Set(
  (
    "ssh mosh-client telnet rlogin rsh docker podman nerdctl kubectl oc lxc incus machinectl " +
    "minicom picocom cu tio socat virsh dtach abduco et wsl vagrant gcloud"
  ).split(" "),
);

function kindOfProgram(program: string): WaitingKind | undefined {
  if (EDITORS.has(program) || /^(?:vim\.|emacs-)/.test(program)) return "editor";
  if (PAGERS.has(program)) return "pager";
  if (REMOTES.has(program)) return "opaque";
  // The kernel cuts names at 15 characters: pinentry-curses fits, pinentry-gnome3 does too.
  if (program.startsWith("pinentry")) return "password";
  return undefined;
}

/** An editor has terminals of its own inside; keys go to the editor first. */
function passesKeysOn(member: Member): boolean {
  if (kindOfProgram(member.program) === "editor") return false;
  return member.wait !== undefined && member.masters.length > 0;
}

/** Event loops of servers listen to a cooked terminal beside their sockets: that alone is no question. */
function isStrong(wait: TtyWait, tty: TtyModes): boolean {
  return wait.call === "read" || wait.sole || !tty.canonical;
}

/** A child of the shell before the shell, an untimed wait before a timed one, the newer process before the older. */
function byLikelihood(a: Member, b: Member): number {
  return Number(a.shell) - Number(b.shell) || Number(a.wait?.timed) - Number(b.wait?.timed) || b.pid - a.pid;
}

function judgeReader(member: Member, observation: Observation): Judgement {
  const kind = kindOf(member, observation);
  const timed = member.wait?.timed === true;
  if (timed && redraws(kind, member, observation)) return notWaiting("redraws on a timer", "medium");
  if (kind === "opaque") return { verdict: "waiting", kind, member, confidence: "low" };
  const guessed = timed || (kind === "password" && !observation.tty.canonical);
  return { verdict: "waiting", kind, member, confidence: guessed ? "medium" : "high" };
}

/** `top` asks nothing. An event loop's timeout says nothing about the terminal: any timer sets it. */
function redraws(kind: WaitingKind, member: Member, { screen }: Observation): boolean {
  if (kind === "tui") return true;
  return kind === "line_editor" && !screen.bracketedPaste && member.wait?.call !== "epoll";
}

/** The modes still tell: nothing but a password is read in lines and without echo. */
function judgeHidden(hidden: readonly Member[], observation: Observation): Judgement {
  const { tty, screen } = observation;
  const member = hidden.find((it) => it.asleep);
  if (member === undefined || hidden.some((it) => !it.asleep)) return notWaiting("runs as another user", "medium");
  if (tty.canonical && tty.echo) return notWaiting("runs as another user: what it waits for can't be seen", "low");
  if (tty.canonical) return { verdict: "waiting", kind: "password", member, confidence: "medium" };
  const known =
    kindOfProgram(member.program) ?? (screen.bracketedPaste && !screen.altScreen ? "line_editor" : "opaque");
  return { verdict: "waiting", kind: known, member, confidence: "low" };
}

function notWaiting(reason: string, confidence: Confidence): Judgement {
  return { verdict: "not_waiting", confidence, reason };
}
