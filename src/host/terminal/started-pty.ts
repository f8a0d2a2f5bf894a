/**
 * Starts a launched program on a terminal of its own. One that has a keeper is not the process that was started: its
 * number comes as the first line, before its first byte, or why there is none. Rules GRD-17, GRD-19, STP-21.
 */
import { AppError } from "../../protocol/errors.ts";
import type { Launched } from "./launcher.ts";
import { Pty, type PtyExit, type PtyListener, type PtyOptions } from "./pty.ts";
import type { Tracking } from "./stop-order.ts";

export type StartedPty = {
  readonly pty: Pty;
  /** Of the program itself. */
  readonly pid: number;
  /** Ours, which were started with it and stay. */
  readonly keepers: readonly number[];
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
  const { file, args, env, tracking, left = [], keeper } = launched;
  const end = new End();
  const first = keeper && new FirstLine(keeper.failed);
  const output = new HeldOutput(listener);
  const pty = new Pty(
    { file, args, env, size: place.size, cwd: keeper?.cwd ?? place.cwd },
    {
      data: (bytes) => output.push(first === undefined ? bytes : first.take(bytes)),
      exit: (exit) => {
        if (first?.hasCome === false) return first.fail("it ended before it said who runs");
        output.release();
        listener.exit(exit);
        end.come(exit);
      },
    },
  );
  const [pid, ...others] = first === undefined ? [pty.pid] : await first.pids;
  setImmediate(() => output.release());
  const keepers = first === undefined ? [] : [pty.pid, ...others];
  return { pty, pid, keepers, tracking, left, whenEnded: (ended) => end.tell(ended) };
}

/** Who listens knows of the program only when its start is answered; its first bytes may come with the line before them. */
class HeldOutput {
  readonly #listener: PtyListener;
  #held: Buffer[] | undefined = [];

  constructor(listener: PtyListener) {
    this.#listener = listener;
  }

  push(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (this.#held === undefined) this.#listener.data(bytes);
    else this.#held.push(bytes);
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const bytes of held) this.#listener.data(bytes);
  }
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
  readonly #pids = Promise.withResolvers<readonly [number, ...number[]]>();
  readonly #failed: string;
  #before = Buffer.alloc(0);
  /** And said who runs: else nobody hears of what never was. */
  hasCome = false;

  constructor(failed: string) {
    this.#failed = failed;
  }

  /** The program's, then those of ours that stay beside it. */
  get pids(): Promise<readonly [number, ...number[]]> {
    return this.#pids.promise;
  }

  /** What comes after the line. */
  take(bytes: Buffer): Buffer {
    if (this.hasCome) return bytes;
    this.#before = Buffer.concat([this.#before, bytes]);
    const end = this.#before.indexOf(NEWLINE);
    if (end < 0) return NOTHING;
    const line = this.#before.subarray(0, end).toString("utf8").trim();
    if (!/^\d+( \d+)*$/.test(line)) {
      this.fail(line.replace(/^!/, ""));
      return NOTHING;
    }
    this.hasCome = true;
    const [pid = 0, ...others] = line.split(" ").map(Number);
    this.#pids.resolve([pid, ...others]);
    return this.#before.subarray(end + 1);
  }

  fail(why: string): void {
    this.#pids.reject(new AppError("kind_unavailable", { detail: `${this.#failed}: ${why}` }));
  }
}
