/**
 * Programs that read keys all the while and print what comes from elsewhere: whatever line they stop in looks like a question. One
 * whose questions went away by themselves is believed only after silence. Rule PMT-146 in docs/spec/prompts.md.
 */
const TIMES = 2;

export class RestlessReaders {
  /** Of each session the last. */
  readonly #last = new Map<string, { readonly pid: number; readonly times: number }>();

  /** Nobody typed anything, and its question is no more. */
  wentOn(sessionId: string, pid: number): void {
    const before = this.#last.get(sessionId);
    this.#last.set(sessionId, { pid, times: before?.pid === pid ? before.times + 1 : 1 });
  }

  has(sessionId: string, pid: number): boolean {
    const last = this.#last.get(sessionId);
    return last?.pid === pid && last.times >= TIMES;
  }

  forget(sessionId: string): void {
    this.#last.delete(sessionId);
  }
}
