/** Runs a script in a guard, as a process of its own: for a test whose machine looks different. Arguments: DIRECTORY HOME SCRIPT. */
import { spawnSync } from "node:child_process";
import { guarded } from "./guard.ts";

const [planIn = "", HOME = "", script = ""] = process.argv.slice(2);
const program = { file: "/bin/bash", args: ["-c", script], env: { HOME, PATH: "/usr/bin:/bin" }, cwd: HOME };
const { file, args, env } = guarded(program, { planIn, ours: [], shown: [], terms: {}, terminal: "none" });
process.exitCode = spawnSync(file, args, { env, stdio: ["ignore", "inherit", "inherit"] }).status ?? 1;
