/**
 * One look at a terminal: gathers what the kernel shows and lets domain/waiting.ts judge it, going into the terminals
 * inside and to programs outside the foreground only when that is asked for. Reads other processes and can block:
 * it runs in the probe's thread. Rules in docs/spec/probe.md.
 */
import { existsSync } from "node:fs";
import type { JsonObject } from "../../../domain/event.ts";
import {
  type Confidence,
  judgeByModes,
  type Judgement,
  judgeWaiting,
  type Member,
  type Observation,
  type ScreenModes,
  type WaitingKind,
} from "../../../domain/waiting.ts";
import { voluntarySwitches } from "./processes.ts";
import {
  holdersOf,
  type Inner,
  membersOf,
  type TerminalInUse,
  terminalOf,
  terminalsInside,
} from "./terminal-in-use.ts";
import { deliverInput, readTtyModes } from "./tty.ts";

export type ProbeTarget = {
  /** The master. */
  readonly fd: number;
  readonly shellPid: number;
  readonly modes: ScreenModes;
};

export type Look =
  | { readonly waiting: false; readonly confidence: Confidence; readonly reason: string }
  | {
      readonly waiting: true;
      readonly kind: WaitingKind;
      readonly program: string;
      readonly pid: number;
      readonly confidence: Confidence;
      /** The reader's voluntary context switches, 0 if unreadable: two questions in a row differ in nothing else. */
      readonly switches: number;
      readonly evidence: JsonObject;
    };

export function lookAt(target: ProbeTarget): Look {
  if (!existsSync("/proc/self/stat")) return lookWithoutProcesses(target);
  // Else a program would seem to wait for what is on its way to it.
  deliverInput(target.fd);
  const terminal = terminalOf(target.fd, target.shellPid);
  if (terminal === undefined) return notWaiting("the terminal is gone", "low");
  return lookInto(terminal, { screen: target.modes, shellPid: target.shellPid, depth: 0, holder: false });
}

type View = {
  readonly screen: ScreenModes;
  readonly shellPid: number;
  readonly depth: number;
  /** The way here led through a program outside the foreground. */
  readonly holder: boolean;
};

/** `sudo script tmux` is three. */
const DEEPEST = 5;
/** They draw the screen themselves: its modes say nothing about the program inside. */
const MULTIPLEXERS = /^(?:tmux|screen|zellij)/i;
const NO_MODES: ScreenModes = { altScreen: false, bracketedPaste: false, mouse: false };

function lookInto(terminal: TerminalInUse, view: View): Look {
  const members = membersOf(terminal, view.shellPid);
  let observation: Observation = { tty: terminal.state.modes, screen: view.screen, members };
  let judgement = judgeWaiting(observation);
  if (judgement.verdict === "find_holders") {
    observation = { ...observation, holders: holdersOf(terminal) };
    judgement = judgeWaiting(observation);
  }
  if (judgement.verdict === "descend") {
    const { relay } = judgement;
    const inside = terminalsInside(terminal, relay);
    if (inside.length > 0 || !relay.hidden)
      return lookInside(inside, { relay, view: { ...view, holder: view.holder || isHolder(relay, observation) } });
    judgement = judgeWaiting({ ...observation, innermost: true });
  }
  return lookOf(judgement, { terminal, view, observation });
}

function lookInside(inside: readonly Inner[], { relay, view }: { relay: Member; view: View }): Look {
  const [inner, second] = inside;
  if (inner === undefined) return notWaiting("the terminal inside has nobody", "medium");
  // Which of them gets the keys is the relay's secret: a password must not go to the wrong one.
  if (second !== undefined) return opaque(relay, { nested: true, terminals: inside.length });
  if (inner.visible && view.depth < DEEPEST) {
    const screen = MULTIPLEXERS.test(relay.program) ? NO_MODES : view.screen;
    return lookInto(inner.terminal, { ...view, screen, depth: view.depth + 1 });
  }
  if (!inner.visible && !inner.asleep) return notWaiting("runs as another user", "medium");
  return opaque(inner.visible ? relay : inner, { nested: true, hidden: true });
}

type Context = {
  readonly terminal: TerminalInUse;
  readonly view: View;
  readonly observation: Observation;
};

function lookOf(judgement: Judgement, { terminal, view, observation }: Context): Look {
  switch (judgement.verdict) {
    case "not_waiting":
      return notWaiting(judgement.reason, judgement.confidence);
    case "waiting": {
      const { kind, member, confidence } = judgement;
      const { pid, program, wait, hidden } = member;
      const evidence = {
        ...(wait && { syscall: wait.call, fd: wait.fd, sole: wait.sole, timed: wait.timed }),
        echo: terminal.state.modes.echo,
        canonical: terminal.state.modes.canonical,
        tty: `${terminal.dev}:${terminal.rdev}`,
        ...(view.depth > 0 && { nested: true }),
        ...((view.holder || isHolder(member, observation)) && { holder: true }),
        ...(hidden && { hidden }),
      };
      return {
        waiting: true,
        kind,
        program,
        pid,
        confidence,
        switches: voluntarySwitches(pid, wait?.thread),
        evidence,
      };
    }
    case "descend":
    case "find_holders":
      return notWaiting("nobody in the foreground reads the terminal", "low");
  }
}

function isHolder(member: Member, { holders }: Observation): boolean {
  return holders?.includes(member) === true;
}

function lookWithoutProcesses({ fd }: ProbeTarget): Look {
  const modes = readTtyModes(fd);
  const judgement = modes && judgeByModes(modes);
  if (judgement?.verdict !== "waiting") return notWaiting("/proc can't be read", "low");
  const { kind, confidence } = judgement;
  return {
    waiting: true,
    kind,
    program: "",
    pid: 0,
    confidence,
    switches: 0,
    evidence: { ...modes, processes: false },
  };
}

function opaque({ pid, program }: { readonly pid: number; readonly program: string }, evidence: JsonObject): Look {
  return { waiting: true, kind: "opaque", program, pid, confidence: "low", switches: voluntarySwitches(pid), evidence };
}

function notWaiting(reason: string, confidence: Confidence): Look {
  return { waiting: false, confidence, reason };
}
