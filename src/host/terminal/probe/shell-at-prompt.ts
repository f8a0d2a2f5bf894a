/**
 * The second factor of the prompt sentinel, which no output can forge: the shell's own group is in the foreground and
 * the shell itself is blocked on its terminal. Quick enough for the main loop: it looks at one process.
 */
import { blockedCallOfMain } from "./blocked.ts";
import { isTerminalFile } from "./terminal-in-use.ts";
import { openFile } from "./proc-file.ts";
import { foregroundGroup, processGroup, slaveFile } from "./tty.ts";

export function shellAtPrompt({ fd, shellPid }: { readonly fd: number; readonly shellPid: number }): boolean {
  const group = foregroundGroup(fd);
  if (group === undefined || group !== processGroup(shellPid)) return false;
  const call = blockedCallOfMain(shellPid);
  if (call === undefined) return false;
  const terminal = slaveFile(fd);
  return terminal !== undefined && call.fds.some((it) => isTerminalFile(openFile(shellPid, it), terminal));
}
