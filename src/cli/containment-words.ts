/** Where a session's programs run, for people. Rule GRD-3 in docs/spec/guard.md. */
import type { WorkspaceSession } from "../client/sidestick.ts";

type Level = Pick<WorkspaceSession, "containment" | "containmentMissing" | "user">;

/** In a word or two; `no guard` is an open session that should have one. */
export function levelWords({ containment, containmentMissing: missing, user }: Level): string {
  if (containment === "user") return `user ${user ?? "?"}`;
  if (missing === undefined) return containment;
  return containment === "guard" ? "part guard" : "no guard";
}

export function missingWords(missing: NonNullable<Level["containmentMissing"]>): string {
  return missing
    .map(({ layer, reason, remedy }) => `${layer}: ${reason}${remedy === undefined ? "" : ` (${remedy})`}`)
    .join("; ");
}
