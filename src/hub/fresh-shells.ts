/** What a person who takes over has against a shell that an agent used: a report of it, or another one beside it. */
import type { Actor } from "../domain/actor.ts";
import type { Session } from "../domain/session.ts";
import { AppError } from "../protocol/errors.ts";
import type { ShellChanges } from "../protocol/control.ts";
import type { SessionDesk } from "./session-desk.ts";

const TITLE_MAX = 128;

export class FreshShells {
  readonly #sessions: SessionDesk;

  constructor(sessions: SessionDesk) {
    this.#sessions = sessions;
  }

  /** Refuses what could not be opened. */
  check(sessionId: string): void {
    const { kind } = this.#sessions.get(sessionId);
    if (kind !== "terminal") throw new AppError("kind_unavailable", { kind, detail: "Only a terminal has a shell" });
  }

  /** A person's own, where that one's shell is now; it starts as after a login, so nothing else of it comes along. */
  async openBeside(sessionId: string, by: Actor): Promise<Session> {
    const { workspaceId, title } = this.#sessions.get(sessionId);
    const driver = await this.#sessions.running(sessionId);
    const cwd = await driver?.status(sessionId).then(
      ({ directory }) => directory,
      () => undefined, // it may be just ending
    );
    const config = { kind: "terminal", workspaceId, interactive: true } as const;
    const beside = `beside ${title}`.slice(0, TITLE_MAX);
    return this.#sessions.create({ ...config, title: beside }, by, { beside: sessionId, cwd });
  }

  async changes(sessionId: string): Promise<ShellChanges> {
    this.check(sessionId);
    const driver = await this.#sessions.running(sessionId);
    if (driver !== undefined) return driver.changes(sessionId);
    const { createdAt: since } = this.#sessions.get(sessionId);
    return { trusted: false, reason: "ended", since, changes: [] };
  }
}
