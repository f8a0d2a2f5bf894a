/**
 * What a host tells of one session, in the order its gate made. Frames are immutable: a resumed link repeats them
 * unchanged, and whoever has seen `order` n wants n + 1. Rules in docs/spec/host.md.
 */
import type { Actor } from "./actor.ts";
import type { EventType, JsonObject } from "./event.ts";

type Placed = {
  /** The gate's number; on the wire and in the log it is `position`. Dense: each frame is one more than the last. */
  readonly order: number;
  /** Offset in the canonical stream: of the first byte, or where the event stands. */
  readonly cursor: number;
};

export type SessionFrame =
  | (Placed & { readonly kind: "bytes"; readonly bytes: Uint8Array })
  | (Placed & {
      readonly kind: "event";
      /** Epoch milliseconds at the host. */
      readonly at: number;
      readonly type: EventType;
      readonly payload: JsonObject;
      /** Absent: the host itself. */
      readonly by?: Actor;
    })
  | (Placed & {
      /** The last frame of a session. */
      readonly kind: "exit";
      readonly at: number;
      readonly reason: string;
      readonly exitCode?: number;
      readonly signal?: string;
      /** Of a command without a terminal. */
      readonly plain?: boolean;
    });

export type Size = { readonly cols: number; readonly rows: number };

/** Why an input goes in: `drive` is unsolicited, `assist` answers a named prompt. */
export type InputClass = "drive" | "assist";
