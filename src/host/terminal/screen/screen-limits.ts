/** Bounds on what a session's screen may cost. Bytes and milliseconds. */
import type { KeyframeLimits } from "./messages.ts";

export type ScreenLimits = {
  /** An emulator that nobody read and no program asked for this long is written down and closed. */
  readonly idleMs: number;
  /** After this much silence `quietBytes` or more of retained output become a keyframe. */
  readonly quietMs: number;
  readonly quietBytes: number;
  /** Output between two keyframes. */
  readonly keyframeEvery: number;
  /** Least time between two keyframes that are told while an emulator runs. */
  readonly keyframePauseMs: number;
  /** Output that may wait for a running emulator: more is skipped. */
  readonly waiting: number;
  /** Output that is kept without an emulator: bounds the time to the first screen. */
  readonly retained: number;
  /** Of skipped output, how much of its end is kept. */
  readonly keptInFlood: number;
  /** Output between two keyframes that came faster than in this time is a flood. */
  readonly calmMs: number;
  /** After a flood that nobody looked at, no emulator is made just for a keyframe. */
  readonly floodRestMs: number;
  /** Output that takes longer to draw is skipped like a flood: three bytes can fill a screen. */
  readonly lateMs: number;
  /** Of output that was skipped for that, as much is kept as is drawn in this time. */
  readonly keptMs: number;
  /** Output on its way to the emulators' thread, at the most, and as much as is drawn in this time: whoever looks waits for it. */
  readonly window: number;
  readonly windowMs: number;
  readonly message: number;
  readonly keyframe: KeyframeLimits;
  readonly snapshot: KeyframeLimits;
};

const KIB = 1_024;
const MIB = 1_024 * KIB;

export const LIMITS: ScreenLimits = {
  idleMs: 10_000,
  quietMs: 5_000,
  quietBytes: 64 * KIB,
  keyframeEvery: MIB,
  keyframePauseMs: 2_000,
  waiting: 8 * MIB,
  retained: 2 * MIB,
  keptInFlood: MIB,
  calmMs: 300,
  floodRestMs: 2_000,
  lateMs: 5_000,
  keptMs: 1_000,
  window: 256 * KIB,
  windowMs: 100,
  message: 64 * KIB,
  keyframe: { scrollback: 200, maxBytes: 64 * KIB },
  snapshot: { scrollback: 1_000, maxBytes: 4 * MIB },
};
