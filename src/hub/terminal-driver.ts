/** A session driver whose sessions are terminals: what runs in them, what would run, and how they look. */
import type { Actor } from "../domain/actor.ts";
import type { Size } from "../domain/session-frame.ts";
import type { ShellChanges } from "../protocol/control.ts";
import type { SessionDriver } from "./ports.ts";

export type BlockRequest = {
  readonly blockId: string;
  /** Present: an interactive run. */
  readonly runId?: string | undefined;
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly by: Actor;
  /** Refused with `stale_epoch` if control is under another by then. Absent: the newest that is known. */
  readonly epoch?: number | undefined;
  /** Refused with `approval_stale` and what changed, unless all is as it was when it was prepared. */
  readonly bound?: (Preparation & { readonly digest: string }) | undefined;
  /** In a session for one command, which this is: how long it may run. */
  readonly lifetimeMs?: number | undefined;
};

/** What of a command is resolved and hashed: programs and scripts as it names them. */
export type Preparation = { readonly programs: readonly string[]; readonly scripts: readonly string[] };

export type PrepareRequest = Preparation & { readonly cwd?: string | undefined; readonly by: Actor };

/** What a command would meet now. */
export type Prepared = {
  readonly epoch: number;
  /** Over `parts`. */
  readonly digest: string;
  /** Resolved. */
  readonly cwd: string;
  /** A digest for each thing that is bound, by name. */
  readonly parts: Readonly<Record<string, string>>;
  /** What programs and scripts are, for people. */
  readonly resolved: Readonly<Record<string, string>>;
  readonly unbound: readonly { readonly what: string; readonly reason: string }[];
};

export type BlockBegun = {
  readonly seq: number;
  readonly cursor: number;
  readonly position: number;
  /** Epoch milliseconds. */
  readonly beganAt: number;
};

export type TerminalStatus = {
  readonly mode: "idle" | "block_running" | "interactive";
  readonly blockId?: string;
  readonly runId?: string;
  readonly pid?: number;
  readonly shell: string;
  readonly integration: Integration;
  readonly cwd?: string;
  /** Where the shell is by the kernel's word, if that still is a directory. */
  readonly directory?: string;
  /** While a block or a run is active: who would get what is typed. */
  readonly foreground?: Foreground;
  readonly size: Size;
  /** Of whoever the session runs as. */
  readonly home?: string;
};

export type Foreground = {
  /** Of the group in front, its first one first; never none. */
  readonly programs: readonly string[];
  /** It waits for a line, and nothing was typed since it began to wait. */
  readonly atEmptyPrompt: boolean;
  /** A line that is typed now is not shown: it would be a secret, also before anybody is seen to wait for it. */
  readonly hidesLines: boolean;
  /** Present: one of them was seen to wait for input, and nothing went in since. */
  readonly waits?: { readonly promptId: string; readonly for: "line" | "key" };
};

export type Integration = "marks" | "kernel" | "none";

export type ScreenText = {
  readonly lines: readonly string[];
  readonly cursorRow: number;
  readonly cursorCol: number;
  readonly altScreen: boolean;
  readonly title: string;
  readonly size: Size;
  readonly cursor: number;
};

/** Replays to a terminal that was just reset: then the bytes from `cursor` on continue it. */
export type Snapshot = { readonly ansi: string; readonly size: Size; readonly cursor: number };

export interface TerminalDriver extends SessionDriver {
  readonly kind: "terminal";
  /** In a turn of the gate: refused as a command would be, and gives an agent control as a command would. */
  prepare(sessionId: string, request: PrepareRequest): Promise<Prepared>;
  run(sessionId: string, request: BlockRequest): Promise<BlockBegun>;
  endRun(sessionId: string, runId: string | undefined, by: Actor): Promise<void>;
  respawn(sessionId: string, by: Actor): Promise<void>;
  status(sessionId: string): Promise<TerminalStatus>;
  changes(sessionId: string): Promise<ShellChanges>;
  screen(sessionId: string): Promise<ScreenText>;
  snapshot(sessionId: string): Promise<Snapshot>;
}
