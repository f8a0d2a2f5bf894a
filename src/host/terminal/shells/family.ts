/** The shells that we know how to integrate. */
import { basename } from "node:path";

export type ShellFamily = "bash" | "zsh" | "fish" | "dash" | "other";

/** By name alone: `sh` is whatever the system made it, so it gets what every POSIX shell understands. */
export function familyOf(shell: string): ShellFamily {
  const name = basename(shell)
    .replace(/^-/, "")
    .replace(/[-.\d]+$/, "");
  switch (name) {
    case "bash":
    case "zsh":
    case "fish":
      return name;
    case "sh":
    case "dash":
    case "ash":
      return "dash";
    default:
      return "other";
  }
}
