/** What people are called: with a message Slack tells only an id. Rule CHN-84 in docs/spec/channels.md. */

/** Answers nothing if nobody may know it; rejects if it could be asked again. */
export type AskName = (userId: string) => Promise<string | undefined>;

const KEPT_MAX = 500;

export class PeopleNames {
  readonly #ask: AskName;
  readonly #names = new Map<string, Promise<string | undefined>>();

  constructor(ask: AskName) {
    this.#ask = ask;
  }

  /** Asked once for each person. All wait for that one answer, so what a person said stays in its order. */
  async of(userId: string, otherwise: string): Promise<string> {
    const known = this.#names.get(userId) ?? this.#first(userId);
    return (await known) ?? otherwise;
  }

  #first(userId: string): Promise<string | undefined> {
    const asked = this.#ask(userId).catch(() => {
      this.#names.delete(userId);
      return undefined;
    });
    this.#names.set(userId, asked);
    const [oldest] = this.#names.keys();
    if (this.#names.size > KEPT_MAX && oldest !== undefined) this.#names.delete(oldest);
    return asked;
  }
}
