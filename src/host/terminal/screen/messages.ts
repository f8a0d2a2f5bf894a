/** What crosses between the host's main thread and the thread of the emulators. */
import type { TerminalModes } from "../../../domain/modes.ts";

export type ScreenContent = {
  /** Visible rows, right-trimmed. */
  readonly lines: readonly string[];
  readonly cursorRow: number;
  readonly cursorCol: number;
  readonly altScreen: boolean;
  readonly title: string;
  /** Output was skipped in a flood and the screen wasn't cleared since: parts of it may be wrong. */
  readonly approximate: boolean;
};

export type ScreenKeyframe = {
  /** Output that brings a terminal that was just reset into this state. */
  readonly data: string;
  /** The first bytes of a character: fed but not in `data`, they come again after it. */
  readonly incomplete: Uint8Array;
  readonly approximate: boolean;
};

export type KeyframeLimits = { readonly scrollback: number; readonly maxBytes: number };

export type Creation = {
  readonly cols: number;
  readonly rows: number;
  readonly keyframe?: string | undefined;
  readonly approximate?: boolean | undefined;
};

/** In order, for each `screen`. */
export type ToThread =
  | ({ readonly kind: "create"; readonly screen: number } & Creation)
  | { readonly kind: "feed"; readonly screen: number; readonly bytes: Uint8Array; readonly answer: boolean }
  | { readonly kind: "resize"; readonly screen: number; readonly cols: number; readonly rows: number }
  /** Starts again from an empty screen. */
  | { readonly kind: "restart"; readonly screen: number; readonly modes: TerminalModes }
  | { readonly kind: "read"; readonly screen: number; readonly call: number }
  | { readonly kind: "keyframe"; readonly screen: number; readonly call: number; readonly limits: KeyframeLimits }
  | { readonly kind: "close"; readonly screen: number }
  | { readonly kind: "end" };

export type FromThread =
  | { readonly kind: "ready" }
  /** `bytesPerMs`: of processor time, as far as it is known. */
  | { readonly kind: "fed"; readonly screen: number; readonly bytes: number; readonly bytesPerMs: number | undefined }
  | { readonly kind: "reply"; readonly screen: number; readonly text: string }
  | { readonly kind: "answer"; readonly call: number; readonly result: ScreenContent | ScreenKeyframe }
  | { readonly kind: "failed"; readonly call: number; readonly reason: string };
