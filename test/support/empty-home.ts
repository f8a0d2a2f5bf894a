/** The environment of somebody who has just got an account on this machine. */
import { mkdir } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";

export async function emptyHome(directory: string): Promise<Readonly<Record<string, string>>> {
  const HOME = join(directory, "home");
  await mkdir(HOME, { recursive: true });
  const { username } = userInfo();
  return {
    HOME,
    USER: username,
    LOGNAME: username,
    SHELL: "/bin/bash",
    LANG: "C.UTF-8",
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
  };
}
