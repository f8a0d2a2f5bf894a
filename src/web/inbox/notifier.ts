/**
 * Tells through the browser what began to wait while nobody looked at the page. Each thing once; what is no longer asked is taken
 * away again. Rule WEB-54.
 */
import { approvalShown } from "../../domain/approval-words.ts";
import { redactText } from "../../domain/redaction/redact-text.ts";
import { shownText } from "../../domain/shown-text.ts";
import { titleOf } from "../model/driver.ts";
import type { Hub } from "../model/hub.ts";
import { type Asked, pendingIn } from "../model/pending.ts";
import type { World } from "../model/world.ts";
import { goToCard } from "./place.ts";
import { askerOf } from "./prompt-words.ts";

/** Notifications stay in lists that others may see. */
const TEXT_MAX = 100;

export function startNotifying(hub: Hub): () => void {
  let known: ReadonlySet<string> | undefined;
  const shown = new Map<string, Notification>();
  const look = (): void => {
    const { world } = hub.seen();
    if (world.me === undefined) return;
    const waiting = pendingIn(world);
    // What waited already when the page came is in front of whoever opened it; what came while this was loaded isn't.
    const openedAt = performance.timeOrigin + world.clockAheadMs;
    const fresh = waiting.filter(({ key, at }) => (known === undefined ? at > openedAt : !known.has(key)));
    if (mayNotify()) for (const it of fresh) notify(it, world, shown);
    const keys = new Set(waiting.map(({ key }) => key));
    known = keys;
    for (const [key, notification] of shown) {
      if (keys.has(key)) continue;
      notification.close();
      shown.delete(key);
    }
  };
  look();
  return hub.subscribe(look);
}

function mayNotify(): boolean {
  return document.visibilityState === "hidden" && "Notification" in globalThis && Notification.permission === "granted";
}

function notify(asked: Asked, world: World, shown: Map<string, Notification>): void {
  const title = brief(titleOf(world.sessions.get(asked.sessionId)));
  try {
    // By its tag several open pages show it once.
    const notification = new Notification(title, { body: brief(bodyOf(asked)), tag: asked.key });
    notification.addEventListener("click", () => {
      window.focus();
      goToCard(asked.key);
      notification.close();
    });
    shown.set(asked.key, notification);
  } catch {
    // Chrome on Android gives the permission and refuses to make one: all else on the page goes on.
  }
}

function bodyOf(asked: Asked): string {
  switch (asked.kind) {
    case "approval": {
      const { headline, code, ownWords } = approvalShown(asked.approval);
      return ownWords ? headline : `${headline} ${code}`;
    }
    case "prompt":
      return `${askerOf(asked.prompt)} asks: ${asked.prompt.question}`;
    case "plan":
      return `A plan: ${asked.plan.title}`;
    case "request":
      return `${asked.request.agentId} asks for control: ${asked.request.reason}`;
  }
}

/** Masked before it is cut: half a secret isn't known for one. */
function brief(text: string): string {
  const shown = Array.from(shownText(redactText(text).replaceAll(/\s+/g, " ")));
  return shown.length <= TEXT_MAX ? shown.join("") : `${shown.slice(0, TEXT_MAX - 1).join("")}…`;
}
