/** What a command would meet in a session of its own: no shell has run yet, so there is nothing to ask. Rule RMC-9. */
import { readShellState } from "../../../domain/shell-state/shell-state.ts";
import { hashed, type Surroundings, type Unbound } from "../../bound/binding.ts";
import { familyOf } from "../shells/family.ts";
import type { ShellProcess } from "../shell-process.ts";

export function commandSurroundings(shell: ShellProcess, shellName: string): Surroundings {
  const { env, pid } = shell;
  const path = env["PATH"] ?? "";
  return {
    root: `/proc/${pid}/root`,
    shell: { family: "dash", state: { ...readShellState("dash", ""), path }, path, home: env["HOME"] ?? "/" },
    directory: shell.cwd ?? "/",
    told: {
      environment: hashed(
        Object.entries(env)
          .map(([name, value]) => `${name}\0${value}`)
          .toSorted(),
      ),
    },
    untold: startUpFiles(shellName, env),
  };
}

/** Which a shell reads before a command that it is given. */
function startUpFiles(shellName: string, env: ShellProcess["env"]): readonly Unbound[] {
  const family = familyOf(shellName);
  const reads = family === "zsh" || (family === "bash" && env["BASH_ENV"] !== undefined);
  return reads ? [{ what: "shell_state", reason: "start_up_files" }] : [];
}
