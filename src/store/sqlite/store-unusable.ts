/** The store can't be opened as it is. `message` is one sentence for a person; `remedy` says what to do about it. */
export class StoreUnusable extends Error {
  override readonly name = "StoreUnusable";
  readonly remedy: string;

  constructor(sentence: string, remedy: string, options?: ErrorOptions) {
    super(sentence, options);
    this.remedy = remedy;
  }
}

export function cantOpen(file: string, reason: string, cause: unknown): StoreUnusable {
  return new StoreUnusable(
    `${file} can't be opened (${reason}).`,
    "Check that the directory belongs to you, is writable and has room, or start with another data directory.",
    { cause },
  );
}

export function damaged(file: string, reason: string, cause?: unknown): StoreUnusable {
  return new StoreUnusable(
    `${file} is damaged (${reason}).`,
    "Nothing was removed. Restore the data directory from a backup, or move events.db and events.db-wal aside together to start empty.",
    { cause },
  );
}
