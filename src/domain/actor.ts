/**
 * Who acts. An actor is named by its credential alone, never by anything a request says about itself
 * (SEC-1 in docs/spec/security.md).
 */
export type Role = "operator" | "viewer" | "agent" | "host";

export const ROLES = ["operator", "viewer", "agent", "host"] as const satisfies readonly Role[];

export type Actor = {
  readonly kind: "person" | "agent" | "host" | "system";
  readonly id: string;
};

/** The hub acting by itself: expiry, restart, reset. */
export const SYSTEM: Actor = { kind: "system", id: "hub" };

export function actorFor(role: Role, id: string): Actor {
  switch (role) {
    case "operator":
    case "viewer":
      return { kind: "person", id };
    case "agent":
      return { kind: "agent", id };
    case "host":
      return { kind: "host", id };
  }
}
