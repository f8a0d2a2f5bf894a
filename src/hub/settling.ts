/** What sessions are still becoming; commands wait for it, so that create-then-pause is no race. */
export class Settling {
  readonly #becoming = new Map<string, Promise<unknown>>();

  /** Besides whatever it is becoming already. */
  add(sessionId: string, becoming: Promise<unknown>): void {
    const settling = Promise.all([becoming, this.#becoming.get(sessionId)]).finally(() => {
      if (this.#becoming.get(sessionId) === settling) this.#becoming.delete(sessionId);
    });
    this.#becoming.set(sessionId, settling);
  }

  async done(sessionId: string): Promise<void> {
    await this.#becoming.get(sessionId);
  }
}
