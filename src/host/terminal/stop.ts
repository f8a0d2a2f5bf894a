/**
 * STOP_NOW in a terminal: nothing of the agent's runs on. Whether the shell lives is best effort; the person's own
 * background jobs do. It waits for no disk, no log and no hub. Rules in docs/spec/stopping.md.
 */
import { setTimeout as delay } from "node:timers/promises";
import { SYSTEM } from "../../domain/actor.ts";
import { MODES_RESET, SCREEN_RESET } from "./modes-reset.ts";
import { holds } from "./periods.ts";
import { childrenFinder, groupMembers, isDead, type ProcessStat, readStat, statsOf } from "./probe/processes.ts";
import { reserve } from "./reserve.ts";
import type { ShellProcess } from "./shell-process.ts";
import type { StopOrder, StoppedProcess, StopReceipt } from "./stop-order.ts";
import type { Survivor } from "./survivors.ts";
import { Sweep } from "./sweep.ts";
import type { Terminal } from "./terminal.ts";

/** The gate is shut. Before this returns to its caller, nothing that was typed can be read and the kills are sent. */
export async function stopNow(terminal: Terminal, order: StopOrder): Promise<StopReceipt> {
  const { shell } = terminal;
  const droppedBytes = order.droppedBytes + shell.cancelInput().bytes;
  const { tracking } = shell;
  const stop = new Stop(terminal, order);
  if (!terminal.over) await terminal.whileStopping(() => stop.run());
  const survivors = await stop.survivors();
  const surviving = new Set(survivors.map((it) => it.pid));
  const killed = stop.found.filter((it) => !surviving.has(it.pid));
  return {
    dropped_inputs: order.droppedInputs,
    dropped_bytes: droppedBytes,
    killed: killed.slice(0, LISTED),
    killed_count: killed.length,
    respawned: terminal.shell !== shell,
    survivors: survivors.slice(0, LISTED),
    kill_scope: order.scope,
    containment: tracking,
  };
}

type Running = "the person's" | "what can be interrupted" | "what can't";
type Choice = { readonly chooses: (child: ProcessStat) => boolean; readonly isShells: boolean };

class Stop {
  readonly #terminal: Terminal;
  readonly #shell: ShellProcess;
  readonly #order: StopOrder;
  readonly #sweeps: Sweep[] = [];
  /** What the shell had given its process to. */
  readonly #became: StoppedProcess[] = [];
  #isInterrupted = false;

  constructor(terminal: Terminal, order: StopOrder) {
    this.#terminal = terminal;
    this.#shell = terminal.shell;
    this.#order = order;
  }

  get found(): readonly StoppedProcess[] {
    return [
      ...new Map([...this.#became, ...this.#sweeps.flatMap((it) => it.found)].map((it) => [it.pid, it])).values(),
    ];
  }

  async run(): Promise<void> {
    const { sweep, atPrompt, done, shellRuns } = reserve.during(() => this.#begin());
    if (!done) await this.#finish(sweep);
    if (shellRuns === "the person's") return this.#shell.signal("SIGCONT");
    this.#terminal.blocks.cancel();
    if (shellRuns === "what can be interrupted") {
      await this.#outputRead();
      this.#resetModes(atPrompt);
      if (await this.#comesToPrompt(sweep)) return;
    }
    await this.#replaceShell();
  }

  /** Those that none of it could end, after a moment to die in. */
  async survivors(): Promise<readonly Survivor[]> {
    const living = (): Survivor[] => reserve.during(() => this.#sweeps.flatMap((it) => it.living));
    for (
      const end = performance.now() + this.#terminal.patience.dyingMs;
      performance.now() < end;
      await delay(LOOK_MS)
    ) {
      if (living().every((it) => it.reason === "another_user")) break;
    }
    return living();
  }

  /** The shell stands still before anything under it dies: else it would go on to its next command. */
  #begin(): { readonly sweep: Sweep; readonly atPrompt: boolean; readonly done: boolean; readonly shellRuns: Running } {
    const shell = this.#shell;
    const { blocks } = this.#terminal;
    const { atPrompt, isItself } = shell;
    const idle = atPrompt && blocks.refusal === undefined;
    const obeys = isItself && (idle || !this.#isDeaf());
    shell.signal("SIGSTOP");
    shell.flushInput();
    const { chooses, isShells } = this.#choice(atPrompt);
    this.#isInterrupted = isShells && obeys && !idle;
    if (this.#isInterrupted) {
      shell.signal("SIGINT");
      blocks.touch(CTRL_C, { isLineRead: false });
    }
    if (isShells && !isItself) this.#became.push({ pid: shell.pid, program: readStat(shell.pid)?.program ?? "" });
    const sweep = this.#sweep(chooses);
    const done = sweep.strike(TURN_MS);
    const stopped = obeys ? "what can be interrupted" : "what can't";
    return { sweep, atPrompt, done, shellRuns: isShells ? stopped : "the person's" };
  }

  /**
   * Whether an interrupt would not bring it to its prompt: it ignores them, or it is a bash without job control, which
   * goes on to its next command unless its child died of the interrupt too.
   */
  #isDeaf(): boolean {
    const { pid, family, ignoresInterrupt, isReading } = this.#shell;
    if (ignoresInterrupt || family !== "bash" || isReading) return ignoresInterrupt;
    const group = readStat(pid)?.group;
    return statsOf(childrenFinder()(pid)).some((it) => it.group === group && !isDead(it));
  }

  /** What else the agent's processes start while they are killed. */
  async #finish(sweep: Sweep): Promise<void> {
    for (const end = performance.now() + SWEEP_MS; performance.now() < end; await delay(0)) {
      if (reserve.during(() => sweep.strike(TURN_MS))) return;
    }
  }

  #sweep(chooses: (child: ProcessStat) => boolean): Sweep {
    const { pid, keepers, tracking } = this.#shell;
    const sweep = new Sweep({ shell: pid, keepers, chooses, complete: tracking !== "best_effort" });
    this.#sweeps.push(sweep);
    return sweep;
  }

  /** `isShells`: what the shell itself does is to be stopped too, and not only what runs beside it. */
  #choice(atPrompt: boolean): Choice {
    const { agentTimes, drivesForeground, scope } = this.#order;
    if (scope === "all") return { chooses: () => true, isShells: true };
    const isAgents = (child: ProcessStat): boolean => agentTimes.some((period) => holds(period, child.startedAt));
    if (atPrompt) return { chooses: isAgents, isShells: drivesForeground };
    const isInFront = this.#foreground();
    if (drivesForeground) return { chooses: (child) => isAgents(child) || isInFront(child), isShells: true };
    const children = statsOf(childrenFinder()(this.#shell.pid));
    return { chooses: isAgents, isShells: children.some((child) => isInFront(child) && isAgents(child)) };
  }

  /** Whether a child of the shell is the job in front, or what that job was started by. */
  #foreground(): (child: ProcessStat) => boolean {
    const { pid, foregroundGroup: group } = this.#shell;
    if (group === undefined) return () => false;
    const own = readStat(pid)?.group;
    // Without job control, jobs are in the shell's own group, in front or not.
    if (group === own) return (child) => child.group === group;
    const leader = childAbove(group, pid);
    const children = leader === undefined ? groupMembers(group, pid).map((it) => childAbove(it.pid, pid)) : [leader];
    return (child) => child.group === group || children.includes(child.pid);
  }

  /** What the dead wrote comes before what the shell writes next; a job of the person's may write for ever. */
  async #outputRead(): Promise<void> {
    let received = -1;
    const end = performance.now() + OUTPUT_MS;
    for (let turn = 0; turn < OUTPUT_TURNS || performance.now() < end; turn += 1, await delay(1)) {
      const isRead = this.#shell.outputIsRead && received === this.#terminal.received;
      if (isRead) return;
      received = this.#terminal.received;
    }
  }

  /** At its prompt the screen is the shell's: its line editor has modes of its own. */
  #resetModes(atPrompt: boolean): void {
    const { altScreen, mouse, focus } = this.#terminal.path.modes;
    if (!atPrompt) {
      this.#terminal.resetModes(MODES_RESET);
      this.#shell.restoreLineModes();
    } else if (altScreen || mouse || focus) this.#terminal.resetModes(SCREEN_RESET);
  }

  /** Lets the shell go on, with the interrupt before anything else. */
  async #comesToPrompt(sweep: Sweep): Promise<boolean> {
    const shell = this.#shell;
    const { blocks, patience } = this.#terminal;
    const { endsTold, mustTellPrompt } = blocks;
    const mustTell = this.#isInterrupted && mustTellPrompt && shell.tellsInterrupts;
    let last = { waits: reserve.during(() => shell.waits), at: performance.now() };
    shell.signal("SIGCONT");
    for (const end = performance.now() + patience.promptMs; performance.now() < end; await delay(LOOK_MS)) {
      if (shell.gone || (await this.#goesOn(sweep, endsTold))) return false;
      if (!this.#waitsAnew(last.waits)) continue;
      if (!mustTell || blocks.endsTold > endsTold) {
        if (this.#isAtPrompt() && this.#isAlone(sweep)) return true;
      } else if (performance.now() - last.at > AGAIN_MS) {
        // bash may note an interrupt that meets it between two keys, and wait on with the agent's line in its editor.
        last = { waits: reserve.during(() => shell.waits), at: performance.now() };
        shell.signal("SIGINT");
      }
    }
    return false;
  }

  /** At its prompt it waits for nothing: what it started on its way there and still runs is its hooks', and goes too. */
  #isAlone(sweep: Sweep): boolean {
    return reserve.during(() => {
      if (sweep.newcomers().length === 0) return true;
      sweep.strike(TURN_MS);
      return false;
    });
  }

  /** It starts programs before it has said that its command is over; those for its prompt come after that. */
  async #goesOn(sweep: Sweep, endsBefore: number): Promise<boolean> {
    const { blocks } = this.#terminal;
    if (reserve.during(() => sweep.newcomers()).length === 0) return false;
    if (blocks.endsTold === endsBefore) {
      this.#shell.signal("SIGSTOP");
      await this.#outputRead();
      // What it said before it started them may still be in the kernel's queue, which doesn't count as unread.
      this.#shell.readNow();
      if (blocks.endsTold === endsBefore) return true;
      this.#shell.signal("SIGCONT");
    }
    return false;
  }

  #waitsAnew(waitsBefore: number | undefined): boolean {
    const shell = this.#shell;
    return reserve.during(() => shell.atPrompt && (shell.waits ?? -1) !== waitsBefore);
  }

  /** It waits, by its own word at a prompt where it gives one. */
  #isAtPrompt(): boolean {
    const { blocks } = this.#terminal;
    return reserve.during(() => {
      blocks.confirm();
      return blocks.integration !== "marks" || blocks.refusal === undefined;
    });
  }

  /** The terminal's end takes the person's jobs too; they are told as killed. */
  async #replaceShell(): Promise<void> {
    if (!this.#shell.gone) {
      this.#shell.signal("SIGSTOP");
      await this.#finish(this.#sweep(() => true));
    }
    const respawned = reserve.throughout(() => this.#terminal.respawn(this.#order.by ?? SYSTEM));
    // A session that can't have another shell tells its end.
    await Promise.race([respawned.catch(() => undefined), delay(this.#terminal.patience.respawnMs)]);
  }
}

/** The child of `shell` that is `pid` or above it. */
function childAbove(pid: number, shell: number): number | undefined {
  for (let at = pid, depth = 0; at > 1 && depth < DEEPEST; depth += 1) {
    const parent = readStat(at)?.parent ?? 0;
    if (parent === shell) return at;
    at = parent;
  }
  return undefined;
}

const CTRL_C = Uint8Array.of(3);
const LISTED = 100;
const DEEPEST = 256;
/** As long as one turn may look and kill before others have theirs. */
const TURN_MS = 100;
const SWEEP_MS = 3_000;
const OUTPUT_MS = 50;
/** At the least: where the host itself gets no processor, no time that has passed says that there is nothing to read. */
const OUTPUT_TURNS = 10;
const LOOK_MS = 2;
/** Longer than a prompt takes that is on its way, short enough for several tries. */
const AGAIN_MS = 20;
