import type { ReactNode } from "react";
import { useNow } from "../model/use-hub.ts";

/** `4:05`, or `1:02:03`. */
export function durationText(ms: number): string {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const shown = parts[0] === 0 ? parts.slice(1) : parts;
  return shown.map((it, index) => (index === 0 ? String(it) : String(it).padStart(2, "0"))).join(":");
}

const TICK_MS = 500;

export function Countdown({ until, over = "over" }: { readonly until: number; readonly over?: string }): ReactNode {
  const left = until - useNow(TICK_MS);
  return (
    <time dateTime={new Date(until).toISOString()} role="timer">
      {/* What is taken for now may be a tick ago: of five minutes never 5:01 are left. */}
      {left > 0 ? durationText(left - TICK_MS) : over}
    </time>
  );
}

export function Ago({ at }: { readonly at: string }): ReactNode {
  const seconds = Math.max(0, (useNow(10_000) - Date.parse(at)) / 1000);
  const text =
    seconds < 60
      ? "just now"
      : seconds < 3600
        ? `${Math.floor(seconds / 60)} min ago`
        : seconds < 86_400
          ? `${Math.floor(seconds / 3600)} h ago`
          : `${Math.floor(seconds / 86_400)} d ago`;
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()}>
      {text}
    </time>
  );
}
