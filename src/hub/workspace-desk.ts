/** Workspaces: groups of sessions with their host, limits and settings. `default` always exists. */
import type { Actor } from "../domain/actor.ts";
import { WORKSPACE_STREAM, type JsonObject, type StoredEvent } from "../domain/event.ts";
import { AppError } from "../protocol/errors.ts";
import type { ParsedInput } from "../protocol/operations.ts";
import { type Workspace, WorkspaceLimits, WorkspaceSettings } from "../protocol/workspaces.ts";
import { follow, type Journal } from "./journal.ts";

export const DEFAULT_WORKSPACE = "default";
const DEFAULT_SETTINGS = WorkspaceSettings.parse({});

export class WorkspaceDesk {
  readonly #journal: Journal;
  readonly #localHostId: string;
  readonly #workspaces = new Map<string, Workspace>();

  constructor(journal: Journal, localHostId: string) {
    this.#journal = journal;
    this.#localHostId = localHostId;
  }

  async start(): Promise<void> {
    await follow(this.#journal.log, ["workspace"], (event) => this.#fold(event));
    if (!this.#workspaces.has(DEFAULT_WORKSPACE)) {
      await this.put({ workspaceId: DEFAULT_WORKSPACE }, { kind: "system", id: "hub" });
    }
  }

  list(): readonly Workspace[] {
    return [...this.#workspaces.values()].sort((a, b) => (a.workspaceId < b.workspaceId ? -1 : 1));
  }

  get(workspaceId: string): Workspace {
    const workspace = this.#workspaces.get(workspaceId);
    if (workspace === undefined) throw new AppError("not_found", { what: "workspace", id: workspaceId });
    return workspace;
  }

  async put(change: ParsedInput<"workspace.put">, by: Actor): Promise<Workspace> {
    await this.#journal.record(WORKSPACE_STREAM, "power", () => {
      const present = this.#workspaces.get(change.workspaceId);
      const payload: JsonObject = {
        workspaceId: change.workspaceId,
        hostId: change.hostId ?? present?.hostId ?? this.#localHostId,
        limits: WorkspaceLimits.parse({ ...present?.limits, ...change.limits }),
        settings: WorkspaceSettings.parse({ ...present?.settings, ...change.settings }),
      };
      return { type: "workspace", payload, source: by };
    });
    return this.get(change.workspaceId);
  }

  #fold(event: StoredEvent): void {
    const stored = event.payload as unknown as Omit<Workspace, "updatedAt">;
    // Stored before there were some of the settings: those have their defaults.
    const settings = { ...DEFAULT_SETTINGS, ...stored.settings };
    this.#workspaces.set(stored.workspaceId, { ...stored, settings, updatedAt: event.timestamp });
  }
}
