import { mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";

/** At its first start in a home, fish reads every manual page of the machine: twenty seconds of a processor. */
export async function spareFish(home: string): Promise<void> {
  await mkdir(join(home, ".local/share/fish/generated_completions"), { recursive: true });
}

/** The environment of somebody who has just got an account on this machine. */
export async function emptyHome(directory: string): Promise<Readonly<Record<string, string>>> {
  const HOME = join(directory, "home");
  await spareFish(HOME);
  return environmentIn(HOME, userInfo().username);
}

export function environmentIn(HOME: string, username: string): Readonly<Record<string, string>> {
  return {
    HOME,
    USER: username,
    LOGNAME: username,
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  };
}
