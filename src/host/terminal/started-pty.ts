/**
 * Starts a launched program on a terminal of its own. One that runs in a guard is not the process that was started: its
 * number comes as the first line, before its first byte, or why there is no guard. Rules GRD-17, GRD-19.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Launched } from "./launcher.ts";
import { Pty, type PtyExit, type PtyListener, type PtyOptions } from "./pty.ts";
import type { Tracking } from "./stop-order.ts";

export type StartedPty = {
  readonly pty: Pty;
  /** Of the program itself. */
  readonly pid: number;
  readonly tracking: () => Tracking;
  readonly left: readonly string[];
  /** Called once, after the listener's `exit`, at once if it has ended. */
  readonly whenEnded: (listener: (exit: PtyExit) => void) => void;
};

export async function startOnPty(
  launched: Launched,
  place: Pick<PtyOptions, "cwd" | "size">,
  listener: PtyListener,
): Promise<StartedPty> {
  const { file, args, env, tracking, left = [] } = launched;
  const end = new End();
  const first = launched.tellsPid === true ? new FirstLine() : undefined;
  const pty = new Pty(
    // A guard has its own idea of what is where: the program enters its directory there.
    { file, args, env, size: place.size, cwd: first === undefined ? place.cwd : "/" },
    {
      data: (bytes) => {
        const rest = first === undefined ? bytes : first.take(bytes);
        if (rest.length > 0) listener.data(rest);
      },
      exit: (exit) => {
        if (first?.hasCome === false) return first.fail("it ended before it said who runs");
        listener.exit(exit);
        end.come(exit);
      },
    },
  );
  const pid = first === undefined ? pty.pid : await first.pid;
  return { pty, pid, tracking, left, whenEnded: (ended) => end.tell(ended) };
}

class End {
  #exit: PtyExit | undefined;
  #listener: ((exit: PtyExit) => void) | undefined;

  come(exit: PtyExit): void {
    this.#exit = exit;
    this.#listener?.(exit);
  }

  tell(listener: (exit: PtyExit) => void): void {
    this.#listener = listener;
    if (this.#exit !== undefined) listener(this.#exit);
  }
}

const NEWLINE = 10;
const NOTHING = Buffer.alloc(0);

class FirstLine {
  readonly #pid = Promise.withResolvers<number>();
  #before = Buffer.alloc(0);
  /** And said who runs: else nobody hears of what never was. */
  hasCome = false;

  get pid(): Promise<number> {
    return this.#pid.promise;
  }

  /** What comes after the line. */
  take(bytes: Buffer): Buffer {
    if (this.hasCome) return bytes;
    this.#before = Buffer.concat([this.#before, bytes]);
    const end = this.#before.indexOf(NEWLINE);
    if (end < 0) return NOTHING;
    const line = this.#before.subarray(0, end).toString("utf8").trim();
    if (!/^\d+$/.test(line)) {
      this.fail(line.replace(/^!/, ""));
      return NOTHING;
    }
    this.hasCome = true;
    this.#pid.resolve(Number(line));
    return this.#before.subarray(end + 1);
  }

  fail(why: string): void {
    this.#pid.reject(new AppError("kind_unavailable", { detail: `The guard could not be built: ${why}` }));
  }
}
