/** Settings of a workspace, for people: those that aren't as they come. */
import { WorkspaceSettings } from "../protocol/workspaces.ts";

const DEFAULTS: Readonly<Record<string, unknown>> = WorkspaceSettings.parse({});

/** A word for each, such as `grant_open=forbid`. */
export function changedSettings(settings: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(settings)
    .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(DEFAULTS[name]))
    .map(([name, value]) => `${name}=${Array.isArray(value) ? value.join(",") : String(value)}`);
}
