/** Who acted in the sessions that live, as far as their control says: nobody types without having had it. */
import type { Actor } from "../domain/actor.ts";
import type { StoredEvent } from "../domain/event.ts";
import type { Session } from "../domain/session.ts";

export class SessionActors {
  readonly #actors = new Map<string, Map<string, Actor>>();

  note({ sessionId, source }: StoredEvent): void {
    const actors = this.#actors.get(sessionId) ?? new Map<string, Actor>();
    this.#actors.set(sessionId, actors.set(`${source.kind}:${source.id}`, source));
  }

  of({ sessionId, ownerAgentId }: Session): readonly Actor[] {
    const owner: readonly Actor[] = ownerAgentId === undefined ? [] : [{ kind: "agent", id: ownerAgentId }];
    return [...(this.#actors.get(sessionId)?.values() ?? []), ...owner];
  }

  forget(sessionId: string): void {
    this.#actors.delete(sessionId);
  }
}
